"""What the checks of the claims share."""

from typing import Any

import numpy as np

from ldhd.boolean import BooleanFunction
from ldhd.theory.activations import Floats

ROUNDING = 1e-9
"""What two computations of the same number may differ by; reported as the tolerance."""


def largest(differences: Floats) -> float:
    return float(np.max(np.abs(differences)))


def fourier_table(values: Any) -> dict[str, float]:
    """The nonzero Fourier coefficients of a function on the cube: {"1": 3.0, "x1 x2": 4.0}."""
    coefficients = BooleanFunction(values).fourier
    names = {S: " ".join(f"x{variable}" for variable in S) or "1" for S in coefficients}
    return {names[S]: float(value) for S, value in coefficients.items() if abs(value) > ROUNDING}

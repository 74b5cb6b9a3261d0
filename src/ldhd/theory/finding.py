"""The result of checking one of the paper's claims, and what the checks share."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean import BooleanFunction

ClaimVerdict = Literal["holds", "holds with a correction", "fails as printed"]

ROUNDING = 1e-9
"""How far two computations of the same number may differ; reported as the tolerance."""


@dataclass(frozen=True)
class Finding:
    """A claim in one sentence, its verdict, the corrected statement ("" if none is needed) and the numbers behind it.

    `evidence` holds plain numbers, strings, lists and dicts, so that it can be written as JSON.
    """

    claim: str
    verdict: ClaimVerdict
    correction: str = ""
    evidence: dict[str, Any] = field(default_factory=dict)


def judge(printed: bool, corrected: bool = False, amends: bool = False) -> ClaimVerdict:
    """Return the verdict that follows from the checks of the printed and of the corrected statement.

    A correction `amends` the claim if it fixes a misprint or adds a missing condition and keeps the conclusion;
    otherwise the corrected statement concludes something else. If even the corrected check fails, nothing holds.
    """
    if printed:
        return "holds"
    return "holds with a correction" if corrected and amends else "fails as printed"


def largest(differences: NDArray[np.float64]) -> float:
    """Return the largest absolute value."""
    return float(np.max(np.abs(differences)))


def fourier_table(values: Any) -> dict[str, float]:
    """Return the nonzero Fourier coefficients of a function on the cube: {"1": 3.0, "x1 x2": 4.0}."""
    coefficients = BooleanFunction(values).fourier
    names = {S: " ".join(f"x{variable}" for variable in S) or "1" for S in coefficients}
    return {names[S]: float(value) for S, value in coefficients.items() if abs(value) > ROUNDING}

"""The Walsh-Hadamard transform against boofun's `fourier()` and against a plain numpy butterfly."""

import importlib
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.bench.ratio import Case, compare
from ldhd.boolean import fourier

VARIABLES = 20
BOOFUN_REPEATS = 3


def walsh_hadamard_cases(variables: int = VARIABLES) -> list[Case]:
    """Compare the Fourier coefficients of a random function to {-1, 1}; every opponent must give the same ones."""
    boofun = _load_boofun()
    bits = np.random.default_rng(0).integers(0, 2, 2**variables)
    values = 1.0 - 2.0 * bits
    expected = fourier(values)

    # a function keeps its coefficients once computed, so each call gets a new one, made before the clock starts
    fresh = iter([boofun.create(bits) for _ in range(BOOFUN_REPEATS + 2)])

    def theirs() -> NDArray[Any]:
        return np.asarray(next(fresh).fourier())

    # boofun may call the first variable the last: compare what no order of variables changes
    if not np.allclose(np.sort(np.abs(theirs())), np.sort(np.abs(expected)), atol=1e-9):
        raise ValueError("boofun's coefficients differ from ours")
    if not np.allclose(butterfly(values), expected, atol=1e-9):
        raise ValueError("the plain butterfly's coefficients differ from ours")
    shape = f"2^{variables} values"
    return [
        compare(
            "wht", shape, f"boofun {boofun.__version__} fourier()", lambda: fourier(values), theirs, BOOFUN_REPEATS
        ),
        compare("wht", shape, "plain numpy butterfly", lambda: fourier(values), lambda: butterfly(values), repeats=9),
    ]


def butterfly(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Fourier coefficients, with one pass over all values for each variable."""
    result = values.copy()
    half = 1
    while half < len(result):
        pairs = result.reshape(-1, 2, half)
        result = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return result / len(result)


def _load_boofun() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns that numba is absent
            return importlib.import_module("boofun")
    except ImportError:
        raise ValueError("boofun is not installed; in the folder of ldhd: pip install -e '.[bench]'") from None

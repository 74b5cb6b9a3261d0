"""What counts as zero: less than the rounding error of a computation next to the largest number in it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

RELATIVE_ZERO = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}


def significant(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which entries are not zero; exactly for fractions, up to rounding relative to the largest entry for floats."""
    if values.dtype == object or not values.size:
        return values != 0
    magnitudes = np.abs(values)
    return magnitudes > RELATIVE_ZERO[values.dtype] * magnitudes.max()

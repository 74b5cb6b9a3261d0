"""The degrees of functions on the cube, and whether they are linearly independent."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.basis import Key
from ldhd.boolean.function import degrees_of
from ldhd.boolean.memory import check_memory
from ldhd.boolean.transform import fourier

# An element closer to the span of those before it than this, at length one, counts as lying in it.
DEPENDENT_DISTANCE = 1e-10

# An element this much shorter than the longest is what rounding left of a product that cancels.
VANISHING_LENGTH = 1e-13


def independent_degrees(rows: NDArray[np.float64], keys: Sequence[Key]) -> dict[Key, int]:
    """Return the degree of each function; the rows, shape (functions, 2^N), hold their values on the cube.

    A ValueError names the first row that is zero or a combination of the rows before it. With rows of length one, the
    diagonal of R in the QR decomposition of their transpose holds each row's distance from the span of those before it.
    """
    count, length = rows.shape
    if count > length:
        raise ValueError(f"{count} elements are linearly dependent: functions on the cube span {length} dimensions")
    check_memory(3 * rows.size, f"checking the independence of {count} functions with {length} values each")
    lengths = np.linalg.norm(rows, axis=1)
    vanishing = lengths <= VANISHING_LENGTH * lengths.max(initial=0)
    if np.any(vanishing):
        key = keys[int(np.flatnonzero(vanishing)[0])]
        raise ValueError(f"the basis is linearly dependent: element {key!r} is zero on the whole cube")
    distances = np.abs(np.diagonal(np.linalg.qr((rows / lengths[:, None]).T, mode="r")))
    if np.any(distances < DEPENDENT_DISTANCE):
        key = keys[int(np.flatnonzero(distances < DEPENDENT_DISTANCE)[0])]
        raise ValueError(f"the basis is linearly dependent: element {key!r} is a combination of those before it")
    return dict(zip(keys, degrees_of(np.array([fourier(row) for row in rows])).tolist(), strict=True))

"""The fast Walsh-Hadamard transform, in place.

With values indexed as in `cube`, the transform of v is w[S] = sum over x of v[x] (-1)^{|S & x|}: each variable sends
the pair (v at x_k = 1, v at x_k = -1) to its sum and its difference. It is its own inverse up to the factor 2^N.

    >>> w = np.array([7.0, -1.0, 1.0, -7.0])  # 4 x_1 + 3 x_2
    >>> fourier(w)                            # constant, x_1, x_2, x_1 x_2
    array([0., 4., 3., 0.])
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.rational import to_fractions

# Four variables at a time, one product with the 16 x 16 Hadamard matrix: a fourth of the passes over memory that
# butterflies make, and still few multiplications. Measured fastest among 8, 16, 32 and 64.
VARIABLES_A_PASS = 4

# Entries of the scratch block: small enough for the cache, large enough that numpy's overhead per block vanishes.
BLOCK_ENTRIES = 2**15


def fourier(values: Any) -> NDArray[Any]:
    """f^(S) = 2^-N sum over x of f(x) chi_S(x), where bit k of the index of S says whether S contains k + 1.

    float32 stays float32, rational entries (dtype object) stay rational, all else becomes float64.
    """
    coefficients = copy_values(values)
    walsh_hadamard(coefficients)
    coefficients /= len(coefficients)
    return coefficients


def inverse_fourier(coefficients: Any) -> NDArray[Any]:
    """The values f(x) = sum over S of f^(S) chi_S(x) on the whole cube."""
    values = copy_values(coefficients)
    walsh_hadamard(values)
    return values


def walsh_hadamard(array: NDArray[Any]) -> None:
    """Transform an array of 2^N entries in place, without the factor 2^-N; the scratch memory does not grow with N."""
    variables = check_power_of_two(array)
    if not array.flags.c_contiguous:
        raise ValueError("the transform works in place on a contiguous array; copy this one first")
    if array.dtype == object:
        return _butterflies(array, variables)
    if array.dtype not in (np.float32, np.float64):
        raise ValueError(f"the transform works in place on float32, float64 or object, got {array.dtype}")
    for first in range(0, variables, VARIABLES_A_PASS):
        _transform_variables(array, first, min(VARIABLES_A_PASS, variables - first))


def check_power_of_two(array: NDArray[Any]) -> int:
    """N of an array with 2^N entries; ValueError for any other array."""
    if array.ndim != 1 or array.size == 0 or array.size & (array.size - 1):
        raise ValueError(f"a function on the cube has 2^N values in one row, got shape {array.shape}")
    return array.size.bit_length() - 1


def copy_values(values: Any) -> NDArray[Any]:
    """Copy the values of a function on the cube: float32 and fractions as they are, all else as float64."""
    array = np.asarray(values)
    check_power_of_two(array)
    if array.dtype == object:
        return to_fractions(array)
    return np.array(array, np.float32 if array.dtype == np.float32 else np.float64)


def _transform_variables(array: NDArray[Any], first: int, count: int) -> None:
    """Transform the variables of bits first .. first + count - 1, block by block through one scratch buffer."""
    rows, inner = 2**count, 2**first
    matrix = _hadamard(count, array.dtype)
    if first == 0:
        # The variables lie along the rows of one tall matrix; H is symmetric.
        tall = array.reshape(-1, rows)
        for start in range(0, len(tall), BLOCK_ENTRIES // rows):
            block = tall[start : start + BLOCK_ENTRIES // rows]
            block[...] = block @ matrix
        return
    view = array.reshape(-1, rows, inner)
    width = min(inner, BLOCK_ENTRIES // rows)
    depth = BLOCK_ENTRIES // (rows * width)
    for start in range(0, len(view), depth):
        for left in range(0, inner, width):
            block = view[start : start + depth, :, left : left + width]
            block[...] = matrix @ block


def _butterflies(array: NDArray[Any], variables: int) -> None:
    """One variable at a time, for entries that BLAS does not know."""
    for k in range(variables):
        pairs = array.reshape(-1, 2, 2**k)
        above, below = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        pairs[:, 0], pairs[:, 1] = above, below


def _hadamard(variables: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """[S, x] = (-1)^{|S & x|}."""
    matrix = np.ones((1, 1), dtype)
    for _ in range(variables):
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix

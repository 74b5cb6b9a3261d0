"""The linearly independent sets of position-only linear attention with advice (Theorems 3 and 4).

PLAA computes x^T A e_{n(x)} with A upper triangular and n(x) the scale of x, the largest k with x_k = -1 (e_0 = 0).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.basis import ListedBasis
from ldhd.boolean.cube import Points, check_dimension, scale
from ldhd.boolean.function import RELATIVE_ZERO
from ldhd.boolean.rational import to_fractions

# How far <U, U> may be from 1.
NORM_TOLERANCE = 1e-9


def rpe_matrices(dimension: int) -> NDArray[np.float64]:
    """Return D_k / sqrt(N + 1 - k) for k = 1 .. N, where D_k has ones at j = i + k - 1: GRPE with these is RPE.

    <U_k, U_k> = 1 requires the square root; the paper's text divides by N + 1 - k. The result has shape (N, N, N).
    """
    check_dimension(dimension)
    return np.array([np.eye(dimension, k=k) / np.sqrt(dimension - k) for k in range(dimension)])


class PlaaBasis(ListedBasis):
    """b_ij(x) = x_i [n(x) = j] for 1 <= i <= j <= N, named (i, j), so that x^T A e_{n(x)} = sum of A_ij b_ij(x).

    b_jj has degree N - j + 1, b_ij with i < j has degree N - j + 2. The paper prints b_ii with a minus sign, as
    - (1 - x_i)/2 times a product, which is the same function, since x_i = -1 where n(x) = i.
    """

    def __init__(self, dimension: int) -> None:
        check_dimension(dimension)
        pairs = [(i, j) for j in range(1, dimension + 1) for i in range(1, j + 1)]
        super().__init__(dimension, {(i, j): dimension - j + 1 + (i < j) for i, j in pairs})

    def evaluate(self, points: Points, keys: Sequence[tuple[int, int]], exact: bool = False) -> NDArray[Any]:
        rows, columns = np.array(keys, int).reshape(-1, 2).T
        matrix = points[:, rows - 1] * (scale(points)[:, None] == columns)
        return to_fractions(matrix) if exact else matrix.astype(np.float64)


class GrpeBasis(ListedBasis):
    """b_k(x) = x^T U_k e_{n(x)} for the matrices U_1 .. U_r, shape (r, N, N), named k = 1 .. r.

    A ValueError is raised unless each U_k is upper triangular with <U_k, U_k> = 1 and their supports are disjoint.
    """

    def __init__(self, U: Any) -> None:
        self.U = np.array(U)
        _check_matrices(self.U)
        degrees = {k: _degree(matrix.astype(np.float64)) for k, matrix in enumerate(self.U, start=1)}
        super().__init__(self.U.shape[1], degrees)

    def evaluate(self, points: Points, keys: Sequence[int], exact: bool = False) -> NDArray[Any]:
        U = to_fractions(self.U) if exact else self.U.astype(np.float64)
        U = U[np.array(keys, int) - 1]
        scales = scale(points)
        matrix = np.zeros((len(points), len(keys)), U.dtype)
        for n in np.unique(scales[scales > 0]):
            rows = scales == n
            matrix[rows] = points[rows].astype(U.dtype) @ U[:, :, n - 1].T
        return to_fractions(matrix) if exact else matrix


def _degree(U: NDArray[np.float64]) -> int:
    """Return the degree of x^T U e_{n(x)} on the cube, from its Fourier coefficients in closed form, for any N.

    [n(x) = j] = 2^-(N-j+1) (1 - x_j) product over k > j of (1 + x_k) contains x_T for every T within {j, .., N},
    negated if j is in T. Entry U_ij gives the sets {i} + T, entry U_jj the sets T, negated once more. The coefficient
    of S thus depends only on its two least members m < l, and the largest such S is {m, l, l+1, .., N}.
    """
    dimension = len(U)
    weights = U / 2.0 ** np.arange(dimension, 0, -1)
    # Column l collects row m up to l, l itself negated; one column more for S = {m}, which has no l.
    row = np.pad(np.triu(weights, 1), ((0, 0), (0, 1)))
    diagonal = np.diagonal(weights)[:, None]
    coefficients = _sum_before(row, axis=1) - row + diagonal - _sum_before(diagonal, axis=0)
    # Terms range over many powers of two: each sum is compared with its own.
    row, diagonal = np.abs(row), np.abs(diagonal)
    magnitudes = _sum_before(row, axis=1) + row + diagonal + _sum_before(diagonal, axis=0)
    nonzero = np.triu(np.abs(coefficients) > RELATIVE_ZERO[U.dtype] * magnitudes, 1)
    return max((dimension + 1 - int(second) for second in np.flatnonzero(nonzero.any(axis=0))), default=0)


def _sum_before(array: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return the sum of all earlier entries along an axis."""
    earlier = np.delete(array, -1, axis)
    return np.cumsum(np.insert(earlier, 0, 0, axis), axis)


def _check_matrices(U: NDArray[Any]) -> None:
    if U.ndim != 3 or U.shape[1] != U.shape[2]:
        raise ValueError(f"U holds matrices U_1 .. U_r, shape (r, N, N), got shape {U.shape}")
    floats = U.astype(np.float64)
    if not np.all(np.isfinite(floats)):
        raise ValueError(f"entries of U are finite numbers, got {floats[~np.isfinite(floats)][0]}")
    for k, matrix in enumerate(floats, start=1):
        below = np.argwhere(np.tril(matrix, -1))
        if len(below):
            i, j = below[0]
            raise ValueError(f"U_{k} must be upper triangular, but its entry ({i + 1}, {j + 1}) is {matrix[i, j]:.6g}")
        if abs(np.sum(matrix**2) - 1) > NORM_TOLERANCE:
            raise ValueError(f"<U_{k}, U_{k}> must be 1, got {np.sum(matrix**2):.6g}; divide U_{k} by its norm")
    shared = np.argwhere(np.count_nonzero(floats, axis=0) > 1)
    if len(shared):
        i, j = shared[0]
        users = " and ".join(f"U_{k}" for k, matrix in enumerate(floats, start=1) if matrix[i, j])
        raise ValueError(f"supports must be disjoint, but entry ({i + 1}, {j + 1}) is used by {users}")

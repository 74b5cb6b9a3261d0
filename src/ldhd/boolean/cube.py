"""The cube {-1, 1}^N and its subcubes X_n = {-1, 1}^n x {1}^{N-n}.

A function on the cube is stored as the array of its 2^N values. The value at x has the index whose bit k is
(1 - x_{k+1}) / 2, so -1 is a set bit and the first variable is the lowest one. For N = 2:

    index   0        1        2        3
    x     (1, 1)  (-1, 1)  (1, -1)  (-1, -1)

Hence X_n is the first 2^n indices, whatever N is.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.memory import check_memory

Points = NDArray[np.int8]

# Indices are 64-bit integers; an array over the whole cube would be refused long before.
LARGEST_INDEXED_DIMENSION = 62


def cube_points(dimension: int) -> Points:
    """All points of {-1, 1}^N in the order of their indices: shape (2^N, N)."""
    return subcube_points(dimension, dimension)


def subcube_points(dimension: int, scale: int) -> Points:
    """All points of X_n = {-1, 1}^n x {1}^{N-n} in the order of their indices: shape (2^n, N)."""
    check_dimension(dimension)
    if not 0 <= scale <= dimension:
        raise ValueError(f"X_n exists for n = 0 .. N = {dimension}, got n = {scale}")
    check_memory(dimension * 2**scale, f"the {dimension} coordinates of 2^{scale} points", bytes_each=1)
    return points_at(np.arange(2**scale), dimension)


def points_at(indices: NDArray[np.int64], dimension: int) -> Points:
    """The points of {-1, 1}^N with these indices: shape (m, N)."""
    points = np.ones((len(indices), dimension), np.int8)
    for k in range(dimension):
        points[:, k] -= 2 * ((indices >> k) & 1).astype(np.int8)
    return points


def point_indices(points: Points) -> NDArray[np.int64]:
    """The index of each row: sum over k of 2^k (1 - x_{k+1}) / 2."""
    if points.shape[1] > LARGEST_INDEXED_DIMENSION:
        raise ValueError(f"indices are for N <= {LARGEST_INDEXED_DIMENSION}, got N = {points.shape[1]}")
    indices = np.zeros(len(points), np.int64)
    for k in range(points.shape[1]):
        indices |= (points[:, k] < 0).astype(np.int64) << k
    return indices


def scale(points: Any) -> NDArray[np.int64]:
    """n(x) of each row: the least n with x in X_n, the largest k with x_k = -1, 0 for a row of ones."""
    points = check_points(points)
    return np.max((points < 0) * np.arange(1, points.shape[1] + 1), axis=1, initial=0)


def check_dimension(dimension: int) -> None:
    if isinstance(dimension, bool) or not isinstance(dimension, int | np.integer) or dimension < 0:
        raise ValueError(f"the dimension N is a whole number from 0 up, got {dimension!r}")


def check_points(points: Any, dimension: int | None = None) -> Points:
    """The points as an (m, N) array of -1 and 1; ValueError quoting the first thing that is not such a point."""
    array = np.asarray(points)
    if array.ndim != 2:
        raise ValueError(f"points are an array of shape (m, N), one row a point, got shape {array.shape}")
    if dimension is not None and array.shape[1] != dimension:
        raise ValueError(f"points have {array.shape[1]} coordinates, the cube has N = {dimension}")
    valid = (array == 1) | (array == -1)
    if not np.all(valid):
        row, column = np.argwhere(~valid)[0]
        raise ValueError(f"coordinates are -1 or 1, got {array[row, column]} as x_{column + 1} of point {row}")
    return array.astype(np.int8, copy=False)

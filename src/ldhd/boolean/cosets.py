"""Shortcuts for the Fourier basis where the points form a subcube or an affine subspace over F_2.

Write x as bits. On an affine subspace x = x_0 + t_1 w_1 + ... + t_d w_d (mod 2) the character of T is

    chi_T(x) = (-1)^{T.x_0} (-1)^{sum of t_k (T.w_k)},

so all T with the same syndrome s_k = T.w_k agree up to a sign, and the values determine one number a coset of
characters: the Fourier coefficient in t at s. The min-degree interpolator gives it to the members of least degree,
in equal shares (the shortest solution), each with its sign. On a subcube, in particular on X_n, the member of least
degree is unique: the S within the free variables, whatever N is.
"""

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.cube import LARGEST_INDEXED_DIMENSION, Points, point_indices
from ldhd.boolean.memory import check_memory
from ldhd.boolean.subset import FourierCoefficients, Subset
from ldhd.boolean.transform import fourier


def solve_subcube(points: Points, values: NDArray[Any]) -> FourierCoefficients | None:
    """The Fourier min-degree interpolator of distinct points that are a whole subcube; None if they are not."""
    free = np.flatnonzero(np.any(points != points[0], axis=0))
    if len(points) != 2 ** len(free):
        return None
    ordered = np.empty_like(values)
    ordered[point_indices(points[:, free])] = values
    return FourierCoefficients(fourier(ordered), tuple((free + 1).tolist()), points.shape[1])


def solve_affine(points: Points, values: NDArray[Any]) -> dict[Subset, Any] | None:
    """The Fourier min-degree interpolator of distinct points that are a whole affine subspace; None if they are not."""
    dimension = points.shape[1]
    if dimension > LARGEST_INDEXED_DIMENSION or len(points) & (len(points) - 1):
        return None
    indices = point_indices(points)
    origin = int(indices[0])
    directions = _independent([int(index) ^ origin for index in indices])
    if 2 ** len(directions) != len(points):
        return None
    coordinates = _xor_table([1 << k for k in range(len(directions))], directions)
    ordered = np.empty_like(values)
    for index, value in zip(indices.tolist(), values, strict=True):
        ordered[coordinates[index ^ origin]] = value
    return _share(fourier(ordered), dimension, origin, directions)


def _share(coefficients: NDArray[Any], dimension: int, origin: int, directions: list[int]) -> dict[Subset, Any]:
    """Give the coefficient of each coset to its members of least degree, in equal shares."""
    # The syndrome of one variable, with the sign as one bit more; that of a subset is the sum modulo 2.
    checks = [*directions, origin]
    syndrome = np.array([sum((check >> v & 1) << k for k, check in enumerate(checks)) for v in range(dimension)])
    counts = np.zeros(len(coefficients), np.int64)
    result: dict[Subset, Any] = {}
    for degree in range(dimension + 1):
        what = f"the {degree}-subsets of {dimension} variables"
        check_memory(comb(dimension, degree), what, bytes_each=200 + 16 * degree)
        subsets = list(combinations(range(1, dimension + 1), degree))
        columns = np.array(subsets, int).reshape(len(subsets), degree) - 1
        both = np.bitwise_xor.reduce(syndrome[columns], axis=1)
        cosets, signs = both % len(coefficients), 1 - 2 * (both // len(coefficients))
        leaders = np.flatnonzero(counts[cosets] == 0)
        shares = np.bincount(cosets[leaders], minlength=len(counts))
        for leader in leaders.tolist():
            coset = cosets[leader]
            result[subsets[leader]] = int(signs[leader]) * coefficients.item(coset) / int(shares[coset])
        counts += shares
        if np.all(counts):
            break
    return result


def _independent(vectors: list[int]) -> list[int]:
    """A basis over F_2 of the span of these bit vectors, chosen among them."""
    echelon: dict[int, int] = {}  # highest set bit -> a vector that has it
    chosen = []
    for vector in vectors:
        rest = vector
        while rest and rest.bit_length() in echelon:
            rest ^= echelon[rest.bit_length()]
        if rest:
            echelon[rest.bit_length()] = rest
            chosen.append(vector)
    return chosen


def _xor_table(labels: list[int], vectors: list[int]) -> dict[int, int]:
    """Every sum modulo 2 of the vectors -> the same sum of their labels."""
    table = {0: 0}
    for label, vector in zip(labels, vectors, strict=True):
        table |= {total ^ vector: name ^ label for total, name in table.items()}
    return table

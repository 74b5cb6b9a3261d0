"""The Fourier min-degree interpolator where membership in the training set depends on a few variables only.

Let K be these variables, A the set of their allowed values, and h_T(a) the coefficient of chi_T in the remaining
variables at a in A. Characters of different T never meet on A x {-1, 1}^rest, so that each h_T has an interpolator of
its own on A, and the profile of the whole is a sum over T: the smallest has the smallest for each T. This is one small
problem for each T with h_T != 0, instead of one with 2^N unknowns.
"""

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean import BooleanFunction, FourierBasis, min_degree_interpolator
from ldhd.boolean.cube import points_at
from ldhd.boolean.function import significant
from ldhd.boolean.transform import fourier

Floats = NDArray[np.float64]

LARGEST_PROBLEM = 2**22
"""Training points times characters up to which the small problems are solved: seconds."""


def fourier_interpolator(dimension: int, rows: NDArray[np.int64], labels: Floats) -> Floats:
    """Return the 2^N Fourier coefficients of the min-degree interpolator; ValueError if the problem is too large."""
    deciding, rest = _split(dimension, rows)
    allowed = np.unique(_gather(rows, deciding))
    if len(allowed) * 2 ** len(deciding) > LARGEST_PROBLEM:
        raise ValueError(
            f"the Fourier interpolator is too large: {len(allowed)} training values of {len(deciding)} variables that "
            f"decide what is trained on, at most {LARGEST_PROBLEM // 2 ** len(deciding)} are solved"
        )
    table = np.zeros((len(allowed), 2 ** len(rest)))
    table[np.searchsorted(allowed, _gather(rows, deciding)), _gather(rows, rest)] = labels
    by_rest = np.array([fourier(row) for row in table])
    coefficients = np.zeros(2**dimension)
    places = _scatter(np.arange(2 ** len(deciding)), deciding)
    points, basis = points_at(allowed, len(deciding)), FourierBasis(len(deciding))
    kept = significant(np.append(np.max(np.abs(by_rest), axis=0), np.max(np.abs(labels))))[:-1]
    for T in np.flatnonzero(kept):
        found = min_degree_interpolator(points, by_rest[:, T], basis)
        index = places + _scatter(np.array([T]), rest)
        coefficients[index] = fourier(found(points_at(np.arange(2 ** len(deciding)), len(deciding))))
    return coefficients


def _split(dimension: int, rows: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Return the variables, counted from 0, that decide whether a point is trained on, and the others."""
    member = np.zeros(2**dimension)
    member[rows] = 1.0
    deciding = [variable - 1 for variable in BooleanFunction(member).influential]
    return deciding, [variable for variable in range(dimension) if variable not in deciding]


def _gather(indices: NDArray[np.int64], variables: list[int]) -> NDArray[np.int64]:
    """Return the index within some variables of each point."""
    found = np.zeros_like(indices)
    for place, variable in enumerate(variables):
        found |= (indices >> variable & 1) << place
    return found


def _scatter(indices: NDArray[np.int64], variables: list[int]) -> NDArray[np.int64]:
    """Return the inverse of `_gather`, other bits being 0."""
    found = np.zeros_like(indices)
    for place, variable in enumerate(variables):
        found |= (indices >> place & 1) << variable
    return found

"""Lexicographic least squares: minimise |a_D|^2, then |a_{D-1}|^2, ..., then |a_0|^2 subject to M a = y.

M_d holds the values at the points of the elements of degree d. Lower degrees come later and can absorb whatever they
reach, so degree d must only explain what they cannot: let the rows of T_d combine points such that T_d M_e = 0 for all
e < d and B_d = T_d M_d has independent rows. Then, from the top degree down,

    a_d = shortest solution of B_d a_d = T_d r,    r <- r - M_d a_d,    r = y at first.

Each layer is strictly convex, so the answer is unique. The T_d are found from degree 0 up, by orthogonal projections
(floats) or Gaussian elimination (fractions), and once they combine all points no higher degree is looked at.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.basis import Basis, Key
from ldhd.boolean.cube import Points
from ldhd.boolean.memory import check_memory
from ldhd.boolean.rational import Rational, identity, pivots, right_inverse, to_fractions

# A singular value this small next to |M| is zero. Next to |M| and not to the block at hand, which may be zero itself.
RANK_TOLERANCE = 1e-10

# How far from the span values may lie, relative to their length.
SPAN_TOLERANCE = 1e-9


Layer = tuple[Sequence[Key], NDArray[Any], NDArray[Any], NDArray[Any]]
"""The elements of one degree d, M_d, T_d, and the matrix that gives the shortest solutions of B_d a = c."""


def solve_layers(points: Points, values: NDArray[Any], basis: Basis, exact: bool) -> dict[Key, Any]:
    """The coefficients of the min-degree interpolator; ValueError if none exists in the span of the basis."""
    layers = (_exact_layers if exact else _float_layers)(points, values, basis)
    coefficients: dict[Key, Any] = {}
    residual = values
    for keys, block, tests, inverse in reversed(layers):
        solution = inverse @ (tests @ residual)
        # An empty sum of fractions is the integer 0.
        solution = to_fractions(solution) if exact else solution
        residual = residual - block @ solution
        coefficients.update(zip(keys, solution.tolist(), strict=True))
    return coefficients


def _float_layers(points: Points, values: NDArray[np.float64], basis: Basis) -> list[Layer]:
    layers: list[Layer] = []
    reached = np.zeros((len(points), 0))  # an orthonormal basis of the range of all M_e with e < d
    squared_norm = 0.0
    for keys, block in _blocks(points, basis, exact=False):
        squared_norm += float(np.sum(block**2))
        left, singular, right = np.linalg.svd(_outside(reached, _outside(reached, block)), full_matrices=False)
        rank = int(np.sum(singular > RANK_TOLERANCE * squared_norm**0.5))
        # A small singular value magnifies what is left of `reached`; once more, and it is gone.
        new = _outside(reached, left[:, :rank])
        layers.append((keys, block, new.T, right[:rank].T / singular[:rank]))
        reached = np.concatenate([reached, new], axis=1)
        if reached.shape[1] == len(points):
            return layers
    missed = float(np.linalg.norm(_outside(reached, values)))
    if missed > SPAN_TOLERANCE * float(np.linalg.norm(values)):
        raise ValueError(
            f"no interpolator exists in the span of the basis: its best approximation misses the values by {missed:.3g}"
        )
    return layers


def _exact_layers(points: Points, values: Rational, basis: Basis) -> list[Layer]:
    layers: list[Layer] = []
    free = identity(len(points))  # combinations of points on which all M_e with e < d vanish
    for keys, block in _blocks(points, basis, exact=True):
        rows, tests, free = pivots(free @ block, free)
        layers.append((keys, block, tests, right_inverse(rows)))
        if not len(free):
            return layers
    if np.any(free @ values):
        raise ValueError("no interpolator exists in the span of the basis: no combination of it takes these values")
    return layers


def _blocks(points: Points, basis: Basis, exact: bool) -> Iterator[tuple[Sequence[Key], NDArray[Any]]]:
    """The elements of each degree and their values at the points, low degrees first."""
    entries = 0
    for degree in range(basis.largest_degree + 1):
        if basis.layer_size(degree):
            entries += len(points) * basis.layer_size(degree)
            # The block, its decomposition and, for fractions, about a hundred bytes an entry.
            what = f"the values of all elements up to degree {degree} at {len(points)} points"
            check_memory(3 * entries, what, bytes_each=100 if exact else 8)
            keys = basis.layer(degree)
            yield keys, basis.evaluate(points, keys, exact)


def _outside(orthonormal: NDArray[Any], block: NDArray[Any]) -> NDArray[Any]:
    """The part of each column that is orthogonal to the given orthonormal columns."""
    return block - orthonormal @ (orthonormal.T @ block)

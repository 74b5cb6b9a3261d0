"""Min-degree interpolators with respect to a basis (Definition 3), and what follows from them: expansions, profiles."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.basis import Basis, Expansion, FourierBasis, Key
from ldhd.boolean.cube import Points, check_points, cube_points, point_indices
from ldhd.boolean.function import BooleanFunction, FourierCoefficients
from ldhd.boolean.layers import solve_layers
from ldhd.boolean.rational import to_fractions
from ldhd.boolean.transform import fourier

# Values at a repeated point may differ by rounding, relative to the largest value.
REPEAT_TOLERANCE = 1e-12


def min_degree_interpolator(points: Any, values: Any, basis: Basis, exact: bool = False) -> Expansion:
    """Return the function g of least degree profile in the span of a basis with g(points[i]) = values[i].

    4 x_1 + 3 x_2 is 4 x_1 + 3 where x_2 = 1, and nothing of lower degree is:

        >>> g = min_degree_interpolator([[1, 1], [-1, 1]], [7, -1], FourierBasis(2))
        >>> g[()], g[(1,)], g[(2,)]
        (3.0, 4.0, 0.0)

    `points` has shape (m, N), `values` shape (m,). With `exact` it computes with fractions: no rounding, no tolerances,
    small problems only. Repeated points must have equal values. A ValueError is raised if no element of the span takes
    these values.
    """
    points = check_points(points, basis.dimension)
    if not len(points):
        raise ValueError("there are no points to interpolate; give at least one")
    values = to_fractions(values) if exact else np.asarray(values, np.float64)
    if values.shape != (len(points),):
        raise ValueError(f"there must be one value a point, got shape {values.shape} for {len(points)} points")
    if not exact and not np.all(np.isfinite(values)):
        raise ValueError(f"values are finite numbers, got {values[~np.isfinite(values)][0]}")
    first = _first_occurrences(points, values)
    points, values = points[first], values[first]
    coefficients: Mapping[Key, Any] | None = solve_subcube(points, values) if isinstance(basis, FourierBasis) else None
    return Expansion(basis, coefficients or solve_layers(points, values, basis, exact), exact)


def expand(f: BooleanFunction, basis: Basis, exact: bool = False) -> Expansion:
    """The coefficients of f in the basis; ValueError if f is not in its span.

    They are unique since a basis is linearly independent, so any interpolator on the whole cube has them.
    """
    if f.dimension != basis.dimension:
        raise ValueError(f"f is a function of {f.dimension} variables, the basis of {basis.dimension}")
    return min_degree_interpolator(cube_points(f.dimension), f.values, basis, exact)


def degree_profile(f: BooleanFunction, basis: Basis, exact: bool = False) -> tuple[Any, ...]:
    """The degree profile of f with respect to a basis (Definition 2), that of its expansion."""
    return expand(f, basis, exact).degree_profile


def solve_subcube(points: Points, values: NDArray[Any]) -> FourierCoefficients | None:
    """Return the Fourier min-degree interpolator of distinct points that are a whole subcube; None if they are not.

    All characters that differ only in fixed variables agree there up to a sign. The one of least degree is unique: it
    has free variables alone, whatever N is.
    """
    free = np.flatnonzero(np.any(points != points[0], axis=0))
    if len(points) != 2 ** len(free):
        return None
    ordered = np.empty_like(values)
    ordered[point_indices(points[:, free])] = values
    return FourierCoefficients(fourier(ordered), tuple((free + 1).tolist()), points.shape[1])


def _first_occurrences(points: Points, values: NDArray[Any]) -> NDArray[np.int64]:
    """Where each distinct point occurs first; ValueError if it occurs again with another value."""
    rows = np.packbits(points < 0, axis=1)
    # One opaque item a row: np.unique then compares whole points. A point of no coordinates still needs a byte.
    padded = np.pad(rows, ((0, 0), (0, 1)))
    _, first, inverse = np.unique(padded.view(f"V{padded.shape[1]}")[:, 0], return_index=True, return_inverse=True)
    expected = values[first[inverse]]
    allowed = 0 if values.dtype == object else REPEAT_TOLERANCE * np.max(np.abs(values))
    contradictions = np.flatnonzero(abs(values - expected) > allowed)
    if len(contradictions):
        row = contradictions[0]
        raise ValueError(f"point {points[row].tolist()} is given two values, {expected[row]} and {values[row]}")
    return np.sort(first)

"""Degree profiles (Definition 2): how much of a function sits in each degree of a basis."""

from typing import Any

from ldhd.boolean.basis import Basis
from ldhd.boolean.cube import cube_points
from ldhd.boolean.expansion import Expansion
from ldhd.boolean.function import BooleanFunction
from ldhd.boolean.interpolator import min_degree_interpolator


def expand(f: BooleanFunction, basis: Basis, exact: bool = False) -> Expansion:
    """The coefficients of f in the basis; ValueError if f is not in its span.

    They are unique since a basis is linearly independent, so any interpolator on the whole cube has them.
    """
    if f.dimension != basis.dimension:
        raise ValueError(f"f is a function of {f.dimension} variables, the basis of {basis.dimension}")
    return min_degree_interpolator(cube_points(f.dimension), f.values, basis, exact)


def degree_profile(f: BooleanFunction, basis: Basis, exact: bool = False) -> tuple[Any, ...]:
    """(sum of squared coefficients over degree D, over D - 1, ..., over 0), D the largest degree in the basis.

    Profiles compare as Python tuples do, top degree first: x_1 x_2 + 5 x_3 on {-1, 1}^3 has (0, 1, 25, 0), more than
    9 x_1, which has (0, 0, 81, 0).
    """
    return expand(f, basis, exact).degree_profile

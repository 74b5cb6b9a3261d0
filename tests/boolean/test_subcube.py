"""Subcubes take a shortcut that gives what the general solver gives; affine subspaces share coefficients."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldhd.boolean import FourierBasis, cube_points, min_degree_interpolator, subcube_points
from ldhd.boolean.cube import points_at
from ldhd.boolean.interpolator import solve_subcube
from ldhd.boolean.layers import solve_layers
from ldhd.boolean.rational import to_fractions


def affine_subspace(dimension, directions, origin):
    """All sums modulo 2 of the directions, moved by the origin."""
    indices = {origin}
    for direction in directions:
        indices |= {index ^ direction for index in indices}
    return points_at(np.array(sorted(indices)), dimension)


def agree(fast, points, values, basis, exact):
    slow = solve_layers(points, values, basis, exact)
    for key in basis.keys():  # noqa: SIM118
        found, expected = fast.get(key, 0), slow.get(key, 0)
        assert found == (expected if exact else pytest.approx(expected, abs=1e-9)), key


@given(st.integers(1, 5), st.integers(0, 31), st.integers(0, 31), st.booleans())
def test_subcubes(dimension, free, fixed, exact):
    """Any free variables, the others fixed at -1 or 1, points in any order."""
    free, fixed = free % 2**dimension, fixed % 2**dimension & ~free
    points = affine_subspace(dimension, [1 << k for k in range(dimension) if free >> k & 1], fixed)
    generator = np.random.default_rng(free)
    points = generator.permutation(points)
    values = generator.integers(-5, 6, size=len(points))
    values = to_fractions(values) if exact else values.astype(float)
    agree(solve_subcube(points, values), points, values, FourierBasis(dimension), exact)


def test_other_sets_of_points_have_no_shortcut():
    values = np.arange(4.0)
    assert solve_subcube(cube_points(2)[:3], values[:3]) is None
    four = cube_points(3)[[0, 1, 2, 4]]
    assert solve_subcube(four, values) is None


def test_even_parity_shares_between_halves():
    """Where x_1 x_2 x_3 = 1, x_1 = x_2 x_3; where x_1 x_2 = 1, x_1 and x_2 get one half each."""
    even = affine_subspace(3, [3, 6], 0)
    interpolator = min_degree_interpolator(even, even[:, 1] * even[:, 2], FourierBasis(3), exact=True)
    assert {key: value for key, value in interpolator.items() if value} == {(1,): 1}
    equal = affine_subspace(2, [3], 0)
    interpolator = min_degree_interpolator(equal, equal[:, 0], FourierBasis(2), exact=True)
    assert interpolator == {(): 0, (1,): Fraction(1, 2), (2,): Fraction(1, 2)}


def test_signs_follow_the_origin():
    """Where x_1 x_2 = -1 the shares of x_1 have opposite signs."""
    opposite = affine_subspace(2, [3], 1)
    interpolator = min_degree_interpolator(opposite, opposite[:, 0], FourierBasis(2), exact=True)
    assert interpolator == {(): 0, (1,): Fraction(1, 2), (2,): Fraction(-1, 2)}


def test_large_problems_take_the_shortcut():
    """2^16 points of X_16 in 20 variables: the general solver would need the values of a million characters there."""
    points = subcube_points(20, 16)
    interpolator = min_degree_interpolator(points, points[:, :16].prod(axis=1), FourierBasis(20))
    assert interpolator[tuple(range(1, 17))] == 1
    assert interpolator.degree_profile == (0.0,) * 4 + (1.0,) + (0.0,) * 16
    assert np.array_equal(interpolator(points), points[:, :16].prod(axis=1))

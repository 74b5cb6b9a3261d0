"""Degree profiles and their order."""

from fractions import Fraction

import numpy as np
import pytest

from ldhd.boolean import (
    BooleanFunction,
    FourierBasis,
    PlaaBasis,
    ProjectionBasis,
    degree_profile,
    expand,
)


def function(coefficients, dimension=3):
    return BooleanFunction.from_fourier(coefficients, dimension)


def test_top_degree_first():
    assert degree_profile(function({(1, 2): 1, (3,): 5}), FourierBasis(3)) == (0, 1, 25, 0)
    assert degree_profile(function({(): 2, (1,): 3, (2,): 4}), FourierBasis(3)) == (0, 0, 25, 4)


def test_order_is_lexicographic():
    """The least bit of degree 2 outweighs any amount of degree 1, and rounding is no bit."""
    low, high = function({(1,): 100}), function({(1, 2): 1e-3})
    noise = BooleanFunction(low.values + 1e-14 * function({(1, 2, 3): 1}).values)
    basis = FourierBasis(3)
    assert degree_profile(low, basis) < degree_profile(high, basis)
    assert degree_profile(noise, basis) < degree_profile(high, basis)


def test_profile_in_fractions():
    f = BooleanFunction([Fraction(1, 3), Fraction(2, 3)])
    assert degree_profile(f, FourierBasis(1), exact=True) == (Fraction(1, 36), Fraction(1, 4))


def test_length_is_that_of_the_basis():
    """The tuple has D + 1 entries, D the largest degree of an element."""
    basis = ProjectionBasis(np.eye(3)[:, :2])
    assert degree_profile(function({(): 2, (1, 2): 3}), basis) == pytest.approx((9, 0, 4))


def test_profile_depends_on_the_basis():
    """4 x_1 + 3 x_2 is five times one projection."""
    f = function({(1,): 4, (2,): 3}, dimension=2)
    assert degree_profile(f, FourierBasis(2)) == (0, 25, 0)
    assert expand(f, ProjectionBasis([[0.8], [0.6]]))[(1,)] == pytest.approx(5)


@pytest.mark.parametrize("exact", [False, True])
def test_outside_the_span(exact):
    with pytest.raises(ValueError, match="no interpolator exists in the span of the basis"):
        degree_profile(function({(): 1}), PlaaBasis(3), exact)


def test_another_number_of_variables():
    with pytest.raises(ValueError, match="f is a function of 3 variables, the basis of 4"):
        degree_profile(function({(): 1}), FourierBasis(4))

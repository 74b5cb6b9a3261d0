"""Words as points of a cube."""

from itertools import product

import numpy as np
import pytest

from ldhd.boolean import Encoding, FourierBasis, cube_points, min_degree_interpolator, scale, subcube_points


def test_worked_example():
    code = Encoding("_abc")
    assert code.points(["b", "_a"], length=2).tolist() == [[1, -1, 1, 1], [1, 1, -1, 1]]
    assert code.width == 2


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 11])
def test_words_have_different_codes(size):
    code = Encoding(range(size))
    words = list(product(range(size), repeat=2))
    points = code.points(words, length=2)
    assert points.shape == (size**2, 2 * code.width)
    assert len(np.unique(points, axis=0)) == size**2


def test_the_papers_case_is_the_identity():
    code = Encoding((1, -1))
    assert np.array_equal(code.points(cube_points(4), length=4), cube_points(4))
    assert np.array_equal(code.scale(cube_points(4)), scale(cube_points(4)))


def test_short_words_fill_a_subcube():
    """Four symbols leave no code unused: the words of n symbols are X_{2n}, in the order of their indices."""
    words = [word[::-1] for word in product("_abc", repeat=2)]
    assert np.array_equal(Encoding("_abc").points(words, length=3), subcube_points(6, 4))


def test_interpolators_take_functions_of_words():
    """The number of a's in two symbols, learned from one: the second symbol is taken for blank."""
    code = Encoding("_ab")
    interpolator = min_degree_interpolator(code.points("_ab", length=2), [0, 1, 0], FourierBasis(4))
    assert interpolator(code.points(["a", "b", "_", "aa"], length=2)) == pytest.approx([1, 0, 0, 1])


def test_scale_counts_symbols():
    code = Encoding("_abc")
    assert code.scale(code.points(["", "c", "_a", "a_b", "b__"], length=3)).tolist() == [0, 1, 2, 3, 1]

"""Words as points of a cube."""

from itertools import product

import numpy as np
import pytest

from ldhd.boolean import Encoding, FourierBasis, cube_points, min_degree_interpolator, scale, subcube_points


def test_worked_example():
    code = Encoding("_abc")
    assert code.points(["b", "_a"], length=2).tolist() == [[1, -1, 1, 1], [1, 1, -1, 1]]
    assert code.words([[1, -1, 1, 1], [1, 1, -1, 1]]) == [("b", "_"), ("_", "a")]
    assert (code.blank, code.width) == ("_", 2)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 11])
def test_round_trip(size):
    code = Encoding(range(size))
    words = list(product(range(size), repeat=2))
    points = code.points(words, length=2)
    assert points.shape == (size**2, 2 * code.width)
    assert code.words(points) == words
    assert len(np.unique(points, axis=0)) == size**2
    assert np.array_equal(code.is_word(cube_points(2 * code.width)).sum(), size**2)


def test_the_papers_case_is_the_identity():
    code = Encoding((1, -1))
    assert np.array_equal(code.points(cube_points(4), length=4), cube_points(4))
    assert np.array_equal(code.scale(cube_points(4)), scale(cube_points(4)))


def test_short_words_fill_a_subcube():
    """Four symbols leave no code unused: the words of n symbols are X_{2n}, in the order of their indices."""
    points, values = Encoding("_abc").tabulate(lambda word: word.count("a"), length=3, scale=2)
    assert np.array_equal(points, subcube_points(6, 4))
    assert values[:6].tolist() == [0, 1, 0, 0, 1, 2]


def test_unused_codes_are_excluded():
    """Three symbols take two variables, and (-1, -1) is no symbol."""
    code = Encoding("_ab")
    points, values = code.tabulate(lambda word: len([symbol for symbol in word if symbol != "_"]), length=2)
    assert len(points) == len(values) == 9
    assert np.all(code.is_word(points))
    assert not code.is_word([[-1, -1, 1, 1]])[0]
    with pytest.raises(ValueError, match="block 2 of point 0 holds 3, the number of no symbol"):
        code.words([[1, 1, -1, -1]])


def test_interpolators_take_functions_of_words():
    """The number of a's in two symbols, learned from one: the second symbol is taken for blank."""
    code = Encoding("_ab")
    points, values = code.tabulate(lambda word: word.count("a"), length=2, scale=1)
    interpolator = min_degree_interpolator(points, values, FourierBasis(4))
    assert interpolator(code.points(["a", "b", "_", "aa"], length=2)) == pytest.approx([1, 0, 0, 1])


def test_scale_counts_symbols():
    code = Encoding("_abc")
    assert code.scale(code.points(["", "c", "_a", "a_b", "b__"], length=3)).tolist() == [0, 1, 2, 3, 1]


@pytest.mark.parametrize("alphabet", ["", "_", "_aa"])
def test_alphabets_have_two_distinct_symbols(alphabet):
    with pytest.raises(ValueError, match="alphabet"):
        Encoding(alphabet)


def test_bad_words_and_points():
    code = Encoding("_abc")
    with pytest.raises(ValueError, match="'x' in 'ax' is no symbol of"):
        code.points(["ax"], length=2)
    with pytest.raises(ValueError, match="the word 'aaa' has 3 symbols, more than 2"):
        code.points(["aaa"], length=2)
    with pytest.raises(ValueError, match="points have 3 coordinates, no whole number of blocks of 2"):
        code.words([[1, 1, 1]])
    with pytest.raises(ValueError, match=r"words have 0 \.\. 2 symbols, got a scale of 3"):
        code.tabulate(len, length=2, scale=3)
    with pytest.raises(ValueError, match=r"the 4\^40 words of 40 symbols would need"):
        code.tabulate(len, length=40)

"""Elimination in fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldhd.boolean.rational import pivots, right_inverse, to_fractions

entries = st.integers(-3, 3)
matrices = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(entries, min_size=n, max_size=n), min_size=1, max_size=5)
)


@given(matrices)
def test_pivots_split_the_rows(matrix):
    rows = to_fractions(matrix)
    kept, combinations, vanishing = pivots(rows, to_fractions(np.eye(len(rows), dtype=int)))
    assert len(kept) == np.linalg.matrix_rank(np.array(matrix))
    assert np.all(combinations @ rows == kept)
    assert not np.any(vanishing @ rows)
    assert np.linalg.matrix_rank(np.concatenate([combinations, vanishing]).astype(float)) == len(rows)


@given(matrices)
def test_right_inverse_gives_shortest_solutions(matrix):
    rows = to_fractions(matrix)
    kept, _, _ = pivots(rows, rows)
    inverse = right_inverse(kept)
    assert np.array_equal(kept @ inverse, to_fractions(np.eye(len(kept), dtype=int)))
    if len(kept):
        assert np.allclose(inverse.astype(float), np.linalg.pinv(kept.astype(float)))


def test_numbers_become_plain_fractions():
    values = to_fractions([1, 0.5, Fraction(1, 3), np.int64(7)])
    assert values.tolist() == [1, Fraction(1, 2), Fraction(1, 3), 7]
    assert type(to_fractions(np.array([np.int64(7)], object))[0].numerator) is int


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "x", None])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="is no finite number"):
        to_fractions(np.array([1, value], object))

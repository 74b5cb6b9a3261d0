"""Addition as latent variable, concept and two formats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldhd.theory.number_formats import (
    addition_scale,
    aligned,
    concept,
    digits,
    latent,
    number_of,
    read,
    unaligned,
    unaligned_as_printed,
)

numbers = st.integers(0, 10**6)


@given(numbers, numbers)
def test_both_formats_carry_the_latent_variable(x, y):
    pairs = latent(x, y)
    assert read(unaligned(pairs)) == read(aligned(pairs, len(pairs))) == (x, y)
    assert concept(pairs) == x + y


@given(numbers, numbers, st.integers(0, 3))
def test_more_dimensions_of_zeros_change_nothing(x, y, more):
    pairs = latent(x, y)
    padded = latent(x, y, scale=len(pairs) + more)
    assert concept(padded) == concept(pairs)
    assert unaligned(padded) == unaligned(pairs)
    assert addition_scale(padded) == addition_scale(pairs) == (max(len(digits(x)), len(digits(y))) if x + y else 0)


@given(numbers)
def test_digits_are_read_back(number):
    assert number_of(digits(number)) == number


def test_the_strings_of_the_paper():
    assert unaligned(latent(1, 4321)) == "1+1234="
    assert unaligned(latent(321, 321)) == "123+123="
    assert aligned(latent(12, 7), width=3) == "210+700="
    assert unaligned_as_printed(latent(12, 7)) == "2+="
    assert unaligned(latent(0, 0)) == "0+0="


def test_bad_widths_are_refused():
    with pytest.raises(ValueError, match=r"12 \+ 345 has scale 3, more than 2"):
        latent(12, 345, scale=2)
    with pytest.raises(ValueError, match="2 digits do not fit into a width of 1"):
        aligned(latent(12, 7), width=1)

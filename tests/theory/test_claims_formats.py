"""Addition as latent variable, concept and two formats, as the claims about formats use it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldhd.tasks import TASKS, digits
from ldhd.theory.claims_formats import addends, aligned, read_addends, unaligned, unaligned_as_printed

numbers = st.integers(0, 10**6)
total = TASKS["addition"].concept


def number_of(number: digits.Digits) -> int:
    return int("".join(map(str, reversed(number))))


@given(numbers, numbers)
def test_both_formats_carry_the_latent_variable(x, y):
    latent = addends(x, y)
    width = max(map(len, latent))
    assert read_addends(unaligned(latent)) == read_addends(aligned(latent, width)) == (x, y)
    assert number_of(total(latent)) == x + y


@given(numbers, numbers, st.integers(0, 3))
def test_more_dimensions_of_zeros_change_nothing(x, y, more):
    latent = addends(x, y)
    width = max(map(len, latent)) + more
    padded = tuple(digits.pad(addend, width) for addend in latent)
    assert total(padded) == total(latent)
    assert tuple(map(digits.strip, padded)) == latent


def test_the_strings_of_the_paper():
    assert unaligned(addends(1, 4321)) == "1+1234="
    assert unaligned(addends(321, 321)) == "123+123="
    assert aligned(addends(12, 7), width=3) == "210+700="
    assert unaligned_as_printed(addends(12, 7)) == "2+="
    assert unaligned(addends(0, 0)) == "0+0="


def test_bad_widths_are_refused():
    with pytest.raises(ValueError, match="scale 2 does not fit the aligned width 1"):
        aligned(addends(12, 7), width=1)

import pytest

from ldhd.tasks.tokens import CHARACTERS, PADDING, VOCABULARY_SIZE, decode, encode


def test_digits_are_their_own_ids():
    assert encode("0123456789") == list(range(10))


def test_round_trip_and_padding():
    assert decode(encode(CHARACTERS)) == CHARACTERS
    assert VOCABULARY_SIZE == 17
    assert decode([PADDING, 1]) == "_1"


def test_unknown_character_is_named():
    with pytest.raises(ValueError, match="'x' in 'b1x=' is no token"):
        encode("b1x=")

import pytest

from ldhd.tasks import Vocabulary
from ldhd.tasks.tokens import CHARACTERS, PADDING, VOCABULARY, VOCABULARY_SIZE, decode, encode, shape_of


def test_digits_are_their_own_ids():
    assert encode("0123456789") == list(range(10))


def test_round_trip_and_padding():
    assert decode(encode(CHARACTERS)) == CHARACTERS
    assert VOCABULARY_SIZE == 17
    assert decode([PADDING, 1]) == "_1"


def test_unknown_character_is_named():
    with pytest.raises(ValueError, match="'x' in 'b1x=' is no token"):
        encode("b1x=")


def test_the_vocabulary_of_all_tasks_is_that_of_stored_weights():
    assert CHARACTERS == "0123456789be=+*\\"
    assert (VOCABULARY.padding, VOCABULARY.size, VOCABULARY.end) == (16, 17, 11)
    assert VOCABULARY.as_digits("b12+3=") == "b12+3="


def test_a_vocabulary_of_ones_own():
    own = Vocabulary("01ABC", ",;")
    assert own.encode("0C") == [0, 4]
    assert own.decode(own.encode("bA,B;1=0e")) == "bA,B;1=0e"
    assert own.decode([own.padding]) == "_"
    assert (own.end, own.padding, own.size) == (own.encode("e")[0], 10, 11)
    assert own.as_digits("bA,C;1=0e") == "b2,4;1=0e"
    assert shape_of(own.as_digits("bA,C;1=0e")) == "b#,#;#=#e"


@pytest.mark.parametrize(
    ("symbols", "separators", "message"),
    [
        ("", ",", "at least one symbol"),
        ("abc", ",", "'b' is a token twice; 'b', 'e' and '=' begin, end and divide every string"),
        ("ABA", ",", "'A' is a token twice$"),
        ("AB", "A", "'A' is a token twice$"),
        ("A B", "", "' ' cannot be a token"),
        ("A_", "", "'_' cannot be a token"),
        ("AB", "#", "'#' cannot be a token"),
        ("01", "2", "'2' is a digit and can be a symbol only"),
    ],
)
def test_what_no_vocabulary_can_have(symbols, separators, message):
    with pytest.raises(ValueError, match=message):
        Vocabulary(symbols, separators)

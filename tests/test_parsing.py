import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldhd.parsing import parse_range, parse_settings


@given(st.lists(st.integers(1, 500), min_size=1, unique=True))
def test_any_list_of_numbers(numbers):
    assert parse_range(",".join(map(str, numbers)), "--x") == tuple(sorted(numbers))


def test_ranges():
    assert parse_range("1-5", "--x") == (1, 2, 3, 4, 5)
    assert parse_range("1-3, 10 ,20", "--x") == (1, 2, 3, 10, 20)
    assert parse_range("0-1", "--seeds", least=0) == (0, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5-1", "'5-1' runs backwards; write 1-5"),
        ("0", "values start at 1, got 0"),
        ("", "neither a number nor a range"),
        ("a", "neither a number nor a range"),
        ("-3", "neither a number nor a range"),
        ("1--3", "neither a number nor a range"),
        ("1,,2", "neither a number nor a range"),
        ("1.5", "neither a number nor a range"),
        ("1-3,2", "names a value twice"),
        ("1-99999999999", "above the largest"),
    ],
)
def test_what_is_no_range(text, message):
    with pytest.raises(ValueError, match=f"--x: .*{message}"):
        parse_range(text, "--x")


def test_settings_are_json_or_text():
    pairs = ["train.steps=5", "position.hard=true", "train.samples=endless", "train.learning_rate=1e-3", "a==b"]
    assert parse_settings(pairs) == {
        "train.steps": 5,
        "position.hard": True,
        "train.samples": "endless",
        "train.learning_rate": 0.001,
        "a": "=b",
    }


@pytest.mark.parametrize("pair", ["steps", "=5", ""])
def test_what_is_no_setting(pair):
    with pytest.raises(ValueError, match="KEY=VALUE"):
        parse_settings([pair])
    with pytest.raises(ValueError, match="twice"):
        parse_settings(["a=1", "a=2"])

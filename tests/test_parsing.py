import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldhd.parsing import SEEDS, format_range, parse_range, parse_settings


@given(st.lists(st.integers(1, 500), min_size=1, unique=True))
def test_any_list_of_numbers(numbers):
    assert parse_range(",".join(map(str, numbers)), "--x") == tuple(sorted(numbers))


def test_ranges():
    assert parse_range("1-5", "--x") == (1, 2, 3, 4, 5)
    assert parse_range("1-3, 10 ,20", "--x") == (1, 2, 3, 10, 20)
    assert parse_range("0-1", "--seeds", SEEDS) == (0, 1)


@given(st.lists(st.integers(1, 60), min_size=1, unique=True))
def test_a_formatted_range_is_parsed_as_what_it_was(numbers):
    assert parse_range(format_range(sorted(numbers)), "--x") == tuple(sorted(numbers))
    assert format_range((1, 2, 3, 20, 50, 51)) == "1-3,20,50-51"


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


def test_a_seed_may_be_any_number_of_63_bits():
    assert parse_range(f"100001,{2**63 - 1}", "--seeds", SEEDS) == (100001, 2**63 - 1)
    with pytest.raises(ValueError, match=f"{2**63} is above the largest value, {2**63 - 1}"):
        parse_range(str(2**63), "--seeds", SEEDS)


@pytest.mark.parametrize("text", ["0-100000", "5-6000000000", "0-60000,1000000-1060000"])
def test_ranges_are_refused_before_they_fill_the_memory(text):
    with pytest.raises(ValueError, match="names more than 100000 values"):
        parse_range(text, "--seeds", SEEDS)


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

"""What is printed in a terminal: titles and lines are as wide as the terminal, and break between words."""

import pytest

from ldhd.report.terminal import plain_table, print_result

WORDS = "assumed: the model is the one of this file, and a sum of numbers is as exact as single precision promises"


@pytest.fixture
def terminal(monkeypatch):
    """A terminal of 80 columns without colours."""
    for name, value in {"TTY_COMPATIBLE": "1", "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)


def printed(capsys, *view):
    print_result({}, view, False)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_a_title_and_a_caption_may_be_wider_than_their_table(capsys, terminal):
    title, caption = "speed: time of the opponent over ours [one run]", "a caption that is wider than its table"
    lines = printed(capsys, plain_table(title, ["a", "b"], [(1, 2)], caption))
    assert (lines[0], lines[-1]) == (title, caption)


def test_long_lines_break_between_words_and_are_indented(capsys, terminal):
    first, second = printed(capsys, f"  {WORDS}")
    assert (first, second) == (f"  {WORDS[:77]}".rstrip(), f"    {WORDS[77:].lstrip()}")
    assert printed(capsys, "a short line", "x" * 90) == ["a short line", "x" * 90]


def test_lines_of_a_pipe_are_not_broken(capsys):
    assert printed(capsys, WORDS) == [WORDS]

"""An answer is recalled while nothing it rests on has changed, and not a moment longer."""

import os
from pathlib import Path

import pytest

from ldhd import recall as memory
from ldhd.recall import recall, remember

QUESTION = b"how much?"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "record.json"
    path.write_text("1")
    remember(QUESTION, [path], {"sum": 1})
    return path


def kept():
    return sorted((Path(os.environ["XDG_CACHE_HOME"]) / "ldhd").iterdir())


def test_the_answer_comes_back(path):
    assert recall(QUESTION) == {"sum": 1}
    assert recall(b"another question") is None


def test_a_changed_file_of_the_same_size_and_time_is_noticed(path):
    before = path.stat()
    path.write_text("2")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert recall(QUESTION) is None


def test_a_missing_file_is_noticed(path):
    path.unlink()
    assert recall(QUESTION) is None


def test_a_damaged_answer_is_none(path):
    (answer,) = kept()
    damaged = answer.read_text().replace('"sum": 1', '"sum": 2').replace('"sum":1', '"sum":2')
    assert damaged != answer.read_text()
    answer.write_text(damaged)
    assert recall(QUESTION) is None


def test_another_source_is_another_question(path, monkeypatch):
    monkeypatch.setattr(memory, "_source", lambda: b"changed")
    assert recall(QUESTION) is None


def test_the_oldest_answers_go(path, monkeypatch):
    monkeypatch.setattr(memory, "MOST", 3)
    os.utime(kept()[0], (0, 0))
    for number in range(3):
        remember(str(number).encode(), [path], number)
    assert len(kept()) == 3
    assert recall(QUESTION) is None
    assert [recall(str(number).encode()) for number in range(3)] == [0, 1, 2]

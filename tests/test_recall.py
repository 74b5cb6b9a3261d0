"""An answer is recalled while nothing it rests on has changed, and not a moment longer."""

import os

import pytest

from ldhd.recall import recall, remember

QUESTION = b"how much?"


@pytest.fixture
def kept(tmp_path):
    path = tmp_path / "runs" / "record.json"
    path.parent.mkdir()
    path.write_text("1")
    remember(tmp_path, QUESTION, [path], {"sum": 1})
    return tmp_path, path


def test_the_answer_comes_back(kept):
    folder, _ = kept
    assert recall(folder, QUESTION) == {"sum": 1}
    assert recall(folder, b"another question") is None
    assert recall(folder / "runs", QUESTION) is None


def test_a_changed_file_of_the_same_size_and_time_is_noticed(kept):
    folder, path = kept
    before = path.stat()
    path.write_text("2")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert recall(folder, QUESTION) is None


def test_a_missing_file_is_noticed(kept):
    folder, path = kept
    path.unlink()
    assert recall(folder, QUESTION) is None


def test_a_damaged_answer_is_none(kept):
    folder, _ = kept
    (answer,) = (folder / ".answers").iterdir()
    answer.write_text(answer.read_text().replace('"sum": 1', '"sum": 2').replace('"sum":1', '"sum":2'))
    assert recall(folder, QUESTION) is None


def test_another_source_is_another_question(kept, monkeypatch):
    folder, _ = kept
    monkeypatch.setattr("ldhd.recall._source", lambda: b"changed")
    assert recall(folder, QUESTION) is None

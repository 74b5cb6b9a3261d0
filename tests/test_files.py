"""Files are whole or absent, and what was altered is noticed."""

import os

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ldhd.files import BadFileError, remove_leftovers, write_bytes
from ldhd.tensors import read_tensors, write_tensors

TENSORS = {"a": torch.arange(6.0).view(2, 3), "b": torch.tensor([1, 2])}


def test_round_trip(tmp_path):
    write_tensors(tmp_path / "x", TENSORS, {"step": 3})
    tensors, header = read_tensors(tmp_path / "x")
    assert header.metadata == {"step": 3}
    assert all(torch.equal(tensors[name], TENSORS[name]) for name in TENSORS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(place=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_no_altered_bit_goes_unnoticed(tmp_path, place, bit):
    """Either the file is refused, or what it says is what was written (a space of its header, say)."""
    path = tmp_path / "x"
    write_tensors(path, TENSORS, {"step": 3})
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 1 << bit
    path.write_bytes(content)
    try:
        tensors, header = read_tensors(path)
    except BadFileError:
        return
    assert header.metadata == {"step": 3}
    assert {name: tensor.tolist() for name, tensor in tensors.items()} == {
        name: tensor.tolist() for name, tensor in TENSORS.items()
    }


@given(length=st.integers(0, 10_000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_truncated_file_is_read(tmp_path, length):
    path = tmp_path / "x"
    write_tensors(path, TENSORS, {"step": 3})
    content = path.read_bytes()
    path.write_bytes(content[: length % len(content)])
    with pytest.raises(BadFileError, match="x"):
        read_tensors(path)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "x"
    write_bytes(path, b"old")

    def full_disk(descriptor):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="no space"):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_leftovers_are_our_own_files_alone(tmp_path):
    ours = [".record.json.a1b2_c3d", ".step-00000010.safetensors.abcdefgh"]
    others = [".DS_Store", ".gitignore", "record.json"]
    for name in ours + others:
        (tmp_path / name).touch()
    (tmp_path / ".ipynb_checkpoints").mkdir()
    remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*others, ".ipynb_checkpoints"}


def test_absent_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_tensors(tmp_path / "absent")

"""The parts of `make torture` that are quick, at a small size."""

import subprocess
import sys
from pathlib import Path

import pytest

PARTS = ["kills_in_training", "kills_at_file_operations", "corrupted_files", "full_disks", "clocks", "files_in_the_way"]


@pytest.mark.slow
def test_torture_at_a_small_size():
    command = [sys.executable, str(Path(__file__).with_name("torture.py")), "2", *PARTS, "malformed_configs"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    assert ended.stdout.splitlines()[-1].split() == ["0", "violations"]
    assert ended.stdout.count(": 0 violations") == len(PARTS) + 1


def test_hostile_folders_and_strange_owners_at_a_small_size():
    parts = ["hostile_folders", "strange_files", "stopped_owners", "clones"]
    command = [sys.executable, str(Path(__file__).with_name("torture.py")), "0.8", *parts]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    assert ended.stdout.count(": 0 violations") == len(parts)

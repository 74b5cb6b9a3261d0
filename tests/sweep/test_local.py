"""Runs in worker processes, and what a signal leaves behind."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from contracts.executor import ExecutorContract
from contracts.tiny import TINY
from ldhd.experiments import RunFolder, make_config, run
from ldhd.sweep import in_processes, in_turn, run_all


def configs(steps=4, seeds=(0, 1, 2)):
    return [
        make_config(
            "copy", "rpe-square", steps=steps, seed=seed, test_scales=(1, 2), train_scales=(1, 2), settings=TINY
        )
        for seed in seeds
    ]


class TestInTurn(ExecutorContract):
    survives = False

    @pytest.fixture
    def executor(self):
        return in_turn


class TestInProcesses(ExecutorContract):
    @pytest.fixture(params=[1, 2])
    def executor(self, request):
        return in_processes(request.param)


def without_clock(record):
    return record.model_dump(exclude={"seconds"})


def test_workers_give_what_one_process_gives_in_the_same_order(tmp_path):
    seen = []
    many = run_all(configs(), tmp_path / "many", workers=2, command="c", on_progress=seen.append)
    one = [run(config, tmp_path / "one", command="c") for config in configs()]
    assert [without_clock(record) for record in many] == [without_clock(record) for record in one]
    assert {progress.stage for progress in seen} >= {"testing", "done"}
    for record in many:
        weights = [(tmp_path / place / record.hash / "model.safetensors").read_bytes() for place in ("many", "one")]
        assert weights[0] == weights[1]


def test_every_config_is_checked_before_the_first_run(tmp_path):
    wrong = make_config("copy", "absolute", steps=2, test_scales=(1, 50), settings={**TINY, "position.table_size": 20})
    with pytest.raises(ValueError, match="longer than the table of 20"):
        run_all([*configs(seeds=(0,)), wrong], tmp_path, workers=2)
    assert list(tmp_path.iterdir()) == []


def test_an_error_in_a_worker_reaches_the_caller(tmp_path):
    first, second = configs(seeds=(0, 1))
    (tmp_path / second.hash).write_text("in the way")
    with pytest.raises(
        ValueError, match=rf"copy rpe-square seed 1 \({second.hash}\): .*{second.hash}: it is no folder"
    ):
        run_all([first, second], tmp_path, workers=2)
    assert RunFolder(tmp_path / first.hash).finished(first)


def test_ctrl_c_while_workers_start_is_one_line(tmp_path):
    """Workers that still import torch keep the signal until they can heed it."""
    command = [sys.executable, "-m", "ldhd", "run", "copy", "--position", "rpe,rpe-square", "--workers", "2"]
    for wait in (0.3, 1.5):
        out = tmp_path / str(wait)
        process = subprocess.Popen(
            [*command, "--out", str(out)], stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            deadline = time.monotonic() + 120
            while time.monotonic() < deadline and not out.exists():  # made just before the workers are started
                time.sleep(0.05)
            time.sleep(wait)
            os.killpg(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=90)
        finally:
            process.kill()
        assert process.returncode == 130, err
        assert err.count("\n") <= 1, err


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_leaves_resumable_runs_and_says_how(tmp_path, workers):
    options = [f"--set={key}={value}" for key, value in {**TINY, "train.checkpoint_every": 100_000}.items()]
    command = ["run", "copy", "--position", "rpe,rpe-square", "--steps", "100000", "--workers", workers]
    command += ["--out", str(tmp_path), *options]
    process = subprocess.Popen(
        [sys.executable, "-m", "ldhd", *command],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and len(list(tmp_path.glob("*/config.json"))) < int(workers):
            time.sleep(0.2)
        time.sleep(3)
        os.killpg(process.pid, signal.SIGINT)
        _out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert err.count("\n") == 1
    assert "the same command goes on from there: ldhd run copy" in err
    folders = [path.parent for path in tmp_path.glob("*/config.json")]
    assert len(folders) == int(workers)
    for folder in folders:
        assert len(list((folder / "checkpoints").glob("step-*.safetensors"))) == 1
        assert not (folder / "record.json").exists()
        assert json.loads((folder / "config.json").read_text())["train"]["steps"] == 100_000

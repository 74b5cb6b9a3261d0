"""Sweeps: retries, failures that stop nothing, several sweeps on one folder, runs killed at any moment."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from contracts.command import ldhd
from contracts.tiny import TINY
from ldhd.cli import main
from ldhd.experiments import RunFolder, make_config, run
from ldhd.files import read_json
from ldhd.lease import Lease, holding
from ldhd.sweep import in_processes, run_sweep
from ldhd.sweep.executor import Job, JobResult, in_turn, perform

SETTINGS = TINY | {"train.checkpoint_every": 2, "train.evaluate_every": 2}
SWEEP = """
tasks = ["copy"]
positions = ["rpe", "rpe-square"]
seeds = "0-1"
steps = {steps}
train_scales = "1-2"
test_scales = "1-2"
[set]
"""


def configs(count=3, steps=4):
    scales = {"test_scales": (1, 2), "train_scales": (1, 2)}
    return [make_config("copy", "rpe-square", steps=steps, seed=i, settings=SETTINGS, **scales) for i in range(count)]


def failing(times, how="out of order"):
    """An executor that does jobs in turn, but fails the first `times` of each."""
    tried = {}

    def execute(jobs, on_progress, stop):
        for job in jobs:
            if job is None:
                continue
            tried[job.config.hash] = tried.get(job.config.hash, 0) + 1
            fails = tried[job.config.hash] <= times.get(job.config.seed, 0)
            yield JobResult(job, error=how) if fails else perform(job, on_progress, stop)

    execute.tried = tried
    return execute


def test_a_failed_run_is_tried_again_and_stops_no_other(tmp_path):
    wanted = configs(3)
    completed = []
    executor = failing({0: 2, 1: 99}, "out of\norder")
    result = run_sweep(wanted, tmp_path, executor, retries=2, on_completed=completed.append)
    assert [record.seed for record in result.records] == [0, 2]
    (failure,) = result.failures
    assert (failure.hash, failure.message, failure.attempts) == (wanted[1].hash, "out of order", 3)
    assert list(executor.tried.values()) == [3, 3, 1]
    assert len(completed) == 3
    written = read_json(tmp_path / wanted[1].hash / "failure.json")
    assert written == {"hash": failure.hash, "label": failure.label, "message": "out of order", "attempts": 3}
    assert not (tmp_path / wanted[0].hash / "failure.json").exists()
    again = run_sweep(wanted, tmp_path, in_turn)
    assert (len(again.records), again.failures) == (3, [])
    assert not (tmp_path / wanted[1].hash / "failure.json").exists()


def test_finished_runs_need_no_executor(tmp_path):
    first = run_sweep(configs(), tmp_path, in_turn)
    assert run_sweep(configs(), tmp_path, None) == first


def test_a_process_that_dies_is_a_failure(tmp_path):
    """A lack of memory, say, fails the run that has it and no other."""
    scales = {"test_scales": (1, 2), "train_scales": (1, 2), "steps": 2}
    dying = make_config("copy", "contracts.dying:Dying", settings=SETTINGS, **scales)
    result = run_sweep([dying, *configs(1)], tmp_path / "out", in_processes(2), retries=1)
    assert [record.position for record in result.records] == ["rpe-square"]
    assert result.failures[0].attempts == 2
    assert "its process ended by signal 9" in result.failures[0].message


def test_a_run_another_process_works_on_is_left_to_it(tmp_path):
    """Its record is read when it is there."""
    wanted = configs(2)
    held = tmp_path / wanted[0].hash
    order = []

    def execute(jobs, on_progress, stop):
        for job in jobs:
            if job is not None:
                order.append(job.config.seed)
                yield perform(job, on_progress, stop)
            else:  # the other process finishes now
                lease.release()
                run(wanted[0], tmp_path)

    held.mkdir(parents=True)
    lease = Lease(held)
    assert lease.take()
    seen = []
    result = run_sweep(wanted, tmp_path, execute, on_progress=seen.append)
    assert order == [1]
    assert (seen[0].run, seen[0].stage) == (wanted[0].hash, "in another process")
    assert [record.seed for record in result.records] == [0, 1]


def test_a_job_that_is_held_ends_without_an_answer(tmp_path):
    (config,) = configs(1)
    seen = []
    with holding(tmp_path / config.hash):
        outcome = perform(Job(config, tmp_path, 1, ""), seen.append, lambda: False)
    assert (outcome.record, outcome.error, seen) == (None, None, [])


def sweep_file(tmp_path, steps=30):
    path = tmp_path / "sweep.toml"
    lines = [f'"{key}" = {value}' for key, value in SETTINGS.items()]
    path.write_text(SWEEP.format(steps=steps) + "\n".join(lines))
    return path


def start(path, out, *options):
    command = [sys.executable, "-m", "ldhd", "sweep", str(path), "--out", str(out), "--json", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def ended(process, timeout=240):
    try:
        out, err = process.communicate(timeout=timeout)
    finally:
        process.kill()
    return process.returncode, out, err


def results(out):
    """What was found, without the clock, by folder; whole files that must not depend on interruptions."""
    found = {}
    for folder in sorted(path.parent for path in out.glob("*/record.json")):
        record = RunFolder(folder).record().model_dump(exclude={"seconds", "command"})
        names = ("config.json", "metrics.jsonl", "model.safetensors")
        found[folder.name] = (record, *((folder / name).read_bytes() for name in names))
    return found


def test_two_sweeps_on_one_folder_share_the_runs(tmp_path):
    path = sweep_file(tmp_path)
    both = [start(path, tmp_path / "runs", "--workers", "1") for _ in range(2)]
    for process in both:
        code, out, err = ended(process)
        assert (code, err) == (0, "")
        assert len(json.loads(out)["runs"]) == 4
    assert len(list((tmp_path / "runs").iterdir())) == 4
    assert not list((tmp_path / "runs").glob("*/*lease*"))


def test_a_sweep_killed_at_random_moments_ends_as_if_nothing_had_happened(tmp_path, capsys):
    path = sweep_file(tmp_path)
    chance = random.Random(1)
    for _ in range(3):
        process = start(path, tmp_path / "killed", "--workers", "1")
        deadline = time.monotonic() + 120
        folders = len(list(tmp_path.glob("killed/*")))
        while (
            process.poll() is None and time.monotonic() < deadline and len(list(tmp_path.glob("killed/*"))) == folders
        ):
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.6))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        ended(process)
    for out in ("killed", "whole"):
        with pytest.raises(SystemExit) as exit:
            main(["sweep", str(path), "--out", str(tmp_path / out), "--workers", "1", "--json"])
        assert exit.value.code == 0
        assert len(json.loads(capsys.readouterr().out)["runs"]) == 4
    assert results(tmp_path / "killed") == results(tmp_path / "whole")


def test_ctrl_c_leaves_resumable_runs_and_says_how(tmp_path):
    process = start(sweep_file(tmp_path, steps=100_000), tmp_path / "runs", "--workers", "2")
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and len(list(tmp_path.glob("runs/*/checkpoints/step-*"))) < 2:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    code, out, err = ended(process)
    assert (code, out, err.count("\n")) == (130, "", 1), err
    assert "stopped with 0 of 4 runs finished; the same command goes on from there: ldhd sweep " in err
    assert not list((tmp_path / "runs").glob("*/*lease*"))


def test_ctrl_c_in_a_single_run_says_how_to_go_on(tmp_path):
    asked = [
        "run",
        "copy",
        "--position",
        "rpe-square",
        "--steps",
        "100000",
        "--train-scales",
        "1-2",
        "--test-scales",
        "1-2",
    ]
    settings = [f"--set={key}={value}" for key, value in SETTINGS.items()]
    command = [sys.executable, "-m", "ldhd", *asked, *settings, "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not list(tmp_path.glob("*/checkpoints/step-*")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert (code, out, err.count("\n")) == (130, "", 1), err
    assert "stopped with 0 of 1 runs finished; the same command goes on from there: ldhd run " in err


class TestCommand:
    def call(self, capsys, *arguments):
        return ldhd(capsys, "sweep", *arguments)

    def test_table_and_json(self, tmp_path, capsys):
        path = sweep_file(tmp_path, steps=2)
        code, out, err = self.call(capsys, path, "--out", tmp_path / "runs", "--workers", "1")
        assert (code, err) == (0, "")
        assert "4 of 4 runs done, 0 failed" in out
        code, out, _ = self.call(capsys, path, "--out", tmp_path / "runs", "--json")
        shown = json.loads(out)
        assert (code, shown["asked"], len(shown["runs"]), shown["failures"]) == (0, 4, 4, [])
        assert shown["runs"][0] == json.loads(
            (tmp_path / "runs" / shown["runs"][0]["hash"] / "record.json").read_text()
        )

    def test_a_failure_is_told_and_is_exit_code_1(self, tmp_path, capsys):
        path = sweep_file(tmp_path, steps=20)
        path.write_text(path.read_text() + '\n"train.learning_rate" = [1e-3, 1e30]')
        code, out, err = self.call(capsys, path, "--out", tmp_path / "runs", "--workers", "1", "--retries", "0")
        assert (code, err) == (1, "")
        assert "4 of 8 runs done, 4 failed" in out
        assert out.count("tried 1 times: at step") == 4
        assert len(list(tmp_path.glob("runs/*/failure.json"))) == 4

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["absent.toml"], "No such file"),
            (["."], "Is a directory"),
            (["bad.toml"], "bad.toml is no TOML"),
            (["long.toml"], "copy absolute seed 0: copy at scale 2000 does not fit absolute"),
            (["good.toml", "--on", "moon"], "unknown place to run 'moon'; choose from local"),
            (["good.toml", "--retries", "-1"], "--retries"),
            (["good.toml", "--out", "bad.toml/runs"], "Not a directory"),
        ],
    )
    def test_bad_input(self, tmp_path, monkeypatch, capsys, arguments, message):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "good.toml").write_text('tasks = ["copy"]\npositions = ["rpe"]')
        (tmp_path / "bad.toml").write_text("tasks")
        (tmp_path / "long.toml").write_text('tasks = ["copy"]\npositions = ["rpe", "absolute"]\ntest_scales = 2000')
        code, out, err = self.call(capsys, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
        assert len(list(tmp_path.iterdir())) == 3

    def test_extend(self, tmp_path, capsys):
        for config in configs(2):
            run(config, tmp_path)
        folders = [str(tmp_path / config.hash) for config in configs(2)]
        with pytest.raises(SystemExit) as exit:
            main(["extend", *folders, "--steps", "6", "--workers", "1", "--json"])
        captured = capsys.readouterr()
        assert (exit.value.code, captured.err) == (0, "")
        runs = json.loads(captured.out)["runs"]
        assert [run["extended_from"] for run in runs] == [config.hash for config in configs(2)]
        assert [run["steps"] for run in runs] == [6, 6]
        for arguments in ([folders[0], "--steps", "4"], [tmp_path / "x" / "y", folders[0], "--steps", "9"]):
            with pytest.raises(SystemExit) as exit:
                main(["extend", *map(str, arguments)])
            assert exit.value.code == 2
            assert capsys.readouterr().err.count("\n") == 1

    def test_extend_from_within_the_folder_of_a_run(self, tmp_path, capsys, monkeypatch):
        (config,) = configs(1)
        run(config, tmp_path)
        monkeypatch.chdir(tmp_path / config.hash)
        code, out, _ = ldhd(capsys, "extend", ".", "--steps", "6", "--json")
        assert code == 0
        assert (tmp_path / json.loads(out)["runs"][0]["hash"] / "record.json").exists()

    def test_extend_by_a_link_to_a_run(self, tmp_path, capsys):
        (config,) = configs(1)
        run(config, tmp_path / "elsewhere")
        (tmp_path / "here").mkdir()
        (tmp_path / "here" / config.hash).symlink_to(tmp_path / "elsewhere" / config.hash)
        code, out, _ = ldhd(capsys, "extend", str(tmp_path / "here" / config.hash), "--steps", "6", "--json")
        assert code == 0
        assert (tmp_path / "here" / json.loads(out)["runs"][0]["hash"] / "record.json").exists()


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from ldhd.cli import main
main(sys.argv[2:])
"""


@pytest.mark.parametrize("limit", [100, 9000])
def test_a_full_disk_is_told_and_what_is_there_stays_whole(tmp_path, limit):
    """A limit on the size of files stands for it: no lease fits in 100 bytes, no checkpoint in 9000."""
    path = sweep_file(tmp_path, steps=4)
    command = ["sweep", str(path), "--out", str(tmp_path / "runs"), "--workers", "1", "--retries", "1", "--json"]
    ended = subprocess.run(
        [sys.executable, "-c", FULL, str(limit), *command], capture_output=True, text=True, timeout=240
    )
    assert (ended.returncode, ended.stderr) == (1, "")
    failures = json.loads(ended.stdout)["failures"]
    assert [failure["attempts"] for failure in failures] == [2] * 4
    assert all("File too large" in failure["message"] for failure in failures)
    assert not [path for path in (tmp_path / "runs").rglob("*") if path.name[0] in ".~"]
    with pytest.raises(SystemExit) as exit:
        main(command)
    assert exit.value.code == 0
    assert len(results(tmp_path / "runs")) == 4


def test_a_wall_clock_that_runs_backwards(tmp_path, monkeypatch):
    """A wall clock that runs backwards while training changes nothing but `seconds`."""
    (config,) = configs(1)
    ticks = iter(range(10**6, 0, -1))
    monkeypatch.setattr(time, "time", lambda: next(ticks))
    run(config, tmp_path)
    assert RunFolder(tmp_path / config.hash).finished(config)

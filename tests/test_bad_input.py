"""Bad input as users type it: one line that says what is wrong and what is allowed, and exit code 2."""

import errno
import os
import sys

import pytest

from contracts.command import ldhd
from ldhd.cli.completion import position_names, preset_names, task_names
from ldhd.experiments import RunFolder, load_run, make_config, run
from ldhd.tasks import ALL_TASKS

TINY = {"model.dimension": 16, "model.heads": 2, "train.batch_size": 8, "train.samples": 40, "test_instances": 5}
RUN = ["run", "copy", "--position", "rpe"]
THREE = chr(0xFF13)
"""The full-width digit three, which Python's `int` takes for 3."""
OWN = """
import sys
from ldhd.tasks import TASKS, Task

copy = TASKS["copy"]
NOT_A_TASK = 3


class Raising(type(copy.latent)):
    def sample(self, scale, generator):
        return {}["absent"]

    def sample_training(self, scales, size, generator):
        return {}["absent"]


class Leaving(type(copy.latent)):
    def sample(self, scale, generator):
        sys.exit(0)

    def longest(self, scale):
        sys.exit(0)


class Refusing(type(copy.latent)):
    def sample(self, scale, generator):
        raise ValueError("no such instance")


def with_space(space):
    return Task("own", space, copy.concept, copy.format)


RAISES, LEAVES, REFUSES = with_space(Raising(10)), with_space(Leaving(10)), with_space(Refusing(10))


def MAKES():
    return RAISES


class FAILS(Task):
    def __init__(self):
        sys.exit("no task today")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a user's modules; it is the only place where something could be written."""
    (tmp_path / "own_tasks.py").write_text(OWN)
    (tmp_path / "broken.py").write_text("import math\n\nhalf = 1 / 0\n")
    (tmp_path / "leaving.py").write_text("import sys\n\nsys.exit(3)\n")
    (tmp_path / "needy.py").write_text("import a_module_that_is_nowhere\n")
    (tmp_path / "a_file").write_text("kept")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("own_tasks", "broken", "leaving", "needy"):
        sys.modules.pop(name, None)


def refused(capsys, *arguments):
    code, out, err = ldhd(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith("ldhd: error: ")
    return err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tasks", "../x:Y"], "'../x' is no module; write my_module:NAME for NAME in my_module.py here"),
        (["tasks", "own_tasks.py:RAISES"], "'own_tasks.py' is no module; write my_module:NAME"),
        (["tasks", ":Y"], "'' is no module"),
        (["tasks", "nowhere:Y"], "No module named 'nowhere'; is nowhere.py in this folder, or installed?"),
        (["tasks", "needy:Y"], "cannot load task 'needy:Y': No module named 'a_module_that_is_nowhere'"),
        (["tasks", "broken:Y"], "importing it raised ZeroDivisionError: division by zero (broken.py, line 3)"),
        (["tasks", "leaving:Y"], "importing it raised SystemExit: 3 (leaving.py, line 3)"),
        (["tasks", "own_tasks:RAISE"], "own_tasks has no attribute 'RAISE'; did you mean RAISES?"),
        (["tasks", "own_tasks:NOT_A_TASK"], "'own_tasks:NOT_A_TASK' is no task but of type int"),
        (
            ["tasks", "own_tasks:FAILS"],
            "cannot make task 'own_tasks:FAILS': SystemExit: no task today (own_tasks.py, line",
        ),
        (["tasks", "own_tasks:RAISES"], "KeyError: 'absent' (own_tasks.py, line"),
        (["tasks", "own_tasks:LEAVES"], "sys.exit(0) (own_tasks.py, line"),
        (["tasks", "own_tasks:REFUSES"], "no such instance (own_tasks.py, line"),
        (["run", "own_tasks:LEAVES", "--position", "rpe"], "sys.exit(0) (own_tasks.py, line"),
        (
            ["run", "own_tasks:RAISES", "--position", "rpe", "--workers", "1"],
            "KeyError: 'absent' (own_tasks.py, line",
        ),
        (["tasks", "copi"], "unknown task 'copi'; choose from copy, "),
        (["tasks", "copi"], "did you mean copy?"),
        (["run", "copy", "--position", "rpe-sqare"], "did you mean rpe-square?"),
        ([*RUN, "--model", "smal"], "did you mean small?"),
        ([*RUN, "--set", "train.stepz=3"], "there is no setting 'train.stepz'; there are train."),
        ([*RUN, "--set", "train.stepz=3"], "did you mean train.steps?"),
        ([*RUN, "--set", "position.max_distanse=3"], "did you mean position.max_distance?"),
        (["reproduce", "fig22"], "did you mean fig2"),
        (["verify", "theorem2"], "did you mean theorem-2?"),
        (["bench", "atention"], "did you mean attention?"),
        ([*RUN, "--set", "train.steps=abc"], "train.steps: Input should be a valid integer, got 'abc'"),
        ([*RUN, "--set", "train.steps=1.5"], "train.steps: Input should be a valid integer, got 1.5"),
        ([*RUN, "--set", "model.layers=true"], "model.layers: Input should be a valid integer, got True"),
        (
            [*RUN, "--set", "position.max_distance=abc"],
            "position.rpe.max_distance: Input should be a valid integer, got 'abc'",
        ),
        ([*RUN, "--set", "test_instances=[1]"], "test_instances: Input should be a valid integer, got [1]"),
        ([*RUN, "--steps", "many"], "'--steps': Input should be a valid integer"),
        ([*RUN, "--steps", "many"], "got 'many'"),
        ([*RUN, "--steps", THREE], f"got '{THREE}'"),
        ([*RUN, "--seeds", THREE], f"--seeds: '{THREE}' is neither a number nor a range such as 1-5"),
        ([*RUN, "--train-scales", f"1-{THREE}"], f"--train-scales: '1-{THREE}' is neither a number nor a range"),
        (["show", "copy", f"b1{THREE}="], f"must be one or more digits below 10, got '1{THREE}'"),
        ([*RUN, "--out", ""], "--out"),
        ([*RUN, "--out", ""], "a file or a folder to write needs a name, got ''"),
        (["report", "results", "-o", ""], "a file or a folder to write needs a name, got ''"),
        (["reproduce", "fig2a", "--out", ""], "a file or a folder to write needs a name, got ''"),
        ([*RUN, "--out", "a_file", "--workers", "1"], "a_file"),
        (["reproduce", "fig2a", "--out", "a_file"], "a_file: it is no folder"),
        ([*RUN, "--out", "a_file/runs", "--workers", "1"], "a_file/runs: Not a directory"),
    ],
)
def test_one_line_and_nothing_written(folder, capsys, arguments, message):
    before = {path.name for path in folder.iterdir()} | {"__pycache__"}
    assert message in refused(capsys, *arguments)
    assert {path.name for path in folder.iterdir()} <= before | {"runs"}
    assert not list(folder.glob("runs/*/record.json"))
    assert (folder / "a_file").read_text() == "kept"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "copy", f"b{'7' * 3000}="], "to look at the attention over 6003 tokens would need"),
        ([*RUN, "--test-scales", "1-5,9000"], "decoding a string of 18003 tokens would need"),
        ([*RUN, "--model", "small", "--test-scales", "3000"], "to look at the attention over 6003 tokens would need"),
        (
            [*RUN, "--set", "train.batch_size=1000000"],
            "the attention of a batch of 1000000 strings of up to 13 tokens would",
        ),
        ([*RUN, "--model", "gpt2", "--set", "model.dimension=12000"], "a model of"),
    ],
)
def test_want_of_memory_is_foreseen(folder, capsys, monkeypatch, arguments, message):
    monkeypatch.setattr("ldhd.boolean.memory.memory_limit", lambda: 2**30)
    assert message in refused(capsys, *arguments)


def finished(out):
    config = make_config("copy", "rpe", steps=2, train_scales=(1, 2), test_scales=(1, 3), settings=TINY)
    run(config, str(out))
    return out / config.hash


def test_missing_weights_are_those_of_the_last_checkpoint(tmp_path, capsys):
    path = finished(tmp_path)
    expected = load_run(str(path))[2].state_dict()  # a text is a path too
    (path / "model.safetensors").unlink()
    with pytest.warns(
        UserWarning, match=r"model\.safetensors is missing; its weights are those of the last checkpoint"
    ):
        found = load_run(path)[2].state_dict()
    assert all((found[name] == expected[name]).all() for name in expected)
    assert (path / "model.safetensors").exists()
    for file in (path / "model.safetensors", *(path / "checkpoints").iterdir()):
        file.unlink()
    assert "was kept without its weights" in refused(capsys, "show", path, "b1=")
    RunFolder(path).record_path.unlink()
    assert "is not finished: it has no model.safetensors" in refused(capsys, "show", path, "b1=")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_disk_that_takes_nothing_is_named(code, folder, capsys, monkeypatch):
    def refuse(dir, prefix):
        raise OSError(code, os.strerror(code), f"{dir}/{prefix}abcdefgh")

    monkeypatch.setattr("ldhd.files.tempfile.mkstemp", refuse)
    err = refused(capsys, "run", "copy", "--position", "rpe", "--workers", "1", "--out", folder / "runs")
    assert f"{folder}/runs/" in err
    assert "config.json" in err
    assert "abcdefgh" not in err
    assert os.strerror(code) in err


@pytest.mark.parametrize("name", ["record.json", "config.json", "model.safetensors"])
def test_a_folder_in_place_of_a_file_of_a_run(tmp_path, capsys, name):
    hash_ = make_config("copy", "rpe").hash
    (tmp_path / hash_ / name).mkdir(parents=True)
    err = refused(capsys, "run", "copy", "--position", "rpe", "--workers", "1", "--out", tmp_path)
    assert f"{tmp_path / hash_ / name} is a folder where a file has to be written; move it away" in err
    assert "written again" not in err


def test_bench_names_all_benchmarks(capsys):
    from ldhd.bench import BENCHMARKS

    shown = " ".join(ldhd(capsys, "bench", "--help")[1].split())
    assert all(f"{name}," in shown or f"or {name}." in shown or f"{name} or" in shown for name in BENCHMARKS)


def test_names_are_completed():
    assert task_names("par") == ["parity", "parity-direct"]
    assert {*ALL_TASKS} == {*task_names("")}
    assert position_names("rpe-s") == ["rpe-square"]
    assert position_names("rope,rpe-square+rpe-a") == ["rope,rpe-square+rpe-absolute"]
    assert preset_names("fig2") == ["fig2a", "fig2b", "fig2c", "fig2d"]


def test_the_shell_asks_for_completions(monkeypatch, capsys):
    monkeypatch.setenv("_LDHD_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "ldhd run multi")
    monkeypatch.setenv("COMP_CWORD", "2")
    monkeypatch.setattr(sys, "argv", ["ldhd"])
    _, out, _ = ldhd(capsys)
    assert out.split() == ["multiplication"]

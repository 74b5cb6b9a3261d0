"""`ldhd list` and `ldhd compare`."""

import json
import re

import pytest

from contracts.command import ldhd
from ldhd.experiments import Failure, RunFolder
from ldhd.experiments.studies import read_runs
from report.samples import config_of, metrics_of, record_of, write_run


@pytest.fixture
def runs(tmp_path):
    """Six runs: three finished seeds of one setting and one of another, one that failed, one that has not begun."""
    scales = {"train_scales": (1, 2, 3, 4, 5)}
    made = [
        (config_of(seed=seed, test_scales=(1, 2, 3, 4, 5, 9), **scales), exact)
        for seed, exact in enumerate((1.0, 0.25, 0.5))
    ]
    other = {"test_scales": (1, 2, 3, 4, 5, 10), "settings": {"train.warmup": 0.1}}
    made.append((config_of("parity", "rpe", **scales, **other), 0.0))
    for config, beyond in made:
        write_run(tmp_path, config, record_of(config, beyond=beyond), metrics_of())
    failed, waiting = config_of("copy", "rpe"), config_of("copy", "alibi")
    for config in (failed, waiting):
        RunFolder(tmp_path / config.hash).prepare(config)
    RunFolder(tmp_path / failed.hash).write_failure(Failure(failed.hash, failed.label, "a reason", 1))
    return tmp_path


def listed(capsys, *arguments):
    code, out, err = ldhd(capsys, "list", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)["runs"]


def test_every_run_is_listed_with_its_state(runs, capsys):
    rows = listed(capsys, runs)
    assert sorted(row["state"] for row in rows) == ["failed", *["finished"] * 4, "step 0 of 400"]
    assert {row["run"] for row in rows} == {path.name for path in runs.iterdir()}
    code, out, _ = ldhd(capsys, "list", runs)
    assert code == 0
    assert "6 runs" in out


@pytest.mark.parametrize(
    ("conditions", "seeds"),
    [
        (["task=copy", "state=finished"], [0, 1, 2]),
        (["position=rpe*", "exact>=0.5"], [0, 2]),
        (["exact<0.5", "exact>0"], [1]),
        (["train.warmup=0.1"], [0]),
        (["seed<=1", "task=copy", "fitted=true"], [0, 1]),
        (["train_scales=1-5", "position=rpe-square"], [0, 1, 2]),
        (["position=nothing"], []),
    ],
)
def test_conditions_choose(runs, capsys, conditions, seeds):
    given = [word for condition in conditions for word in ("--where", condition)]
    assert sorted(row["seed"] for row in listed(capsys, runs, *given)) == seeds


def test_runs_are_sorted_and_those_without_a_value_come_last(runs, capsys):
    assert [row["exact"] for row in listed(capsys, runs, "--sort", "exact")] == [0.0, 0.25, 0.5, 1.0, None, None]
    falling = listed(capsys, runs, "--sort", "exact", "--descending")
    assert [row["exact"] for row in falling] == [1.0, 0.5, 0.25, 0.0, None, None]
    by_task = listed(capsys, runs, "--sort", "task")
    assert [row["task"] for row in by_task] == [*["copy"] * 5, "parity"]


def test_settings_that_differ_are_shown(tmp_path, runs, capsys):
    _, out, _ = ldhd(capsys, "list", runs, "--where", "position=rpe-square")
    assert "train." not in out
    config = config_of("copy", "rpe-square", steps=8, test_scales=(1, 2, 3, 4, 5, 9), train_scales=(1, 2, 3, 4, 5))
    RunFolder(runs / config.hash).prepare(config)
    _, out, _ = ldhd(capsys, "list", runs, "--where", "position=rpe-square")
    assert out.count("train.steps=400") == 3
    assert out.count("train.steps=8") == 1


@pytest.mark.parametrize("width", [80, 100])
def test_the_list_is_readable_in_a_terminal(tmp_path, capsys, monkeypatch, width):
    """Names stay whole, and settings too long for the table are folded between words in a table of their own."""
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    changed = {"train.weight_decay": 0.25, "train.learning_rate": 0.003, "position.latent-window.window": 2}
    made = [config_of("multiplication", "latent-window", seed=seed, settings=changed) for seed in (0, 1)]
    made += [config_of("multiplication", "latent-window"), config_of("copy", "rpe")]
    for config in made:
        RunFolder(tmp_path / config.hash).prepare(config)
    code, out, _ = ldhd(capsys, "list", tmp_path)
    lines = [re.sub("\x1b\\[[0-9;]*m", "", line).rstrip() for line in out.splitlines()]
    assert code == 0
    assert max(map(len, lines)) <= width
    assert lines[0] == "4 runs, state step 0 of 400, scale 8"
    words = " ".join(lines).replace(",", " ").split()
    assert words.count("multiplication") == words.count("latent-window") == 3
    assert {config.hash for config in made} <= set(words)
    # two seeds share one set of settings
    assert words.count("window=2") == words.count("train.weight_decay=0.25") == 1


def test_compare_shows_settings_and_scales(runs, capsys):
    rows = {(row["task"], row["seed"]): row for row in listed(capsys, runs, "--where", "state=finished")}
    names = [rows["copy", 1]["run"], rows["parity", 0]["run"]]
    code, out, err = ldhd(capsys, "compare", *(runs / name for name in names), "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["runs"] == names
    assert document["differences"]["task"] == ["copy", "parity"]
    assert document["differences"]["train.warmup"] == [0.05, 0.1]
    assert document["differences"]["seed"] == [1, 0]
    assert "train.steps" not in document["differences"]
    by_scale = {row["scale"]: row["exact"] for row in document["results"]}
    assert by_scale[9] == [0.25, None]
    assert by_scale[10] == [None, 0.0]
    waiting = next(row["run"] for row in listed(capsys, runs) if row["state"] == "step 0 of 400")
    assert ldhd(capsys, "compare", runs / waiting) == (
        2,
        "",
        f"ldhd: error: the run at {runs / waiting} is not finished\n",
    )
    _, out, _ = ldhd(capsys, "compare", *(runs / name for name in names))
    assert "settings that differ" in out
    assert "exact match in %" in out
    _, out, _ = ldhd(capsys, "compare", runs / names[0], runs / names[0])
    assert "no setting differs" in out


def test_a_run_of_a_packed_study_is_compared(runs, capsys):
    assert ldhd(capsys, "pack", runs)[0] == 0
    names = [run.record.hash for run in read_runs(runs)]
    code, out, _ = ldhd(capsys, "compare", *(runs / name for name in names), "--json")
    assert code == 0
    assert json.loads(out)["runs"] == names


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "nowhere"], "there is no such folder"),
        (["list", "--where", "task"], "--where takes a condition such as task=copy"),
        (["list", "--where", "taks=copy"], "no run has 'taks'"),
        (["list", "--where", "taks=copy"], "did you mean task?"),
        (["list", "--where", "exact>much"], "'much' is no number"),
        (["list", "--sort", "exakt"], "did you mean exact?"),
        (["compare", "nowhere"], "no run at nowhere"),
    ],
)
def test_wrong_use_is_one_line(runs, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(runs.parent)
    if arguments[0] == "list" and len(arguments) > 2:
        arguments = [*arguments, runs]
    code, out, err = ldhd(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err

"""The command line as a user types it."""

import json
import re
import subprocess
import sys

import pytest

from contracts.command import ldhd
from ldhd import __version__
from ldhd.experiments import make_config
from ldhd.report.output import figure_name
from ldhd.tasks import TASKS

TINY = ["--steps", "3", "--workers", "1", "--set", "model.dimension=16", "--set", "model.heads=2"]
TINY += ["--set", "train.batch_size=8", "--set", "train.samples=40", "--set", "test_instances=5"]


@pytest.fixture
def finished(tmp_path, capsys):
    """The folder of one finished run."""
    code, out, _ = ldhd(
        capsys, "run", "copy", "--position", "rpe-square", *TINY, "--out", tmp_path, "--test-scales", "1-3", "--json"
    )
    assert code == 0
    return tmp_path / json.loads(out)["runs"][0]["hash"]


def test_help_and_module():
    run = subprocess.run([sys.executable, "-m", "ldhd"], capture_output=True, text=True, timeout=120, check=True)
    for command in ("run", "evaluate", "show", "tasks", "positions", "demo"):
        assert f"  {command} " in run.stdout
    assert run.stderr == ""


def test_version_and_short_help(capsys):
    assert ldhd(capsys, "--version") == (0, f"ldhd {__version__}\n", "")
    for arguments in (["-h"], ["run", "-h"]):
        code, out, err = ldhd(capsys, *arguments)
        assert (code, err) == (0, "")
        assert out == ldhd(capsys, *arguments[:-1], "--help")[1]


def test_summaries_of_commands_are_whole(capsys):
    _, out, _ = ldhd(capsys, "-h")
    assert "..." not in out.split("Commands:")[1]
    assert max(map(len, out.splitlines())) <= 80


def test_reasons_of_predictions_have_room_in_100_columns(monkeypatch, capsys):
    from rich.console import Console

    monkeypatch.setattr("ldhd.report.terminal.PIPE_WIDTH", 100)
    monkeypatch.setattr("ldhd.report.terminal.console", lambda **options: Console(**options))
    code, out, _ = ldhd(capsys, "predict", "copy", "--position", "rpe-square,rpe-absolute,latent-window")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 100
    assert "made without training, task copy, trained on 1-5" in out
    assert "\u2026" not in out  # a reason is folded, not cut


def test_run_prints_a_table_and_makes_a_figure(tmp_path, capsys):
    arguments = ["run", "copy", "--position", "rpe,rpe-square", *TINY, "--seeds", "0-1", "--out", tmp_path]
    code, out, err = ldhd(capsys, *arguments, "--test-scales", "1-6")
    assert (code, err) == (0, "")
    assert "exact match in % by scale" in out
    assert "of each answer token" in out
    assert out.count("rpe-square seed") == 2
    (figure,) = tmp_path.glob("copy-rpe-rpe-square-*.png")
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert f"figure: {figure}" in out


def test_figures_of_different_settings_have_different_names():
    def name(seed=0, **options):
        return figure_name([make_config("copy", "rpe", seed=seed, built=False, **options)])

    assert name() == name(seed=7) == "copy-rpe.png"
    others = {name(steps=5), name(model="base"), name(test_scales=(1, 2)), name(settings={"position.max_distance": 2})}
    assert len(others) == 4
    assert all(re.fullmatch(r"copy-rpe-[0-9a-f]{8}\.png", other) for other in others)
    both = [make_config("copy", position, built=False) for position in ("rpe", "rope")]
    assert figure_name(both) == "copy-rpe-rope.png"


def test_run_json_is_the_contract(tmp_path, capsys):
    arguments = ["run", "addition", "--position", "rpe-square", *TINY, "--out", tmp_path, "--json"]
    code, out, err = ldhd(capsys, *arguments, "--train-scales", "1-2", "--test-scales", "1-3")
    assert (code, err) == (0, "")
    (record,) = json.loads(out)["runs"]
    assert record == json.loads((tmp_path / record["hash"] / "record.json").read_text())
    assert record["train_scales"] == [1, 2]
    assert [result["scale"] for result in record["results"]] == [1, 2, 3]
    assert record["command"].startswith("ldhd run addition --position rpe-square --steps 3 ")


def test_evaluate_at_new_scales(finished, capsys):
    code, out, _ = ldhd(capsys, "evaluate", finished, "--test-scales", "2,12", "--instances", "7", "--json")
    assert code == 0
    assert [(result["scale"], result["n"]) for result in json.loads(out)["results"]] == [(2, 7), (12, 7)]
    code, out, _ = ldhd(capsys, "evaluate", finished, "--test-scales", "4")
    assert code == 0
    assert "95 % interval" in out


def test_show(finished, capsys):
    code, out, _ = ldhd(capsys, "show", finished, "b407=", "--json")
    shown = json.loads(out)
    assert code == 0
    assert (shown["prompt"], shown["answer"]) == ("b407=", "407e")
    assert shown["correct"] == (shown["output"] == "407e")
    assert shown["needs"] == [{"x": 1}, {"x": 2}, {"x": 3}, {"x": None}]
    assert len(shown["attention_on_needs"]) == 4
    assert len(shown["anchors"][0]) == 2
    assert len(shown["anchors"][0][0]) == 8
    code, out, _ = ldhd(capsys, "show", finished, "b407=")
    assert "first error at token" in out or "correct" in out
    assert "anchors" in out


def test_tasks(capsys):
    code, out, _ = ldhd(capsys, "tasks", "--json")
    assert code == 0
    assert len(json.loads(out)["tasks"]) == len(TASKS)
    code, out, _ = ldhd(capsys, "tasks", "copy", "--scale", "7", "--seed", "0", "--json")
    examples = json.loads(out)["examples"]
    assert [example["scale"] for example in examples] == [7, 7, 7]
    again = json.loads(ldhd(capsys, "tasks", "copy", "--scale", "7", "--seed", "0", "--json")[1])
    assert again["examples"] == examples
    assert "needs" in ldhd(capsys, "tasks", "addition")[1]
    assert "addition-mod10" in ldhd(capsys, "tasks")[1]


def test_positions(capsys):
    code, out, _ = ldhd(capsys, "positions", "--json")
    assert code == 0
    rows = {row["position"]: row for row in json.loads(out)["positions"]}
    assert rows["rpe-square"]["options"]["projections"] == "key"
    assert "S[j, l] S[i, k] R_{(j-l)-(i-k)}" in rows["rpe-square"]["formula"]
    assert "rpe-square" in ldhd(capsys, "positions")[1]


RUN = ["run", "copy", "--position", "rpe"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rum"], "No such command 'rum'"),
        (["run"], "Missing argument 'TASK'"),
        (["run", "copy"], "Missing option '--position'"),
        (["run", "primes", "--position", "rpe"], "unknown task 'primes'; choose from copy, addition,"),
        (["run", "copy", "--position", "rpe-cube"], "unknown position 'rpe-cube'; choose from none, absolute,"),
        (["run", "copy", "--position", ""], "unknown position ''"),
        (["run", "copy", "--position", "rpe,rpe"], "named twice"),
        ([*RUN, "--train-scales", "0"], "--train-scales: values start at 1, got 0"),
        ([*RUN, "--test-scales", "5-1"], "--test-scales: '5-1' runs backwards; write 1-5"),
        ([*RUN, "--train-scales", ""], "--train-scales: '' is neither a number nor a range"),
        (["run", "copy", "--position", "rpe,absolute", "--test-scales", "1-2,2000"], "does not fit absolute"),
        ([*RUN, "--threads", "99999999999"], "--threads"),
        ([*RUN, "--set", "position.max_distance=100000000000"], "ldhd: error"),
        ([*RUN, "--set", "train.learning_rate=Infinity"], "train.learning_rate: Input should be a finite number"),
        (["tasks", "copy", "--scale", "99999999999999"], "--scale"),
        ([*RUN, "--seeds", "x"], "--seeds: 'x' is neither a number nor a range"),
        ([*RUN, "--steps", "0"], "--steps"),
        ([*RUN, "--steps", "many"], "--steps"),
        ([*RUN, "--model", "huge"], "unknown model 'huge'; choose from small"),
        ([*RUN, "--set", "train.learning_rate=-1"], "train.learning_rate: Input should be greater than 0"),
        ([*RUN, "--set", "position.colour=1"], "no position asked for has position.colour"),
        ([*RUN, "--set", "steps"], "--set takes KEY=VALUE"),
        ([*RUN, "--device", "tpu"], "device: a device is 'cpu', 'cuda', 'cuda:INDEX' or 'mps', got 'tpu'"),
        (["tasks", "copy", "--scale", "0"], "--scale"),
        (["tasks", "juggling"], "unknown task 'juggling'"),
        (["tasks", "no_such_module:Task"], "cannot load task"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = ldhd(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert err.startswith("ldhd: error: ")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


class TestBadFolders:
    """Folders that are absent, in the way, or damaged."""

    def refused(self, capsys, *arguments):
        code, out, err = ldhd(capsys, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        return err

    def test_absent_run(self, tmp_path, capsys):
        for command in (["evaluate", tmp_path / "no", "--test-scales", "3"], ["show", tmp_path / "no", "b1="]):
            assert "there is no such folder" in self.refused(capsys, *command)

    def test_a_folder_that_is_no_run(self, tmp_path, capsys):
        assert "holds no config.json" in self.refused(capsys, "show", tmp_path, "b1=")

    def test_a_path_under_a_regular_file(self, tmp_path, capsys):
        (tmp_path / "file").write_text("kept")
        err = self.refused(capsys, *RUN, *TINY, "--out", tmp_path / "file" / "runs")
        assert "file" in err
        assert (tmp_path / "file").read_text() == "kept"
        assert "there is no such folder" in self.refused(capsys, "show", tmp_path / "file", "b1=")

    def test_the_same_with_workers(self, tmp_path, capsys):
        (tmp_path / "file").write_text("kept")
        demo = [sys.executable, "-m", "ldhd", "demo", "--out", str(tmp_path / "file" / "x")]
        run = subprocess.run(demo, capture_output=True, text=True, timeout=120)
        assert (run.returncode, run.stderr.count("\n")) == (2, 1), run.stderr

    def test_a_prompt_of_another_task(self, finished, capsys):
        assert "must be one or more digits" in self.refused(capsys, "show", finished, "b1+2=")

    def test_scales_beyond_a_table(self, tmp_path, capsys):
        arguments = ["run", "copy", "--position", "absolute", *TINY, "--out", tmp_path, "--test-scales", "1-3,100"]
        err = self.refused(capsys, *arguments, "--set", "position.table_size=30")
        assert "copy at scale 100 does not fit absolute: a string of 202 tokens is longer than the table of 30" in err
        assert list(tmp_path.iterdir()) == []

    def test_damaged_weights_without_a_checkpoint(self, finished, capsys):
        for path in (finished / "checkpoints").iterdir():
            path.unlink()
        weights = finished / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-1])
        assert "model.safetensors is not a whole" in self.refused(capsys, "show", finished, "b1=")

    def test_a_damaged_config(self, finished, capsys):
        (finished / "config.json").write_text('{"task": "copy", "unknown": 1}')
        assert "config.json cannot be read by this version" in self.refused(capsys, "show", finished, "b1=")
        (finished / "config.json").write_text('{"task": "co')
        assert "config.json is not whole" in self.refused(capsys, "evaluate", finished, "--test-scales", "2")


def test_a_finished_run_is_read_not_repeated(finished, capsys):
    before = {path: path.stat().st_mtime_ns for path in finished.iterdir()}
    arguments = ["run", "copy", "--position", "rpe-square", *TINY, "--out", finished.parent, "--test-scales", "1-3"]
    assert ldhd(capsys, *arguments)[0] == 0
    assert {path: path.stat().st_mtime_ns for path in finished.iterdir()} == before


def test_reproduce_lists_what_there_is(capsys):
    code, out, err = ldhd(capsys, "reproduce", "--list")
    assert (code, err) == (0, "")
    for name in ("fig1", "fig2a", "fig8", "cot", "priming"):
        assert f" {name} " in out
    code, out, _ = ldhd(capsys, "reproduce", "--size", "paper", "--json")
    rows = {row["preset"]: row for row in json.loads(out)["presets"]}
    assert any("steps" in assumed for assumed in rows["fig5"]["assumed"])
    _, out, _ = ldhd(capsys, "reproduce", "fig2", "--list", "--json")
    assert [row["preset"] for row in json.loads(out)["presets"]] == ["fig2a", "fig2b", "fig2c", "fig2d"]
    code, _, err = ldhd(capsys, "reproduce", "fig99", "--list")
    assert (code, err.count("\n")) == (2, 1)


def test_the_time_of_a_preset_is_that_of_its_stored_runs_scaled_up(capsys, monkeypatch):
    found = {"preset": "fig4", "seeds": [0], "runs": ["one", "two"], "seconds": 60.0, "outcomes": []}
    monkeypatch.setattr("ldhd.report.listing.stored", lambda preset, size: {**found, "preset": preset.name})
    _, out, _ = ldhd(capsys, "reproduce", "--list", "--size", "full", "--json")
    rows = {row["preset"]: row for row in json.loads(out)["presets"]}
    assert rows["fig4"]["runs"] == 30
    assert rows["fig4"]["expected_seconds"] == 15 * 60
    assert rows["peers"]["expected_seconds"] == 30 * rows["peers"]["runs"]
    assert rows["peers"]["stored"] == "drawn; 1 of 3 seeds"


def test_reproduce_runs_draws_and_compares(tmp_path, capsys):
    arguments = ["reproduce", "fig1", "fig2a", "fig2b", "--steps", "2", "--workers", "1", "--out", tmp_path]
    code, out, _ = ldhd(capsys, *arguments)
    assert code == 0
    assert "does not fit" in out  # after two steps
    assert out.count("too short to judge") == 2  # fewer steps than the presets ask for
    assert "one seed" in out
    for name in ("fig1", "fig2a", "fig2b"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    code, out, _ = ldhd(capsys, *arguments, "--json")
    written = json.loads(out)["presets"][1]
    assert (written["preset"], written["size"], written["seeds"]) == ("fig2a", "quick", [0])
    kept = json.loads((tmp_path / "fig2a.json").read_text())
    assert kept["outcomes"] == written["outcomes"]
    assert (tmp_path / written["runs"][0] / "record.json").exists()
    assert "<html" in (tmp_path / "report.html").read_text()


def test_reproduce_draws_what_is_finished(tmp_path, capsys):
    small = ["reproduce", "fig2a", "--steps", "2", "--size", "full", "--workers", "1", "--out", tmp_path]
    code, _, err = ldhd(capsys, *small, "--finished")
    assert (code, err) == (2, f"ldhd: error: none of the 5 runs is finished in {tmp_path}\n")
    assert not list(tmp_path.iterdir())
    ldhd(capsys, *small, "--seeds", "1-2")
    code, out, _ = ldhd(capsys, *small, "--finished", "--json")
    assert code == 0
    (written,) = json.loads(out)["presets"]
    assert (written["seeds"], len(written["runs"]), written["outcomes"][0]["seeds"]) == ([1, 2], 2, 2)
    code, out, err = ldhd(capsys, *small, "fig2b", "--finished", "--json")
    assert [document["preset"] for document in json.loads(out)["presets"]] == ["fig2a"]
    assert (code, err) == (0, "nothing is finished of fig2b; left as it is\n")
    assert not (tmp_path / "fig2b.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["fig9"], "fig9"), (["fig2a", "--size", "huge"], "huge"), (["--list", "--size", "huge"], "huge")],
)
def test_reproduce_refuses_what_it_does_not_know(tmp_path, capsys, arguments, message):
    code, out, err = ldhd(capsys, "reproduce", *arguments, "--out", tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith("ldhd: error: ")
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []

"""`ldhd bias-task` as a user types it."""

import json

import pytest

from contracts.command import ldhd

TINY = ["--base", "2", "--train-scale", "2", "--scale", "3"]
BRIEF = ["--set", "train.steps=3", "--set", "train.batch_size=8", "--set", "model.dimension=16"]


def bias_task(capsys, *arguments):
    code, out, err = ldhd(capsys, "bias-task", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_words(capsys, tmp_path):
    arguments = *TINY, *BRIEF, "--position", "rpe,none", "--priming", "0,1", "--seeds", "0-1", "--out", tmp_path
    code, out, err = ldhd(capsys, "bias-task", "copy", *arguments)
    assert (code, err) == (0, "")
    for part in ("copy, none, trained on scales 1-2 of 3, primed words: 1", "token 3", "beyond N0", "right, by scale"):
        assert part in out
    assert {path.name for path in tmp_path.iterdir()} == {"tasks.jsonl", "tasks.png"}


def test_nothing_runs_twice(capsys, tmp_path, monkeypatch):
    arguments = "copy", *TINY, *BRIEF, "--seeds", "0-1", "--out", tmp_path
    first = bias_task(capsys, *arguments)
    assert [cell["seed"] for cell in first["cells"]] == [0, 1]
    assert [moment["step"] for moment in first["cells"][0]["path"]] == [1, 3]
    (group,) = first["groups"]
    assert [part["name"] for part in group["parts"]] == ["token 1", "token 2", "token 3"]
    monkeypatch.setattr("ldhd.bias.task_cells.run_cell", lambda spec: pytest.fail("it was measured before"))
    assert bias_task(capsys, *arguments) == first


def test_widths_are_groups_of_their_own(capsys, tmp_path):
    arguments = "copy", *TINY, *BRIEF[:4], "--width", "8,16", "--seeds", "0", "--out", tmp_path
    first, second = bias_task(capsys, *arguments)["groups"]
    assert first["name"].endswith("model.dimension=8")
    assert second["name"].endswith("model.dimension=16")


def test_steps(capsys, tmp_path):
    arguments = "--cube", "steps", *TINY, *BRIEF, "--seeds", "0"
    (group,) = bias_task(capsys, "parity", *arguments)["groups"]
    assert [part["degrees"]["concept"] for part in group["parts"]] == [1, 2, 2]
    assert [part["degrees"]["answer"] for part in group["parts"]] == [1, 2, 3]
    assert [part["trained"] for part in group["parts"]] == [True, True, False]
    (group,) = bias_task(capsys, "parity-direct", *arguments)["groups"]
    assert [part["degrees"]["concept"] for part in group["parts"]] == [1, 2, 3]
    assert all(part["agreement"] == {} for part in group["parts"])  # every string is one that the task poses


def test_the_report_shows_the_figure(capsys, tmp_path):
    bias_task(capsys, "copy", *TINY, *BRIEF, "--seeds", "0", "--out", tmp_path / "bias")
    page = tmp_path / "report.html"
    code, _, _ = ldhd(capsys, "report", tmp_path, "--bias", tmp_path / "bias", "-o", page)
    assert code == 0
    assert "On the words of a task" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["addition"], "addition does not read one string of symbols"),
        (["nothing"], "unknown task 'nothing'"),
        (["copy", "--base", "3"], "the symbols of copy are 2, 4, 8: a power of two, got 3"),
        (["parity", "--base", "4"], "the symbols of parity are 2: a power of two, got 4"),
        (["copy", "--train-scale", "8"], "N0 = 1 .. N = 7, got N0 = 8"),
        (["copy", "--scale", "10"], "10 symbols take 20 variables, at most 18"),
        (["copy", "--cube", "spheres"], "the cube is words or steps, got 'spheres'"),
        (["copy", "--cube", "steps"], "all strings of scale 7 take 26 variables, at most 16"),
        (["parity", "--cube", "steps", "--priming", "1"], "priming is for the cube of words"),
        (["copy", "--priming", "1", "--scale", "5"], "N0 must be below N"),
        (["copy", "--priming", "99", "--base", "2"], "there are 64 words of scale 7 to prime with, got 99"),
        (["copy", "--position", "rpee"], "unknown position 'rpee'"),
        (["copy", "--width", "18"], "dimension 18 is not a multiple of heads 4"),
        (["modular-sum"], "not of the symbols 0 .. 3 alone"),
    ],
)
def test_bad_input(capsys, arguments, message):
    code, out, err = ldhd(capsys, "bias-task", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("ldhd: error: ")
    assert err.count("\n") == 1
    assert message in err

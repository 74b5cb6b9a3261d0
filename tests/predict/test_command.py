"""`ldhd predict`, `ldhd design` and `ldhd register` as a user types them."""

import json
from itertools import product

import pytest

from contracts.command import ldhd
from ldhd.positions import POSITIONS
from ldhd.predict import ASSUMPTIONS, Constraint
from ldhd.report.theory import marks
from ldhd.tasks import TASKS

REVERSAL = 'format = "b x:n = z:n e"\n[needs]\nx = "x[n-1-t]"\n'


def test_predict_prints_a_table_with_reasons_and_assumptions(capsys):
    code, out, err = ldhd(capsys, "predict", "copy", "--position", "rpe,rpe-square")
    assert (code, err) == (0, "")
    assert out.count("generalises") >= 2
    assert out.count("fails") >= 2
    assert "no attention score is right" in " ".join(out.split())
    assert ASSUMPTIONS[1][:40] in out


def test_explain_marks_the_tokens(capsys):
    _, out, _ = ldhd(
        capsys,
        "predict",
        "copy",
        "--position",
        "abacus",
        "--set",
        "position.max_offset=0",
        "--layers",
        "1",
        "--explain",
    )
    lines = out.splitlines()
    (place,) = [k for k, line in enumerate(lines) if "test string of scale 6" in line]
    shown, marked = lines[place].split()[0], lines[place + 1][4:]
    assert shown == "b000000=000000e"
    assert (marked.index("^"), marked.index("?")) == (6, 12)


def test_json_is_the_contract(capsys):
    code, out, _ = ldhd(capsys, "predict", "addition", "--position", "rpe", "--layers", "2", "--json")
    (found,) = json.loads(out)["predictions"]
    assert code == 0
    named = ("task", "position", "layers", "train_scales", "test_scales", "verdict")
    assert [found[name] for name in named] == ["addition", "rpe", 2, [1, 2, 3, 4], [*range(1, 11)], "fails"]
    assert set(found["slots"]) == {"x", "y", "x_previous", "y_previous", "z_previous"}
    assert found["witness"]["kind"] == "conflict"
    assert found["max_scale"] == 0
    assert 0 <= found["risk"] <= 1
    assert found["position_options"]["rpe"]["max_distance"] == 1024


def test_everything_is_predicted_at_once(capsys):
    code, out, _ = ldhd(
        capsys, "predict", "all", "--layers", "1", "--test-scales", "1-3", "--train-scales", "1-2", "--json"
    )
    assert code == 0
    found = [(prediction["task"], prediction["position"]) for prediction in json.loads(out)["predictions"]]
    enumerable = {name for name, kind in POSITIONS.items() if kind.enumerable}
    assert {"none", "rpe-square", "latent-window"} < enumerable
    assert "fire" not in enumerable
    assert sorted(found) == sorted(product(TASKS, {*enumerable, "rpe-square+rpe-absolute"}))


def test_a_description(tmp_path, capsys):
    (tmp_path / "reversal.toml").write_text(REVERSAL)
    code, out, _ = ldhd(capsys, "predict", tmp_path / "reversal.toml", "--position", "rpe-square", "--json")
    assert code == 0
    assert {found["softmax"] for found in json.loads(out)["predictions"]} == {"fails"}
    code, out, _ = ldhd(capsys, "design", tmp_path / "reversal.toml")
    assert code == 0
    assert "the `=` after it" in out


def test_design(capsys):
    code, out, _ = ldhd(capsys, "design", "copy", "--test-scales", "1-7", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["slots"]["x"]["kept"] == [-1]
    assert found["embeddings"]["rpe-square"] == {"refines": True, "verdict": "generalises"}
    assert found["embeddings"]["rpe"] == {"refines": False, "verdict": "fails"}


def test_the_designed_class_is_ready_to_predict_and_to_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    code, out, _ = ldhd(capsys, "design", "reversal")
    assert code == 0
    assert "--position my_file:Mirror" in out
    text = json.loads(ldhd(capsys, "design", "reversal", "--json")[1])["module"]
    assert text in out
    (tmp_path / "my_file.py").write_text(text)
    code, out, _ = ldhd(
        capsys, "predict", "reversal", "--position", "my_file:Mirror,rpe-square", "--layers", "1", "--json"
    )
    assert [found["verdict"] for found in json.loads(out)["predictions"]] == ["generalises", "does not fit"]
    tiny = ["--steps", "2", "--workers", "1", "--set", "model.dimension=16", "--set", "train.batch_size=4"]
    tiny += ["--set", "train.samples=8", "--set", "test_instances=1", "--test-scales", "1-2", "--out", "runs"]
    assert ldhd(capsys, "run", "reversal", "--position", "my_file:Mirror", *tiny)[0] == 0
    (record,) = (tmp_path / "runs").glob("*/record.json")
    assert json.loads(record.read_text())["position"] == "my_file:Mirror"


def test_no_class_is_shown_where_an_embedding_generalises(capsys):
    assert "my_file" not in ldhd(capsys, "design", "copy", "--test-scales", "1-7")[1]


def test_measured_runs_are_compared(tmp_path, capsys):
    tiny = ["--steps", "1", "--workers", "1", "--set", "model.dimension=16", "--set", "model.heads=2"]
    tiny += ["--set", "train.batch_size=4", "--set", "train.samples=8", "--set", "test_instances=1"]
    assert ldhd(capsys, "run", "copy", "--position", "rpe", *tiny, "--test-scales", "1-2", "--out", tmp_path)[0] == 0
    arguments = ["predict", "copy", "--position", "rpe", "--layers", "1", "--measured", tmp_path]
    found = json.loads(ldhd(capsys, *arguments, "--json")[1])
    assert [row["measured"] for row in found["comparisons"]] == ["too few seeds"]
    assert set(found["counts"]) == {"in-sample", "out-of-sample"}
    assert "predicted and measured" in ldhd(capsys, *arguments)[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict"], "Missing argument 'TASK'"),
        (["predict", "juggling"], "unknown task 'juggling'"),
        (["predict", "copy", "--position", "rpe-cube"], "unknown position 'rpe-cube'"),
        (["predict", "copy", "--layers", "0"], "--layers: values start at 1"),
        (["predict", "copy", "--test-scales", "x"], "--test-scales: 'x' is neither"),
        (["predict", "copy", "--set", "train.steps=3"], "a prediction takes settings position.X, got train.steps"),
        (
            ["predict", "copy", "--position", "absolute", "--test-scales", "1,2000"],
            "copy with absolute: absolute: a string",
        ),
        (["predict", "absent.toml"], "cannot read the description absent.toml"),
        (["predict", "copy", "--position", "rpe", "--layers", "1", "--measured", "absent"], "there is no such folder"),
        (["design", "juggling"], "unknown task 'juggling'"),
    ],
)
def test_bad_input_is_one_line(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = ldhd(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_marks():
    assert marks(Constraint("b12=1", 2, 4, 2, None, True)) == "  ^ ?"
    assert marks(Constraint("b12=1", 2, 4, None, 1, True)) == " x  ?"

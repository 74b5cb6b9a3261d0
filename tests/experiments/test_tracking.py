"""Live logs: what TensorBoard reads of them, and what the other libraries are given."""

import json
import sys

import pytest

from contracts.command import ldhd
from ldhd.experiments import make_config, run
from ldhd.experiments.tracking import scalars

TINY = {
    "model.dimension": 16,
    "model.heads": 2,
    "train.batch_size": 8,
    "train.samples": 40,
    "train.evaluate_every": 2,
    "test_instances": 5,
}
STUB = """
calls = []


class Run:
    def log(self, values, step):
        calls.append(("log", dict(values), step))

    def finish(self):
        calls.append(("finish",))


def init(**given):
    calls.append(("init", given))
    return Run()
"""


@pytest.fixture
def config():
    return make_config("copy", "rpe", steps=5, train_scales=(1, 2), test_scales=(1, 3), settings=TINY)


def test_numbers_of_a_row_have_names():
    row = {"step": 7, "loss": 0.5, "accuracy": {"1": 1.0, "2": 0.25}, "anchor_entropy": [[1.0]], "precision": "float32"}
    assert scalars(row) == {"loss": 0.5, "accuracy/1": 1.0, "accuracy/2": 0.25}


def test_tensorboard_reads_the_learning_curve_and_the_result(config, tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    record = run(config, tmp_path, log="tensorboard")
    (folder,) = (tmp_path / config.hash / "tensorboard").iterdir()
    assert folder.name == "copy rpe seed 0"
    events = accumulator.EventAccumulator(str(folder)).Reload()
    rows = [json.loads(line) for line in (tmp_path / config.hash / "metrics.jsonl").read_text().splitlines()]
    assert [(event.step, event.value) for event in events.Scalars("loss")] == [
        (row["step"], pytest.approx(row["loss"])) for row in rows
    ]
    assert [event.step for event in events.Scalars("accuracy/2")] == [2, 4, 5]
    (exact,) = events.Scalars("exact/3")
    assert (exact.step, exact.value) == (5, record.exact(3))


def test_a_log_changes_no_result(config, tmp_path):
    pytest.importorskip("tensorboard")
    logged, plain = run(config, tmp_path / "logged", log="tensorboard"), run(config, tmp_path / "plain")
    weights = [tmp_path / name / config.hash / "model.safetensors" for name in ("logged", "plain")]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    assert logged.results == plain.results


@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_other_libraries_are_given_the_same(name, config, tmp_path, monkeypatch):
    (tmp_path / f"{name}.py").write_text(STUB)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    record = run(config, tmp_path / "runs", log=name)
    calls = sys.modules.pop(name).calls
    (kind, given), *rows, result, finished = calls
    assert (kind, finished) == ("init", ("finish",))
    assert (given["project"], given["resume"]) == ("ldhd", "allow")
    assert given["config"]["train.steps"] == 5
    assert given["config"]["seed"] == 0
    assert config.hash in (given.get("id"), given["name"].split()[-1])
    assert [step for _, _, step in rows] == [2, 4, 5]
    assert all({"loss", "accuracy/1", "learning_rate"} <= values.keys() for _, values, _ in rows)
    assert result == ("log", {f"exact/{one}": record.exact(one) for one in (1, 3)} | result[1], 5)


def test_a_link_in_the_place_of_the_logs_is_refused(config, tmp_path):
    pytest.importorskip("tensorboard")
    folder = tmp_path / "runs" / config.hash
    folder.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (folder / "tensorboard").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match="is a link, and nothing is written through it"):
        run(config, tmp_path / "runs", log="tensorboard")
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize(
    ("name", "message"),
    [("tensorbord", "unknown log 'tensorbord'; choose from tensorboard, wandb, trackio; did you mean tensorboard?")],
)
def test_an_unknown_log_is_refused_before_training(name, message, tmp_path, capsys):
    arguments = ["run", "copy", "--position", "rpe", "--out", tmp_path / "runs", "--log", name]
    assert ldhd(capsys, *arguments) == (2, "", f"ldhd: error: {message}\n")
    assert not (tmp_path / "runs").exists()


def test_an_absent_library_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("ldhd.experiments.tracking.find_spec", lambda name: None)
    code, _, err = ldhd(capsys, "run", "copy", "--position", "rpe", "--out", tmp_path / "runs", "--log", "wandb")
    assert (code, err.count("\n")) == (2, 1)
    assert "wandb is not installed; in the folder of ldhd: pip install -e '.[wandb]'" in err

"""Which runs a report finds, and what it says of those it cannot read."""

from dataclasses import asdict

import pytest

from ldhd.experiments import Failure
from ldhd.files import read_json, write_json
from ldhd.report.runs import find_runs
from report.samples import config_of, metrics_of, record_of, trace_of, write_run


def finished(out, seed=0, **given):
    config = config_of(seed=seed)
    return write_run(out, config, record_of(config), **given)


def test_runs_at_any_depth_to_three_each_once(tmp_path):
    finished(tmp_path, 0)
    finished(tmp_path / "a", 1)
    finished(tmp_path / "a" / "b", 2)
    finished(tmp_path / "a" / "b" / "c", 3)
    finished(tmp_path / "again", 1)
    assert [run.config.seed for run in find_runs([tmp_path, tmp_path / "a"]).finished] == [0, 1, 2, 3]
    assert [run.config.seed for run in find_runs([tmp_path]).finished] == [0, 1, 2]


def test_a_run_s_own_folder(tmp_path):
    assert len(find_runs([finished(tmp_path)]).finished) == 1


def test_our_tasks_and_embeddings_come_first(tmp_path):
    for task, position in (("addition", "none"), ("addition", "rpe-square"), ("copy", "rope")):
        config = config_of(task, position)
        write_run(tmp_path, config, record_of(config))
    found = [(run.config.task, run.config.position) for run in find_runs([tmp_path]).finished]
    assert found == [("copy", "rope"), ("addition", "rpe-square"), ("addition", "none")]


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda text: text[: len(text) // 2], "record.json is not whole"),
        (lambda text: text.replace('"seed": 0', '"seed": 5'), "record.json was altered"),
        (lambda text: "{}", "record.json cannot be read by this version"),
        (lambda text: "[1]", "record.json is not whole"),
    ],
)
def test_a_damaged_record_is_named_and_the_others_are_kept(tmp_path, damage, line):
    folder = finished(tmp_path, 0)
    finished(tmp_path, 1)
    text = (folder / "record.json").read_text()
    (folder / "record.json").write_text(damage(text))
    found = find_runs([tmp_path])
    assert [run.config.seed for run in found.finished] == [1]
    (problem,) = found.problems
    assert line in problem
    assert str(folder) in problem
    assert "\n" not in problem


def test_a_newer_format_is_named_with_what_can_be_read(tmp_path):
    folder = finished(tmp_path)
    config = read_json(folder / "config.json")
    write_json(folder / "config.json", {**config, "format_version": 99})
    found = find_runs([tmp_path])
    assert found.finished == []
    problem = "cannot be read by this version: format_version: Input should be less than or equal to 3, got 99"
    assert found.problems == [f"{folder / 'config.json'} {problem}"]


def test_records_without_their_config_or_with_another_s(tmp_path):
    first, second = finished(tmp_path, 0), finished(tmp_path, 1)
    (first / "config.json").unlink()
    (second / "config.json").write_text((write_run(tmp_path / "x", config_of(seed=2)) / "config.json").read_text())
    found = find_runs([tmp_path])
    assert found.finished == []
    assert sorted("without config.json" in line for line in found.problems) == [False, True]
    assert any("beside the config of" in line for line in found.problems)


def test_unfinished_and_failed_runs_are_counted(tmp_path):
    unfinished = write_run(tmp_path, config_of(seed=0), metrics=metrics_of())
    failed = write_run(tmp_path, config_of(seed=1))
    failure = Failure(failed.name, "copy rpe seed 1", "no memory", 3)
    write_json(failed / "failure.json", asdict(failure))
    found = find_runs([tmp_path])
    assert found.unfinished == [unfinished]
    assert found.failed == [f"{failed}: copy rpe seed 1: no memory"]


def test_a_config_of_something_else_is_no_run(tmp_path):
    (tmp_path / "exported").mkdir()
    (tmp_path / "exported" / "config.json").write_text('{"model_type": "gpt2"}')
    found = find_runs([tmp_path])
    assert (found.finished, found.unfinished, found.problems) == ([], [], [])


def test_a_place_that_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    for name, message in (("absent", "there is no folder"), ("file", "is no folder")):
        with pytest.raises(ValueError, match=message):
            find_runs([tmp_path / name])


@pytest.mark.parametrize(
    "trace",
    [
        {"text": "b1=1e"},
        trace_of() | {"needs": []},
        trace_of() | {"prompt": 99},
        trace_of() | {"needs": [{"x": 99}] * 6},
        trace_of() | {"attention": []},
        trace_of() | {"terms": [[[[None]] * 6]]},
        trace_of() | {"terms": [[[[10**30]] * 6]]},
        trace_of() | {"anchors": [{"weights": []}]},
    ],
)
def test_a_trace_that_does_not_fit_is_noted(tmp_path, trace):
    folder = finished(tmp_path, trace=trace)
    found = find_runs([tmp_path])
    assert found.trace(folder.name) is None
    assert "trace.json is no trace" in found.problems[0]


def test_metrics_and_traces_may_be_absent_but_not_damaged(tmp_path):
    folder = finished(tmp_path, metrics=metrics_of(), trace=trace_of())
    found = find_runs([tmp_path])
    assert found.trace(folder.name)["text"] == "b31415=31415e"
    assert found.metrics(folder.name)[-1]["step"] == 400
    (folder / "metrics.jsonl").write_text("{")
    assert found.metrics(folder.name) == []
    assert len(found.problems) == 1
    (folder / "metrics.jsonl").unlink()
    (folder / "trace.json").unlink()
    assert found.metrics(folder.name) == []
    assert found.trace(folder.name) is None
    assert len(found.problems) == 1

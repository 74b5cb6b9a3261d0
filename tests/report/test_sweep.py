"""What is shown of a sweep."""

from dataclasses import asdict, replace

from rich.console import Console

from ldhd.evaluate import ScaleResult
from ldhd.experiments import Failure, Progress, Record, make_config
from ldhd.files import load_json, write_json
from ldhd.report import progress as live
from ldhd.report.output import summarize_sweep
from ldhd.report.progress import SweepView


def configs():
    return [
        make_config("copy", "rpe", seed=seed, settings={"train.learning_rate": rate})
        for rate in (0.001, 0.002)
        for seed in (0, 1)
    ]


def record(config, exact=1.0):
    results = [ScaleResult(scale, 10, exact, 0.5, 1.0, 1.0, [1.0]) for scale in config.test_scales]
    known = {"task": config.task, "position": config.position, "model": config.model, "seed": config.seed}
    made = {"steps": 5, "seconds": 1.0, "threads": 1, "version": "0", "commit": None, "command": ""}
    return Record(hash=config.hash, **known, train_scales=[1], fitted=True, results=results, **made)


def rendered(view):
    console = Console(width=160, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    for part in view:
        console.print(part, markup=not isinstance(part, str))
    return console.export_text()


def test_a_row_for_each_kind_of_run_and_what_failed():
    asked = configs()
    failure = Failure(asked[3].hash, asked[3].label, "out of [order]", 3)
    records = [record(asked[0], 1.0), record(asked[1], 0.5), record(asked[2])]
    shown = rendered(summarize_sweep(asked, records, [failure])[1])
    rows = [line.split() for line in shown.splitlines() if line.strip().startswith("copy")]
    assert rows[0][:7] == ["copy", "rpe", "train.learning_rate=0.001", "2/2", "2", "10", "75"]
    assert rows[1][:5] == ["copy", "rpe", "train.learning_rate=0.002", "1/2", "1"]
    assert f"failed: copy rpe seed 1 ({asked[3].hash}), tried 3 times: out of [order]" in shown
    assert "3 of 4 runs done, 1 failed" in shown


def test_a_kind_without_any_record():
    assert "0/2" in rendered(summarize_sweep(configs(), [], [])[1])


def test_json_holds_the_records_as_they_are_on_the_disk(tmp_path):
    asked = configs()
    done, failure = record(asked[0]), Failure("h", "l", "m", 1)
    write_json(tmp_path / "record.json", done.model_dump(mode="json"))
    shown = summarize_sweep(asked, [done], [failure])[0]
    assert shown["runs"] == [load_json(tmp_path / "record.json")]
    assert shown == {"asked": 4, "runs": [done.document()], "failures": [asdict(failure)]}


def test_live_counts_and_time_left(monkeypatch):
    """Of four runs one was there, one is done and one half done after 30 s: 1.5 of 3, so 30 s are left."""
    now = [0.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: now[0])
    asked = configs()
    view = SweepView(4)
    view.on_completed(record(asked[0]))
    assert view.time_left() == "?"
    progress = Progress(asked[1].hash, "first", "training", 1, 10, 0.5)
    view.on_progress(progress)
    now[0] = 30.0
    view.on_completed(record(asked[1]))
    view.on_progress(replace(progress, run=asked[2].hash, label="second", done=5))
    assert view.time_left() == "0:00:30"
    shown = rendered([view.render()])
    assert "running 1, done 2, failed 0, waiting 1, time left 0:00:30" in shown
    assert "second" in shown
    assert "50%" in shown
    view.on_completed(Failure(asked[2].hash, "second", "", 1))
    assert "running 0, done 2, failed 1, waiting 1" in rendered([view.render()])

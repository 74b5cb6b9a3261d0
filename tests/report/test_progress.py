"""What is shown of long work: bars that fit a terminal, and lines where there is none."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from ldhd.experiments import Failure, Progress
from ldhd.experiments.runner import ELSEWHERE
from ldhd.report import progress
from ldhd.report.progress import ProgressBars, SweepView, counting, watch

LONG = Progress(
    "0123456789ab",
    "addition-aligned rpe-square+rpe-absolute seed 1000",
    "training",
    99_999,
    100_000,
    12.345,
    {"1": 1.0, "5": 0.98},
)


@pytest.fixture
def at_once(monkeypatch):
    """Every line is due."""
    monkeypatch.setattr(progress, "LINE_SECONDS", 0)


def test_bars_fit_80_columns(monkeypatch):
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=80, color_system=None)
    monkeypatch.setattr(progress, "console", lambda **options: terminal)
    bars, view = ProgressBars(), SweepView(3)
    bars(LONG)
    view.on_progress(LONG)
    for shown in (bars.get_renderable(), view.render()):
        terminal.print(shown)
    lines = screen.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    (bar,) = (line for line in lines if "right" in line)
    assert bar.startswith("addition-aligned")
    assert "seed 1000" in bar
    assert bar.endswith("loss 12.345, 98% right")


def test_lines_stand_for_bars_where_there_is_no_terminal(capsys, at_once):
    assert list(watch("abc", 3, "predictions")) == ["a", "b", "c"]
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == [f"ldhd: predictions: {done} of 3" for done in (1, 2, 3)]
    assert lines[-1].endswith("time left 0:00:00")
    with counting("views") as on_progress:
        on_progress(1, 4)
    assert capsys.readouterr().err.startswith("ldhd: views: 1 of 4, time left ")
    ProgressBars()(LONG)
    line = (
        "ldhd: addition-aligned rpe-square+rpe-absolute seed 1000: training, 99999 of 100000, loss 12.345, 98% right\n"
    )
    assert capsys.readouterr().err == line
    SweepView(3).on_progress(LONG)
    assert capsys.readouterr().err.startswith("ldhd: running 1, done 0, failed 0, waiting 2, time left ")


def test_short_work_is_silent(capsys):
    assert list(watch(range(100), 100, "claims")) == list(range(100))
    ProgressBars()(LONG)
    SweepView(3).on_progress(LONG)
    assert capsys.readouterr().err == ""


def test_runs_of_another_process_are_not_counted_as_running_here():
    view = SweepView(4)
    view.on_progress(LONG)
    theirs = Progress("ba9876543210", "copy rpe seed 0", ELSEWHERE)
    view.on_progress(theirs)
    assert view.counts().startswith("running 1, elsewhere 1, done 0, failed 0, waiting 2, ")
    view.on_progress(replace(theirs, stage="training"))  # the other process has stopped
    assert view.counts().startswith("running 2, done 0, failed 0, waiting 2, ")
    view.on_progress(replace(theirs, run="cccccccccccc"))
    view.on_completed(Failure("cccccccccccc", theirs.label, "a reason", 1))
    assert view.counts().startswith("running 2, done 0, failed 1, waiting 1, ")

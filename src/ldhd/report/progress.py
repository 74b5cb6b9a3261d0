"""Live views of work on a terminal, and a line now and then where standard error is a file or a pipe."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

from rich.console import Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn, track
from rich.progress import Progress as Bars

from ldhd.experiments import Failure, Progress, Record
from ldhd.experiments.runner import ELSEWHERE
from ldhd.report.terminal import console, plain_table

Item = TypeVar("Item")


LINE_SECONDS = 60
"""How often long work reports its progress where there is no terminal, in seconds."""

LONGEST_LABEL = 34
"""Characters of a label beside a bar, so that a row fits into 80 columns."""


class Lines:
    """Progress in lines on standard error, one every `LINE_SECONDS`; none where that is a terminal, which has bars."""

    def __init__(self) -> None:
        self.wanted = not console(stderr=True).is_terminal
        self.started = self.last = time.monotonic()

    def __call__(self, text: Callable[[], str]) -> None:
        """Print a line if one is due."""
        now = time.monotonic()
        if self.wanted and now - self.last >= LINE_SECONDS:
            self.last = now
            print(f"ldhd: {text()}", file=sys.stderr, flush=True)

    def count(self, what: str, done: int, total: int) -> None:
        """Print how much is done, and the time that is left at this speed, if a line is due."""
        self(lambda: f"{what}: {done} of {total}, time left {self.time_left(done, total)}")

    def time_left(self, done: float, total: float) -> str:
        """Return the time left at the speed so far; a question mark at the beginning."""
        return _duration((time.monotonic() - self.started) / done * (total - done)) if done > 0 else "?"


def _shortened(label: str) -> str:
    """Return a label of at most `LONGEST_LABEL` characters, without its middle where it is longer."""
    half = LONGEST_LABEL // 2
    return label if len(label) <= LONGEST_LABEL else f"{label[: half - 1]}…{label[-half:]}"


def _duration(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def watch(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """Yield the items and show how many have been done."""
    screen, lines = console(stderr=True), Lines()
    bar = track(items, what, total=total, console=screen, disable=not screen.is_terminal, transient=True)
    for done, item in enumerate(bar, start=1):
        lines.count(what, done, total)
        yield item


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show progress while something calls the function that is yielded with what is done and the total."""
    screen, lines = console(stderr=True), Lines()
    with Bars(console=screen, disable=not screen.is_terminal, transient=True) as bars:
        row = bars.add_task(what, total=None)

        def update(done: int, total: int) -> None:
            bars.update(row, completed=done, total=total)
            lines.count(what, done, total)

        yield update


class ProgressBars(Bars):
    """A bar for each run, with its loss, its smallest accuracy at a training scale, and the time left.

    `on_progress` of a run; a row fits into 80 columns, where a long label is cut off.
    """

    def __init__(self) -> None:
        screen = console(stderr=True)
        super().__init__(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=8),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[state]}"),
            console=screen,
            disable=not screen.is_terminal,
        )
        self.rows: dict[str, TaskID] = {}
        self.lines = Lines()

    def __call__(self, progress: Progress) -> None:
        done, total = progress.done, progress.total
        if progress.run not in self.rows:
            self.rows[progress.run] = self.add_task(_shortened(progress.label), total=total, completed=done, state="")
        state = progress.stage
        if state == "training" and progress.loss is not None:  # such as `loss 0.012, 98% right`
            right = f", {min(progress.accuracy.values()):.0%} right" if progress.accuracy else ""
            state = f"loss {progress.loss:.3f}{right}"
        self.update(self.rows[progress.run], total=total, completed=done, state=state)
        self.lines(lambda: f"{progress.label}: {progress.stage}, {done} of {total}, {state}")


class SweepView(Live):
    """A live table of the runs at work, and how many are done, failed and left.

    A run that another process had when it was last looked at counts as elsewhere until its record is read; it may
    have been finished since.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.running: dict[str, Progress] = {}
        self.elsewhere: set[str] = set()
        self.done = self.failed = self.read = 0
        self.started: float | None = None
        self.lines = Lines()
        screen = console(stderr=True)
        super().__init__(get_renderable=self.render, console=screen, auto_refresh=screen.is_terminal, transient=True)

    def on_progress(self, progress: Progress) -> None:
        if self.started is None:
            self.started, self.read = time.monotonic(), self.done
        if progress.stage == ELSEWHERE:
            self.elsewhere.add(progress.run)
        else:
            self.elsewhere.discard(progress.run)
            self.running[progress.run] = progress
        self.lines(self.counts)

    def on_completed(self, how: Record | Failure) -> None:
        self.running.pop(how.hash, None)
        self.elsewhere.discard(how.hash)
        self.failed += isinstance(how, Failure)
        self.done += isinstance(how, Record)
        self.lines(self.counts)

    def counts(self) -> str:
        """Return how many runs are at work here, at other processes, done, failed and waiting, and the time left."""
        left = self.total - self.done - self.failed - len(self.running) - len(self.elsewhere)
        elsewhere = f", elsewhere {len(self.elsewhere)}" if self.elsewhere else ""
        counts = f"running {len(self.running)}{elsewhere}, done {self.done}, failed {self.failed}, waiting {left}"
        return f"{counts}, time left {self.time_left()}"

    def render(self) -> RenderableType:
        rows = []
        for name, progress in list(self.running.items()):  # the table is drawn by a thread of its own
            loss = "" if progress.loss is None else f"{progress.loss:.3f}"
            share = f"{progress.done / max(progress.total, 1):.0%}"
            rows.append((name, escape(progress.label), progress.stage, share, loss))
        return Group(self.counts(), plain_table(None, ("run", "", "stage", "", "loss"), rows))

    def time_left(self) -> str:
        """What is left at the speed so far, counting runs and parts of them; a question mark at the beginning."""
        parts = 0.0
        for progress in list(self.running.values()):  # tests count nothing
            training = progress.stage == "training"
            parts += progress.done / progress.total if training else progress.stage in ("testing", "done")
        worked = self.done + self.failed - self.read + parts
        if self.started is None or worked <= 0:
            return "?"
        return _duration((time.monotonic() - self.started) / worked * (self.total - self.read - worked))

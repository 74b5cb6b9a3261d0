"""Live views of runs on a terminal; nothing is shown where standard error is a file or a pipe."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

from rich.console import Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn, track
from rich.progress import Progress as Bars

from ldhd.experiments import Failure, Progress, Record
from ldhd.report.terminal import console, plain_table

Item = TypeVar("Item")


def watch(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """Yield the items and show a bar of how many have been done."""
    screen = console(stderr=True)
    yield from track(items, what, total=total, console=screen, disable=not screen.is_terminal, transient=True)


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar while something calls the function that is yielded with what is done and the total."""
    screen = console(stderr=True)
    with Bars(console=screen, disable=not screen.is_terminal, transient=True) as bars:
        row = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(row, completed=done, total=total)


class ProgressBars(Bars):
    """A bar for each run, with loss, accuracy at training scales, speed and time left; `on_progress` of a run."""

    def __init__(self) -> None:
        screen = console(stderr=True)
        super().__init__(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[state]}"),
            console=screen,
            disable=not screen.is_terminal,
        )
        self.rows: dict[str, TaskID] = {}

    def __call__(self, progress: Progress) -> None:
        done, total = progress.done, progress.total
        if progress.run not in self.rows:
            self.rows[progress.run] = self.add_task(progress.label, total=total, completed=done, state="", speed="")
        row = self.rows[progress.run]
        speed, state = self.tasks[row].speed, progress.stage
        written = f"{speed:.0f} steps/s" if speed and state == "training" else ""
        if state == "training":  # such as `loss 0.012  1:100% 2:98%`, with the accuracy at each training scale
            scales = " ".join(f"{scale}:{value:.0%}" for scale, value in (progress.accuracy or {}).items())
            state = f"{'' if progress.loss is None else f'loss {progress.loss:.3f}'}  {scales}"
        self.update(row, total=total, completed=done, state=state, speed=written)


class SweepView(Live):
    """A live table of the runs at work, and how many are done, failed and left."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.running: dict[str, Progress] = {}
        self.done = self.failed = self.read = 0
        self.started: float | None = None
        screen = console(stderr=True)
        super().__init__(get_renderable=self.render, console=screen, auto_refresh=screen.is_terminal, transient=True)

    def on_progress(self, progress: Progress) -> None:
        if self.started is None:
            self.started, self.read = time.monotonic(), self.done
        self.running[progress.run] = progress

    def on_completed(self, how: Record | Failure) -> None:
        self.running.pop(how.hash, None)
        self.failed += isinstance(how, Failure)
        self.done += isinstance(how, Record)

    def render(self) -> RenderableType:
        left = self.total - self.done - self.failed - len(self.running)
        counts = f"running {len(self.running)}, done {self.done}, failed {self.failed}, waiting {left}"
        rows = []
        for name, progress in list(self.running.items()):  # the table is drawn by a thread of its own
            loss = "" if progress.loss is None else f"{progress.loss:.3f}"
            share = f"{progress.done / max(progress.total, 1):.0%}"
            rows.append((name, escape(progress.label), progress.stage, share, loss))
        table = plain_table(None, ("run", "", "stage", "", "loss"), rows)
        return Group(f"{counts}, time left {self.time_left()}", table)

    def time_left(self) -> str:
        """What is left at the speed so far, counting runs and parts of them; a question mark at the beginning."""
        parts = 0.0
        for progress in list(self.running.values()):  # tests count nothing
            training = progress.stage == "training"
            parts += progress.done / progress.total if training else progress.stage in ("testing", "done")
        worked = self.done + self.failed - self.read + parts
        if self.started is None or worked <= 0:
            return "?"
        left = self.total - self.read - worked
        return str(timedelta(seconds=round((time.monotonic() - self.started) / worked * left)))

"""Progress bars on a terminal; nothing is shown where standard error is a file or a pipe."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn, track
from rich.progress import Progress as Bars

from ldhd.experiments import Progress
from ldhd.report.terminal import console

Item = TypeVar("Item")


def watch(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """Yield the items and show a bar of how many have been done."""
    screen = console(stderr=True)
    yield from track(items, what, total=total, console=screen, disable=not screen.is_terminal, transient=True)


class ProgressBars(Bars):
    """A bar for each run, with loss, accuracy at training scales, speed and time left.

    Use it as `with ProgressBars() as bars: run(..., on_progress=bars)`.
    """

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
        speed = self.tasks[row].speed
        written = f"{speed:.0f} steps/s" if speed and progress.stage == "training" else ""
        self.update(row, total=total, completed=done, state=_state(progress), speed=written)


def _state(progress: Progress) -> str:
    """Return `loss 0.012  1:100% 2:100% 3:98%`, with the accuracy at each training scale."""
    if progress.stage != "training":
        return progress.stage
    loss = "" if progress.loss is None else f"loss {progress.loss:.3f}"
    scales = " ".join(f"{scale}:{value:.0%}" for scale, value in (progress.accuracy or {}).items())
    return f"{loss}  {scales}"

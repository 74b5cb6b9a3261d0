"""What is shown of a sweep: while it goes on, and at its end."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.markup import escape

from ldhd.experiments import Failure, Progress, Record, RunConfig
from ldhd.experiments.groups import by_setting, differences, group_runs
from ldhd.report.table import percent
from ldhd.report.terminal import console, folding, plain_table

MOST_FAILURES = 20
"""The largest number of failures that are listed one by one."""


class SweepView(Live):
    """A live table of the runs at work, and how many are done, failed and left; quiet off a terminal."""

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
        parts = sum(_share(progress) for progress in list(self.running.values()))
        worked = self.done + self.failed - self.read + parts
        if self.started is None or worked <= 0:
            return "?"
        left = self.total - self.read - worked
        return str(timedelta(seconds=round((time.monotonic() - self.started) / worked * left)))


@dataclass(frozen=True)
class SweepSummary:
    """The result of a sweep: the runs that were asked for, and a record or a failure for each."""

    configs: Sequence[RunConfig]
    records: Sequence[Record]
    failures: Sequence[Failure]

    def document(self) -> dict[str, Any]:
        records = [record.document() for record in self.records]
        return {"asked": len(self.configs), "runs": records, "failures": [asdict(failure) for failure in self.failures]}

    def view(self) -> Iterator[RenderableType]:
        """Yield a table with a row for each group of seeds, followed by what failed."""
        columns = folding("task", "position", "options", "done", "fitted", "scale", "exact", "verdict")
        title = "exact match in % at the largest test scale, mean over seeds"
        yield plain_table(title, columns, _rows(self.configs, self.records))
        yield from failure_lines(self.failures)
        done, asked = len(self.records), len(self.configs)
        yield f"{done} of {asked} runs done, {asked - done} failed"


def failure_lines(failures: Sequence[Failure]) -> list[str]:
    """Which runs failed, and why."""
    lines = [
        f"failed: {failure.label} ({failure.hash}), tried {failure.attempts} times: {failure.message}"
        for failure in failures[:MOST_FAILURES]
    ]
    return lines + ([f"and {len(failures) - MOST_FAILURES} more failed"] if len(failures) > MOST_FAILURES else [])


def _rows(configs: Sequence[RunConfig], records: Sequence[Record]) -> list[list[str]]:
    by_hash = {record.hash: record for record in records}
    groups = by_setting(configs)
    rows = []
    for own, options in zip(groups, differences([own[0] for own in groups]), strict=True):
        first, scale = own[0], max(own[0].test_scales)
        found = [by_hash[config.hash] for config in own if config.hash in by_hash]
        row = [first.task, first.position, ", ".join(options), f"{len(found)}/{len(own)}"]
        for group in group_runs(found):
            row += [str(group.fitted), str(scale), percent(group.mean(scale)), group.verdict()]
        rows.append([escape(text) for text in row])
    return rows


def _share(progress: Progress) -> float:
    """How much of a run is done, its tests counting nothing."""
    if progress.stage == "training":
        return progress.done / progress.total
    return 1.0 if progress.stage in ("testing", "done") else 0.0

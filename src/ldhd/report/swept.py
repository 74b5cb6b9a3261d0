"""What is shown at the end of a sweep, from plain values: it imports nothing that takes time."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

from rich.console import Group, RenderableType
from rich.markup import escape

from ldhd.report.terminal import plain_table


class Summary(TypedDict):
    """A sweep that is done."""

    asked: int
    runs: list[str]
    """Hashes of the runs that are finished."""
    rows: list[list[str]]
    """A row for each kind of run, over its seeds."""
    failures: list[str]
    """Which runs failed, and why."""


def summary_view(summary: Summary) -> RenderableType:
    """The table, then what failed."""
    table = plain_table("exact match in % at the largest test scale, mean over seeds")
    for column in ("task", "position", "options", "done", "fitted", "scale", "exact", "verdict"):
        table.add_column(column, overflow="fold")
    for row in summary["rows"]:
        table.add_row(*map(escape, row))
    done, failed = len(summary["runs"]), summary["asked"] - len(summary["runs"])
    counts = f"{done} of {summary['asked']} runs done, {failed} failed"
    return Group(table, *map(escape, summary["failures"]), counts)


def summary_json(summary: Summary, out: Path, failures: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """The records as they are on the disk."""
    records = [json.loads((out / name / "record.json").read_bytes()) for name in summary["runs"]]
    return {"asked": summary["asked"], "runs": records, "failures": list(failures)}

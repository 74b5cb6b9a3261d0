"""Benchmarks in the terminal."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.table import Table

from ldhd.bench import Case
from ldhd.bench.ratio import machine


def bench_json(cases: Sequence[Case]) -> dict[str, Any]:
    return {"cases": [asdict(case) for case in cases], "machine": machine()}


def bench_table(cases: Sequence[Case]) -> Table:
    table = Table(title="time of the opponent over ours, in one run", title_justify="left", box=box.SIMPLE_HEAD)
    table.caption = ", ".join(f"{key} {value}" for key, value in machine().items())
    for column in ("case", "shape", "against", "ratio", "range"):
        table.add_column(column)
    for case in cases:
        table.add_row(
            case.case, case.shape, case.against, f"{case.ratio:.1f}", f"{case.spread[0]:.1f}-{case.spread[1]:.1f}"
        )
    return table

"""The result of `ldhd bench`, and the figure of how the time of attention grows with the length of the string."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from ldhd.bench import Case
from ldhd.bench.ratio import machine
from ldhd.report.figures.marks import Axis, Figure, Line, Panel
from ldhd.report.look import look, position_title
from ldhd.report.render_matplotlib import save_figure
from ldhd.report.terminal import Output, plain_table

MEANINGS = {
    "speed": "time of the opponent over ours: above 1, we are faster",
    "cost": "our time over the opponent's",
    "memory": "our largest sum of tensors alive over the opponent's",
    "growth": "our time for one string over the opponent's for one of the smallest n",
    "share": "our operations a second over the opponent's",
    "exponent": "power of n that fits best",
}


def show_benchmarks(measured: Iterable[tuple[str, Sequence[Case]]], folder: Path | None = None) -> Output:
    """Show a table for each measure and the machine; in a folder, write the file of each benchmark as it ends."""
    cases: list[Case] = []
    written: list[Path] = []
    for name, own in measured:
        cases += own
        if folder is not None:
            written += _write(folder, name, own)
    rows: dict[str, list[tuple[str, ...]]] = {}
    for case in cases:
        low, high = case.spread
        spread = "" if low == high else f"{low:.2f}-{high:.2f}"
        rows.setdefault(case.measure, []).append((case.case, case.shape, case.against, f"{case.ratio:.2f}", spread))
    tables: list[RenderableType] = [
        plain_table(f"{measure}: {MEANINGS[measure]}", ("case", "shape", "against", measure, "range"), own)
        for measure, own in rows.items()
    ]
    view = [*tables, ", ".join(f"{key} {value}" for key, value in machine().items())]
    if written:
        view.append(f"written: {', '.join(map(str, written))}")
    return _document(cases), view


def _document(cases: Sequence[Case]) -> dict[str, Any]:
    return {"cases": [asdict(case) for case in cases], "machine": machine()}


def _write(folder: Path, name: str, cases: Sequence[Case]) -> list[Path]:
    """Write the cases of a benchmark, and the figure of growth if they have one."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps(_document(cases), indent=2) + "\n")
    growth = growth_figure(cases)
    return [path] if growth is None else [path, save_figure(growth, folder / f"{name}.png", dpi=150)]


def growth_figure(cases: Sequence[Case]) -> Figure | None:
    """Time against length on logarithmic axes, with the fitted exponents; None if no such case was measured."""
    points: dict[str, list[tuple[int, float]]] = {}
    exponents = {}
    for case in cases:
        if case.measure == "growth" and case.n is not None:
            points.setdefault(case.case.split(", forward")[0], []).append((case.n, case.ratio))
        elif case.measure == "exponent" and ", time" in case.case:
            exponents[case.case.split(", time")[0]] = f"  (n^{case.ratio:.2f})"
    if not points:
        return None
    variants: dict[str, int] = {}
    lines = []
    for name, row in points.items():
        embedding, *rest = name.split()
        variant = variants[embedding] = variants.get(embedding, -1) + 1
        style = replace(look(embedding, variant), width=1.5, size=4.5)
        label = " ".join([position_title(embedding), *rest]) + exponents.get(name, "")
        lines.append(Line([n for n, _ in row], [ratio for _, ratio in row], style, label))
    lengths = sorted({n for row in points.values() for n, _ in row})
    y_axis = Axis(f"time for one string, {position_title('rpe')} at n = {lengths[0]} as 1", scale="log")
    panel = Panel(lines, Axis("length n", ticks=lengths, scale="log"), y_axis)
    return Figure([panel], (8.4, 4.8), title="Whole attention, forward and backward")


def case_of(row: Mapping[str, Any]) -> Case:
    """Read a case from the JSON of `ldhd bench`, which may hold more than this version knows."""
    return Case(**{field.name: row[field.name] for field in fields(Case) if field.name in row})

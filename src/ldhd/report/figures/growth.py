"""How the time of attention grows with the length of the string."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from ldhd.bench import Case
from ldhd.report.figures.marks import Axis, Figure, Line, Panel
from ldhd.report.look import look, position_title


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
        x, y = zip(*row, strict=True)
        lines.append(Line(x, y, style, label))
    lengths = sorted({n for row in points.values() for n, _ in row})
    y_axis = Axis(f"time for one string, rpe at n = {lengths[0]} as 1", scale="log")
    panel = Panel(lines, Axis("length n", ticks=lengths, scale="log"), y_axis)
    return Figure([panel], (8.4, 4.8), title="Whole attention, forward and backward")


def case_of(row: Mapping[str, Any]) -> Case:
    """Read a case from the JSON of `ldhd bench`, which may hold more than this version knows."""
    return Case(**{field.name: row[field.name] for field in fields(Case) if field.name in row})

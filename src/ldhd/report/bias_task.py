"""The results of `ldhd bias-task`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from ldhd.bias.cells import Row
from ldhd.bias.task_cells import read_task_cells
from ldhd.bias.task_summary import Group, groups
from ldhd.report.figures.bias_task import figures
from ldhd.report.render_matplotlib import save_figure
from ldhd.report.terminal import Output, folding, numeric, plain_table

ASKED = "agreement: share of the points not trained on at which all bits agree; distance: root mean square there"


def show_bias_task(rows: Sequence[Row], folder: Path | None = None) -> Output:
    """Show measured cells, those that differ in their seed together, and draw all that a folder keeps."""
    found = groups(rows)
    kept = found if folder is None else groups(read_task_cells(folder))
    view: list[RenderableType] = []
    for group in found:
        view.append(_part_table(group))
        if group.exact:
            shown = ", ".join(f"{scale}: {100 * value:.0f} %" for scale, value in group.exact.items())
            view.append(f"whole answers that are right, by scale: {shown}")
    if folder is not None:
        view += [f"figure: {save_figure(one, folder / f'{name}.png')}" for name, one in figures(kept).items()]
    return {"cells": list(rows), "groups": [_document(group) for group in found]}, view


def _document(group: Group) -> dict[str, Any]:
    parts = [part.__dict__ for part in group.parts]
    return {"name": group.name, "seeds": group.seeds, "exact": group.exact, "parts": parts}


def _part_table(group: Group) -> Table:
    names = list(dict.fromkeys(name for part in group.parts for name in part.agreement))
    columns = [*folding("part"), *numeric("degree", "fitted", "error", "beyond N0", "mean degree")]
    columns += numeric(*(f"{name}: agreement" for name in names), *(f"{name}: distance" for name in names))
    shown = []
    for part in group.parts:
        degrees = ", ".join(f"{name} {degree}" for name, degree in part.degrees.items())
        fits = f"{part.fitted} of {group.seeds}" if part.trained else "not trained on"
        own = [part.name, degrees, fits, f"{part.error:.3f}", _number(part.leakage), f"{part.mean_degree:.2f}"]
        own += [_number(part.agreement.get(name)) for name in names]
        own += [_number(part.distance.get(name)) for name in names]
        shown.append(tuple(own))
    return plain_table(group.name, columns, shown, ASKED)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"

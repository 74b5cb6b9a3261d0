"""Tables for the terminal."""

from collections.abc import Sequence

from rich.table import Table

from ldhd.experiments import Record
from ldhd.report.summary import Cell, cells, per_position


def accuracy_table(records: Sequence[Record]) -> Table:
    """Exact match by scale: a row for each embedding, the mean over its seeds and, below it, the range."""
    grouped = cells(records)
    scales = sorted({scale for cell in grouped for scale in cell.scales})
    title = f"{records[0].task}: exact match by scale (training scales in bold)"
    table = Table(title=title, title_justify="left")
    for name in ("position", "model", "seeds", "fitted"):
        table.add_column(name)
    for scale in scales:
        bold = "bold" if scale in grouped[0].train_scales else ""
        table.add_column(str(scale), justify="right", header_style=bold)
    table.add_column("verdict")
    for cell in grouped:
        values = [_cell_text(cell, scale) for scale in scales]
        count = len(cell.records)
        table.add_row(cell.position, cell.model, str(count), f"{cell.fitted}/{count}", *values, cell.verdict())
    return table


def digit_table(records: Sequence[Record]) -> Table:
    """Accuracy of each answer token, z_0 first, at the scales beyond training."""
    table = Table(title="accuracy of each answer token (mean over seeds)", title_justify="left")
    table.add_column("position")
    table.add_column("scale", justify="right")
    rows = [
        (cell.position, scale, per_position(cell, scale))
        for cell in cells(records)
        for scale in cell.scales
        if scale > max(cell.train_scales)
    ]
    for place in range(max((len(values) for _, _, values in rows), default=0)):
        table.add_column(str(place), justify="right")
    for position, scale, values in rows:
        table.add_row(position, str(scale), *(f"{value:.2f}" for value in values))
    return table


def _cell_text(cell: Cell, scale: int) -> str:
    values = cell.exact(scale)
    if not values:
        return ""
    low, high = min(values), max(values)
    text = f"{cell.mean(scale):.2f}"
    return text if high - low < 0.005 else f"{text}\n[dim]{low:.2f}-{high:.2f}[/dim]"

"""Tables of accuracy for the terminal."""

from collections.abc import Sequence

from rich.table import Table

from ldhd.experiments.groups import Group
from ldhd.report.terminal import plain_table

WIDEST_ANSWER = 16
"""Answers with more tokens have no row in the table of tokens."""


def accuracy_table(groups: Sequence[Group]) -> Table:
    """Return a table of exact match by scale: a row for each group, its mean over seeds and, below it, the range."""
    scales = sorted({scale for group in groups for scale in group.scales})
    models = list(dict.fromkeys(group.model for group in groups))
    table = plain_table(f"{groups[0].task}: exact match in % by scale")
    table.caption = f"model {' and '.join(models)}; training scales in bold"
    table.add_column("position")
    table.add_column("fitted")
    for scale in scales:
        bold = "bold" if scale in groups[0].train_scales else "not bold"
        table.add_column(str(scale), justify="right", header_style=bold)
    table.add_column("verdict")
    for group in groups:
        values = [_cell_text(group, scale) for scale in scales]
        table.add_row(group.label, f"{group.fitted}/{len(group.records)}", *values, group.verdict())
    return table


def digit_table(groups: Sequence[Group]) -> Table | None:
    """Return a table of the accuracy of each answer token at scales beyond training; None if there are none."""
    rows = [
        (group.label, scale, group.per_position(scale))
        for group in groups
        for scale in group.scales
        if scale > max(group.train_scales)
    ]
    rows = [row for row in rows if len(row[2]) <= WIDEST_ANSWER]
    if not rows:
        return None
    table = plain_table("accuracy in % of each answer token")
    table.add_column("position")
    table.add_column("scale", justify="right")
    for place in range(max(len(values) for _, _, values in rows)):
        table.add_column(f"z{place}", justify="right")
    for label, scale, values in rows:
        table.add_row(label, str(scale), *map(percent, values))
    return table


def _cell_text(group: Group, scale: int) -> str:
    values = group.exact(scale)
    if not values:
        return ""
    low, high = percent(min(values)), percent(max(values))
    text = percent(group.mean(scale))
    return text if low == high else f"{text}\n[dim]{low}-\n{high}[/dim]"


def percent(share: float) -> str:
    """Write a share in % with at most one decimal; it is never rounded up to 100 or down to 0."""
    value = round(100 * share, 1)
    if (value == 100 and share < 1) or (value == 0 and share > 0):
        value = 99.9 if share > 0.5 else 0.1
    return f"{value:g}"

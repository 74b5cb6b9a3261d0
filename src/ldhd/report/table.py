"""Tables for the terminal."""

from collections.abc import Mapping, Sequence

from rich.table import Table

from ldhd.experiments import Record, RunConfig
from ldhd.experiments.groups import Group, group_runs
from ldhd.report.terminal import plain_table

Configs = Mapping[str, RunConfig] | None
"""A config for each hash, to tell apart what records alone do not."""

WIDEST_ANSWER = 16
"""Longest answer whose tokens are shown in columns of their own."""


def accuracy_table(records: Sequence[Record], configs: Configs = None) -> Table:
    """Exact match by scale: a row for each embedding, the mean over its seeds and, below it, the range."""
    groups = group_runs(records, configs)
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


def digit_table(records: Sequence[Record], configs: Configs = None) -> Table | None:
    """Accuracy of each answer token, the first written first, at scales beyond training; None if there are none."""
    rows = [
        (group.label, scale, group.per_position(scale))
        for group in group_runs(records, configs)
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
    """One decimal, dropped if it is 0; never rounded up to 100 or down to 0."""
    value = round(100 * share, 1)
    if (value == 100 and share < 1) or (value == 0 and share > 0):
        value = 99.9 if share > 0.5 else 0.1
    return f"{value:g}"

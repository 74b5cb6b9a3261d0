"""Tables of accuracy for the terminal."""

from collections.abc import Sequence

from rich.table import Table

from ldhd.experiments.groups import Group
from ldhd.report.terminal import numeric, plain_table
from ldhd.statistics import Mean, Share

WIDEST_ANSWER = 16
"""Answers with more tokens have no row in the table of tokens."""


def accuracy_table(groups: Sequence[Group]) -> Table:
    """Return a table of exact match by scale: a row for each group, its mean over seeds and, below it, the range."""
    scales = sorted({scale for group in groups for scale in group.scales})
    models = list(dict.fromkeys(group.model for group in groups))
    columns = numeric(*map(str, scales))
    for column, scale in zip(columns, scales, strict=True):
        column.header_style = "bold" if scale in groups[0].train_scales else "not bold"
    rows = []
    for group in groups:
        cells = [_cell(group, scale) for scale in scales]
        rows.append((group.label, f"{group.fitted}/{len(group.records)}", *cells, group.verdict()))
    title = f"{groups[0].task}: exact match in % by scale"
    caption = f"model {' and '.join(models)}; training scales in bold"
    return plain_table(title, ["position", "fitted", *columns, "verdict"], rows, caption)


def digit_table(groups: Sequence[Group]) -> Table | None:
    """Return a table of the accuracy of each answer token at scales beyond training; None if there are none."""
    rows = [
        (group.label, scale, *map(percent, group.per_position(scale)))
        for group in groups
        for scale in group.scales
        if scale > max(group.train_scales) and len(group.per_position(scale)) <= WIDEST_ANSWER
    ]
    if not rows:
        return None
    places = [f"z{place}" for place in range(max(map(len, rows)) - 2)]
    return plain_table("accuracy in % of each answer token", ["position", *numeric("scale", *places)], rows)


def _cell(group: Group, scale: int) -> str:
    values = group.exact(scale)
    if not values:
        return ""
    low, high = percent(min(values)), percent(max(values))
    text = percent(group.mean(scale))
    return text if low == high else f"{text}\n[dim]{low}-\n{high}[/dim]"


def bounds(interval: Mean | Share, dash: str = "-") -> str:
    """Write the two ends of an interval in per cent."""
    if interval.low is None or interval.high is None:
        return "one seed"
    return f"{percent(interval.low)}{dash}{percent(interval.high)}"


def percent(share: float) -> str:
    """Write a share in % with at most one decimal; it is never rounded up to 100 or down to 0."""
    value = round(100 * share, 1)
    if (value == 100 and share < 1) or (value == 0 and share > 0):
        value = 99.9 if share > 0.5 else 0.1
    return f"{value:g}"

"""Where answers go wrong: by scale and place in the answer, and by the carry into a token."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ldhd.experiments.groups import Group
from ldhd.report.figures.marks import Axis, Figure, HeatMap, Panel
from ldhd.report.look import group_title

Map = list[list[float | None]]

COLORS = ("#f2f2f2", "#d55e00")
"""From no wrong tokens to nothing but wrong tokens."""
COLUMNS = 4


def error_figure(groups: Sequence[Group]) -> Figure:
    """The share of wrong tokens by scale and place in the answer, with a panel for each group of one task."""
    return _figure({group_title(group): error_panel(group) for group in groups}, groups[0].task)


def carry_figure(groups: Sequence[Group]) -> Figure | None:
    """The share of wrong tokens by the carry into them, with a panel for each group that has carries, if any has."""
    found = {group_title(group): panel for group in groups if (panel := carry_panel(group)) is not None}
    return _figure(found, groups[0].task) if found else None


def error_panel(group: Group) -> Panel:
    """The share of wrong tokens by scale and place in the answer, averaged over seeds."""
    scales, values = error_map(group)
    return _panel(values, scales, "scale")


def carry_panel(group: Group) -> Panel | None:
    """The share of wrong tokens by the length of the carry chain into them, beyond training; None without carries."""
    found = carry_map(group)
    if found is None:
        return None
    lengths, values, counts = found
    return _panel(values, lengths, "carry chain", counts)


def error_map(group: Group) -> tuple[list[int], Map]:
    """Return the scales, and for each the share of wrong tokens at each place of the answer, averaged over seeds."""
    rows = [group.per_position(scale) for scale in group.scales]
    longest = max(map(len, rows))
    return group.scales, [[1 - value for value in row] + [None] * (longest - len(row)) for row in rows]


def carry_map(group: Group) -> tuple[list[int], Map, list[list[int]]] | None:
    """Count wrong tokens by carry, over all seeds and all test scales beyond training.

    Returns:
        The lengths of carry chains; for each, the share of wrong tokens at each place, and of how many. None if no
        result has carries.
    """
    right: dict[tuple[int, int], int] = {}
    asked: dict[tuple[int, int], int] = {}
    for record in group.records:
        for result in record.results:
            if result.scale > max(record.train_scales):
                for token, length, good, n in result.carries or []:
                    right[length, token] = right.get((length, token), 0) + good
                    asked[length, token] = asked.get((length, token), 0) + n
    asked = {key: n for key, n in asked.items() if n > 0}
    if not asked:
        return None
    lengths = sorted({length for length, _ in asked})
    tokens = range(max(token for _, token in asked) + 1)
    values: Map = [
        [1 - right[length, token] / asked[length, token] if (length, token) in asked else None for token in tokens]
        for length in lengths
    ]
    return lengths, values, [[asked.get((length, token), 0) for token in tokens] for length in lengths]


def _panel(values: Map, rows: Sequence[int], label: str, counts: Sequence[Sequence[int]] = ()) -> Panel:
    y = Axis(label, ticks=range(len(rows)), tick_labels=list(map(str, rows)))
    return Panel([HeatMap(values, COLORS, unit="wrong", counts=counts)], Axis("answer token", integer=True), y)


def _figure(panels: Mapping[str, Panel], task: str) -> Figure:
    columns = min(COLUMNS, len(panels))
    titled = [replace(panel, title=textwrap.fill(label, 32)) for label, panel in panels.items()]
    size = 0.8 + 2.3 * columns, 0.7 + 2.2 * math.ceil(len(panels) / columns)
    return Figure(titled, size, columns, f"{task}: share of wrong tokens", color_bar=True)

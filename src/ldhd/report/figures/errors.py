"""Where answers go wrong: by scale and place in the answer, and by the carry into a token."""

import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from ldhd.experiments.groups import Group
from ldhd.report.figures.accuracy import whole_ticks
from ldhd.report.figures.marks import Axis, Figure, HeatMap, Panel
from ldhd.report.look import group_title

COLORS = ("#f2f2f2", "#d55e00")
"""From no wrong tokens to nothing but wrong tokens."""
COLUMNS = 4


def error_figure(groups: Sequence[Group], panel_of: Callable[[Group], Panel | None]) -> Figure | None:
    """A panel for each group of one task, made by `error_panel` or `carry_panel`; None if there are no panels."""
    found = {group_title(group): panel_of(group) for group in groups}
    panels = [replace(panel, title=textwrap.fill(title, 32)) for title, panel in found.items() if panel is not None]
    if not panels:
        return None
    columns = min(COLUMNS, len(panels))
    size = 0.8 + 2.3 * columns, 0.7 + 2.2 * -(-len(panels) // columns)
    return Figure(panels, size, columns, f"{groups[0].task}: share of wrong tokens", color_bar=True)


def error_panel(group: Group) -> Panel:
    """The share of wrong tokens by scale and place in the answer, averaged over seeds."""
    rows = [group.per_position(scale) for scale in group.scales]
    longest = max(map(len, rows))
    values = [[1 - value for value in row] + [None] * (longest - len(row)) for row in rows]
    return _panel(values, group.scales, "scale")


def carry_panel(group: Group) -> Panel | None:
    """The share of wrong tokens beyond training by the length of the carry chain into them; None without carries."""
    right: Counter[tuple[int, int]] = Counter()
    asked: Counter[tuple[int, int]] = Counter()
    results = [result for record in group.records for result in record.results]
    beyond = [result for result in results if result.scale > max(group.train_scales)]
    for token, length, good, n in (row for result in beyond for row in result.carries or [] if row[3]):
        right[length, token] += good
        asked[length, token] += n
    if not asked:
        return None
    lengths = sorted({length for length, _ in asked})
    tokens = range(max(token for _, token in asked) + 1)
    counts = [[asked[length, token] for token in tokens] for length in lengths]
    shares = {place: 1 - right[place] / n for place, n in asked.items()}
    values = [[shares.get((length, token)) for token in tokens] for length in lengths]
    return _panel(values, lengths, "carry chain", counts)


def _panel(
    values: Sequence[Sequence[float | None]], rows: Sequence[int], label: str, counts: Sequence[Sequence[int]] = ()
) -> Panel:
    x = Axis("answer token", ticks=whole_ticks(len(values[0])))
    y = Axis(label, ticks=range(len(rows)), tick_labels=list(map(str, rows)))
    return Panel([HeatMap(values, COLORS, unit="wrong", counts=counts)], x, y)

"""Figures of accuracy: exact match against scale, by task and embedding, token by token, and where answers go wrong.

Bands are 95 % intervals of the mean over seeds.
"""

import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from ldhd.evaluate import ScaleResult
from ldhd.experiments.groups import Group
from ldhd.parsing import evenly, format_range, spans
from ldhd.report.figures.marks import Axis, Band, Bars, Figure, HeatMap, Line, Mark, Panel, Span, Style
from ldhd.report.look import group_title, look, looks, position_title
from ldhd.report.terminal import counted
from ldhd.statistics import Mean

MOST_BANDS = 6
"""Of more curves in one panel, only the means and the seeds are drawn: bands would hide each other."""
MOST_SCALES, MOST_SEEDS = 200, 30
"""Test scales of a curve, and single seeds of a group, beyond which some are left out, evenly."""
MOST_ROWS, MOST_COLUMNS = 60, 200
"""Rows and columns of a map of errors, or tokens of a curve, beyond which some are left out, evenly."""
COLUMNS, ERROR_COLUMNS = 3, 4
FEW_SCALES = 2
"""Test scales of one panel of bars up to which each is written with its name."""
ERROR_COLORS = ("#f2f2f2", "#d55e00")
"""From no wrong tokens to nothing but wrong tokens."""

Styles = Callable[[Sequence[Group]], Sequence[Style]]
Means = Sequence[tuple[float, Mean]]
"""Means over seeds at some places of an axis."""


def accuracy_figure(groups: Sequence[Group], title: str = "", links: Mapping[str, str] | None = None) -> Figure:
    """Exact match against scale for the groups of one task; `links` maps labels to what means lead to on the page."""
    panel = accuracy_panel(groups, looks(groups), links)
    trained = ", ".join(sorted({format_range(group.train_scales) for group in groups}))
    return Figure([panel], (7.4, 4.0), title=title or f"{groups[0].task}: trained on scales {trained}")


def accuracy_panel(
    groups: Sequence[Group], styles: Sequence[Style], links: Mapping[str, str] | None = None, with_seeds: bool = True
) -> Panel:
    """The curves of some groups, with the training scales shaded that the first groups of all embeddings share."""
    firsts = {group.position: tuple(group.train_scales) for group in reversed(groups)}
    common = len(set(firsts.values())) == 1
    marks: list[Mark] = _training_spans(groups[0].train_scales) if common else []
    for index, (group, style) in enumerate(zip(groups, styles, strict=True)):
        means = [(scale, group.interval(scale)) for scale in evenly(group.scales, MOST_SCALES)]
        label, count = group_title(group), len(group.records)
        if with_seeds:
            label += f", {counted(count, 'seed')}" + (f", {group.fitted} fitted" if group.fitted < count else "")
        if links is not None or len(groups) <= MOST_BANDS:
            marks += _band(means, style, group.label)
            marks += _hard(group, style)
        marks += _seeds(group, style)
        link = "" if links is None else links[group.label]
        marks.append(_mean_line(means, style, index if len(groups) > 1 else 3, label, group.label, link))
    return Panel(marks, _scale_axis([scale for group in groups for scale in group.scales]), share_axis("exact match"))


def accuracy_panels(
    groups: Mapping[str, Sequence[Group]], title: str, styles: Styles = looks, legend: bool = True
) -> Figure:
    """A panel with a title for each entry of `groups`; `styles` chooses how the groups of one panel are drawn."""
    panels = [replace(accuracy_panel(own, styles(own), with_seeds=False), title=name) for name, own in groups.items()]
    columns = min(COLUMNS, len(panels))
    size = 3.4 * columns + 0.4, 2.4 * -(-len(panels) // columns) + 0.6
    return Figure(panels, size, columns, title, share="y", legend=legend)


def accuracy_matrix(groups: Sequence[Group]) -> Figure:
    """A row for each task and a column for each embedding, with exact match against scale."""
    tasks = list(dict.fromkeys(group.task for group in groups))
    positions = list(dict.fromkeys(group.position for group in groups))
    panels: list[Panel | None] = []
    for task in tasks:
        first = next(group.position for group in groups if group.task == task)
        for position in positions:
            own = [group for group in groups if (group.task, group.position) == (task, position)]
            panel = accuracy_panel(own, looks(own)) if own else None
            column = position_title(position) if task == tasks[0] else ""
            row = task if position == first else ""
            panels.append(panel and replace(panel, y=replace(panel.y, label=row), title=column))
    size = 1.0 + 1.7 * len(positions), 0.6 + 1.4 * len(tasks)
    return Figure(panels, size, len(positions), "Exact match against scale", share="y", legend=False)


def final_accuracy(groups: Sequence[Group]) -> Figure:
    """A panel for each task, with bars of exact match at the largest test scale, 95 % intervals and every seed.

    Bars are hatched if no seed fitted.
    """
    tasks: dict[str, list[Group]] = {}
    for group in groups:
        tasks.setdefault(group.task, []).append(group)
    widest = max(map(len, tasks.values()))
    panels = [_final_panel(task, own, widest) for task, own in tasks.items()]
    columns = min(COLUMNS, len(panels))
    size = max(5.4, 3.6 * columns), 0.6 + 2.2 * -(-len(panels) // columns)
    return Figure(panels, size, columns, "Exact match at the largest test scale, mean over seeds", share="y")


def _final_panel(task: str, groups: Sequence[Group], widest: int) -> Panel:
    """Bars, with the test scale under each run of bars that share it; all panels have room for `widest` bars."""
    marks: list[Mark] = []
    places: list[tuple[int, list[int]]] = []
    dots = Style(color="#262626", dash="", marker="circle", size=3, opacity=0.6)
    for x, group in enumerate(groups):
        scale = group.scales[-1]
        mean, seeds = group.interval(scale), group.exact(scale)
        color, label = look(group.position).color, position_title(group.position)
        marks.append(Bars([x], [mean.value], color, label, hatched=not group.fitted))
        if mean.low is not None and mean.high is not None:
            marks.append(Line([x, x], [mean.low, mean.high], Style(color="#404040", width=1.2)))
        marks.append(Line([x] * len(seeds), seeds, dots))
        if not places or places[-1][0] != scale:
            places.append((scale, []))
        places[-1][1].append(x)
    ticks = [sum(xs) / len(xs) for _, xs in places]
    labels = [f"scale {scale}" if len(places) <= FEW_SCALES else str(scale) for scale, _ in places]
    x_axis = Axis(range=(-0.7, widest - 0.3), ticks=ticks, tick_labels=labels)
    return Panel(marks, x_axis, share_axis("exact match"), title=task)


def digit_figure(groups: Sequence[Group], scale: int | None = None) -> Figure:
    """Accuracy of each answer token at one scale, the largest by default."""
    at = max(groups[0].scales) if scale is None else scale
    marks: list[Mark] = []
    longest = 0
    for index, (group, style) in enumerate(zip(groups, looks(groups), strict=True)):
        means = evenly(list(enumerate(group.per_position(at))), MOST_COLUMNS)
        marks += _band(means, style, group.label) if len(groups) <= MOST_BANDS else []
        marks.append(_mean_line(means, style, index, group_title(group), group.label))
        longest = max(longest, 1 + max((token for token, _ in means), default=0))
    x = Axis("answer token, the first written first", ticks=whole_ticks(longest))
    return Figure([Panel(marks, x, share_axis("right tokens"))], (7.4, 3.6), title=f"{groups[0].task} at scale {at}")


def error_figure(groups: Sequence[Group], panel_of: Callable[[Group], Panel | None]) -> Figure | None:
    """A panel for each group of one task, made by `error_panel` or `carry_panel`; None if there are no panels."""
    found = {group_title(group): panel_of(group) for group in groups}
    panels = [replace(panel, title=textwrap.fill(title, 32)) for title, panel in found.items() if panel is not None]
    if not panels:
        return None
    columns = min(ERROR_COLUMNS, len(panels))
    size = 0.8 + 2.3 * columns, 0.7 + 2.2 * -(-len(panels) // columns)
    return Figure(panels, size, columns, f"{groups[0].task}: share of wrong tokens", color_bar=True)


def error_panel(group: Group) -> Panel:
    """The share of wrong tokens by scale and place in the answer, averaged over seeds."""
    scales = evenly(group.scales, MOST_ROWS)
    rows = [group.per_position(scale) for scale in scales]
    tokens = evenly(range(max(map(len, rows))), MOST_COLUMNS)
    values = [[1 - row[token].value if token < len(row) else None for token in tokens] for row in rows]
    return _error_panel(values, scales, "scale", tokens)


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
    lengths = evenly(sorted({length for length, _ in asked}), MOST_ROWS)
    tokens = evenly(range(max(token for _, token in asked) + 1), MOST_COLUMNS)
    counts = [[asked[length, token] for token in tokens] for length in lengths]
    shares = {place: 1 - right[place] / n for place, n in asked.items()}
    values = [[shares.get((length, token)) for token in tokens] for length in lengths]
    return _error_panel(values, lengths, "carry chain", tokens, counts)


def run_figure(results: Sequence[ScaleResult], train_scales: Sequence[int], position: str, title: str) -> Figure:
    """Exact match of a single run against scale, with the 95 % interval over instances."""
    means = [(result.scale, Mean(result.exact, result.low, result.high, result.n)) for result in results]
    style = look(position)
    line = _mean_line(means, style, 3, position_title(position))
    marks = [*_training_spans(train_scales), *_band(means, style, position), line]
    panel = Panel(marks, _scale_axis([result.scale for result in results]), share_axis("exact match"))
    return Figure([panel], (6.4, 3.6), title=title)


def scales_beyond(groups: Sequence[Group]) -> list[int]:
    """The test scales beyond the training scales."""
    return sorted({scale for group in groups for scale in group.scales if scale > max(group.train_scales)})


def share_axis(label: str) -> Axis:
    """The axis of a share, from 0 to 1."""
    return Axis(label, (-0.04, 1.04), percent=True)


def whole_ticks(count: int, about: int = 10) -> range:
    """About so many whole numbers from 0 below a count."""
    return range(0, count, max(1, round(count / about)))


def _error_panel(
    values: Sequence[Sequence[float | None]],
    rows: Sequence[int],
    label: str,
    tokens: Sequence[int],
    counts: Sequence[Sequence[int]] = (),
) -> Panel:
    ticks = whole_ticks(len(tokens), 5)
    x = Axis("answer token", ticks=ticks, tick_labels=[str(tokens[tick]) for tick in ticks])
    y = Axis(label, ticks=range(len(rows)), tick_labels=list(map(str, rows)))
    return Panel([HeatMap(values, ERROR_COLORS, unit="wrong", counts=counts)], x, y)


def _mean_line(means: Means, style: Style, index: int, label: str, group: str = "", link: str = "") -> Line:
    """A mean over seeds. Later lines are thinner, so that lines on top of each other all show."""
    style = replace(style, width=max(1.4, 3.2 - 0.6 * index), size=max(3.5, 7.5 - index))
    values = [mean.value for _, mean in means]
    links = [link] * len(means) if link else ()
    texts = [f"mean of {counted(mean.n, 'seed')}{_bounds(mean)}" for _, mean in means]
    return Line([x for x, _ in means], values, style, label, group=group, texts=texts, links=links)


def _band(means: Means, style: Style, group: str) -> list[Band]:
    """The 95 % interval of a mean; nothing for a single seed."""
    bounds = [(x, mean.low, mean.high) for x, mean in means if mean.low is not None and mean.high is not None]
    if not bounds:
        return []
    x, low, high = zip(*bounds, strict=True)
    return [Band(x, low, high, style.color, group)]


def _seeds(group: Group, style: Style) -> list[Line]:
    """Every seed as a point, a cross if it did not fit."""
    found = []
    for fitted, marker, note in ((True, "circle", ""), (False, "x", ", not fitted")):
        some = evenly([record for record in group.records if record.fitted == fitted], MOST_SEEDS)
        points = [(r, record) for record in some for r in evenly(record.results, MOST_SCALES)]
        x, y = [r.scale for r, _ in points], [r.exact for r, _ in points]
        texts = [f"seed {record.seed}{note}" for _, record in points]
        links = [f"run-{record.hash}" for _, record in points]
        own = Style(color=style.color, dash="", marker=marker, size=3.5, opacity=0.5)
        found.append(Line(x, y, own, group=group.label, texts=texts, links=links))
    return [line for line in found if line.x]


def _hard(group: Group, style: Style) -> list[Line]:
    """The mean over seeds on hard instances, as triangles; nothing where it was not measured."""
    scales = group.hard_scales
    values = [fmean(group.hard(scale)) for scale in scales]
    own = Style(color=style.color, dash="", marker="triangle-down", size=5, opacity=0.8)
    texts = ["hard instances"] * len(scales)
    return [Line(scales, values, own, group=group.label, texts=texts, role="hard")] if scales else []


def _training_spans(scales: Sequence[int]) -> list[Mark]:
    return [Span(low - 0.5, high + 0.5, "training scales") for low, high in spans(scales)]


def _scale_axis(scales: Sequence[int]) -> Axis:
    first, last = min(scales), max(scales)
    ticks: list[int] = []
    for scale in sorted(set(scales)):
        if not ticks or scale <= 10 or scale >= 1.2 * ticks[-1]:
            ticks.append(scale)
    far = last > 30
    limits = first - 0.5, 1.1 * last if far else last + 0.5
    return Axis("scale of the instance", limits, ticks, scale="symlog" if far else "linear")


def _bounds(mean: Mean) -> str:
    return "" if mean.low is None or mean.high is None else f" (95 %: {mean.low:.1%} to {mean.high:.1%})"

"""Figures of accuracy: exact match against scale, by task and embedding, and token by token.

Bands are 95 % intervals of the mean over seeds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ldhd.experiments.groups import Group
from ldhd.parsing import format_range, spans
from ldhd.report.figures.marks import Axis, Band, Bars, Figure, Line, Mark, Panel, Points, Span
from ldhd.report.look import Look, group_title, looks, position_title
from ldhd.statistics import Mean, mean_interval

MOST_BANDS = 6
"""Of more curves in one panel, only the means are drawn: bands would hide each other."""
COLUMNS = 3
ALONE = 3
"""The place in the order of line widths of a line that has its panel to itself."""

Means = Sequence[tuple[float, Mean]]
"""Means over seeds at some places of an axis."""


def accuracy_figure(
    groups: Sequence[Group],
    styles: Sequence[Look] | None = None,
    title: str = "",
    links: Mapping[str, str] | None = None,
) -> Figure:
    """Exact match against scale for the groups of one task.

    Args:
        groups: The groups of one task, each drawn as its mean, its band and its seeds.
        styles: How each group is drawn; by default as its embedding is drawn everywhere.
        title: The title; by default the task and its training scales.
        links: On the page, the element that the mean of each label leads to.
    """
    panel = accuracy_panel(groups, styles or looks(groups), links)
    trained = ", ".join(sorted({format_range(group.train_scales) for group in groups}))
    return Figure([panel], (7.4, 4.0), title=title or f"{groups[0].task}: trained on scales {trained}")


def accuracy_panel(
    groups: Sequence[Group], styles: Sequence[Look], links: Mapping[str, str] | None = None, counted: bool = True
) -> Panel:
    """The curves of some groups, with the training scales shaded if the groups have them in common."""
    marks: list[Mark] = []
    trained = {tuple(group.train_scales) for group in groups}
    for low, high in spans(groups[0].train_scales) if len(trained) == 1 else []:
        marks.append(Span(low - 0.5, high + 0.5, "training scales"))
    spread = links is not None or len(groups) <= MOST_BANDS
    for index, (group, look) in enumerate(zip(groups, styles, strict=True)):
        means = [(scale, group.interval(scale)) for scale in group.scales]
        label = _label(group) if counted else group_title(group)
        target = "" if links is None else links[group.label]
        if spread:
            marks += [*mean_band(means, look, group.label), _seeds(group, look)]
        marks.append(mean_line(means, look, index if len(groups) > 1 else ALONE, label, group.label, target))
    scales = sorted({scale for group in groups for scale in group.scales})
    return Panel(marks, _scale_axis(scales), share_axis("exact match"))


def accuracy_panels(
    groups: Mapping[str, Sequence[Group]], title: str, styles: Sequence[Look] | None = None, legend: bool = True
) -> Figure:
    """Exact match against scale in several panels.

    Args:
        groups: Title of a panel -> the groups in it, of which the first has the boldest line.
        title: The title above all panels.
        styles: How each group of all panels in turn is drawn; by default as its embedding is drawn everywhere.
        legend: Whether labels are explained below.
    """
    rest = iter(styles or looks([group for own in groups.values() for group in own]))
    panels = [
        replace(accuracy_panel(own, [next(rest) for _ in own], counted=False), title=name)
        for name, own in groups.items()
    ]
    columns = min(COLUMNS, len(panels))
    size = 3.4 * columns + 0.4, 2.4 * -(-len(panels) // columns) + 0.6
    return Figure(panels, size, columns, title, share="y", legend=legend)


def accuracy_matrix(groups: Sequence[Group]) -> Figure:
    """A row for each task and a column for each embedding, with exact match against scale."""
    tasks = list(dict.fromkeys(group.task for group in groups))
    positions = list(dict.fromkeys(group.position for group in groups))
    found: dict[tuple[str, str], list[tuple[Group, Look]]] = {}
    for group, look in zip(groups, looks(groups), strict=True):
        found.setdefault((group.task, group.position), []).append((group, look))
    panels: list[Panel | None] = []
    for task in tasks:
        first = next(position for position in positions if (task, position) in found)
        for position in positions:
            own = found.get((task, position))
            row, column = task if position == first else "", position_title(position) if task == tasks[0] else ""
            panels.append(_in_matrix(own, row, column) if own else None)
    size = 1.0 + 1.7 * len(positions), 0.6 + 1.4 * len(tasks)
    return Figure(panels, size, len(positions), "Exact match against scale", share="y", legend=False)


def final_accuracy(groups: Sequence[Group]) -> Figure:
    """Bars of exact match at the largest test scale, with 95 % intervals and every seed; hatched if none fitted."""
    tasks = list(dict.fromkeys(group.task for group in groups))
    ordered = [
        (group, look) for task in tasks for group, look in zip(groups, looks(groups), strict=True) if group.task == task
    ]
    marks: list[Mark] = []
    places: dict[str, list[float]] = {}
    for index, (group, look) in enumerate(ordered):
        x = index + 0.7 * tasks.index(group.task)
        scale = group.scales[-1]
        mean, seeds = group.interval(scale), group.exact(scale)
        marks.append(Bars([x], [mean.value], look.color, position_title(group.position), hatched=not group.fitted))
        if mean.low is not None and mean.high is not None:
            marks.append(Line([x, x], [mean.low, mean.high], "#404040", width=1.2))
        marks.append(Points([x] * len(seeds), seeds, "#262626", size=3.0, opacity=0.6))
        places.setdefault(f"{group.task}\nscale {scale}", []).append(x)
    ticks = [sum(xs) / len(xs) for xs in places.values()]
    panel = Panel(marks, Axis(ticks=ticks, tick_labels=list(places)), share_axis("exact match, mean over seeds"))
    return Figure([panel], (max(5.4, 2.4 + 0.55 * len(groups) + 0.5 * len(tasks)), 3.8))


def digit_figure(groups: Sequence[Group], styles: Sequence[Look] | None = None, scale: int | None = None) -> Figure:
    """Accuracy of each answer token at one scale, the largest by default."""
    at = max(groups[0].scales) if scale is None else scale
    marks: list[Mark] = []
    for index, (group, look) in enumerate(zip(groups, styles or looks(groups), strict=True)):
        means = _tokens(group, at)
        marks += mean_band(means, look, group.label) if len(groups) <= MOST_BANDS else []
        marks.append(mean_line(means, look, index, group_title(group), group.label))
    panel = Panel(marks, Axis("answer token, the first written first", integer=True), share_axis("right tokens"))
    return Figure([panel], (7.4, 3.6), title=f"{groups[0].task} at scale {at}, mean over seeds")


def scales_beyond(groups: Sequence[Group]) -> list[int]:
    """The test scales beyond the training scales."""
    return sorted({scale for group in groups for scale in group.scales if scale > max(group.train_scales)})


def mean_line(means: Means, look: Look, index: int, label: str, group: str = "", link: str = "") -> Line:
    """A mean over seeds. Later lines are thinner, so that lines on top of each other all show."""
    return Line(
        [x for x, _ in means],
        [mean.value for _, mean in means],
        look.color,
        label,
        group=group,
        dash=look.dash,
        marker=look.marker,
        width=max(1.4, 3.2 - 0.6 * index),
        size=max(3.5, 7.5 - index),
        texts=[_bounds(mean) for _, mean in means],
        links=[link] * len(means) if link else (),
    )


def mean_band(means: Means, look: Look, group: str) -> list[Band]:
    """The 95 % interval of a mean over seeds; nothing for a single seed."""
    bounds = [(x, mean.low, mean.high) for x, mean in means if mean.low is not None and mean.high is not None]
    if not bounds:
        return []
    x, low, high = zip(*bounds, strict=True)
    return [Band(x, low, high, look.color, group)]


def share_axis(label: str) -> Axis:
    """The axis of a share, from 0 to 1."""
    return Axis(label, (-0.04, 1.04), percent=True)


def seeds_of(count: int) -> str:
    """`1 seed` or `3 seeds`."""
    return f"{count} seed{'s' * (count > 1)}"


def _tokens(group: Group, scale: int) -> Means:
    """The mean accuracy of each answer token at a scale, over the seeds whose answers are that long."""
    rows = [result.per_position for record in group.records for result in record.results if result.scale == scale]
    longest = max(map(len, rows), default=0)
    return [(place, mean_interval([row[place] for row in rows if place < len(row)])) for place in range(longest)]


def _seeds(group: Group, look: Look) -> Points:
    """Every seed as a point, a cross if it did not fit."""
    points = [(result, record) for record in group.records for result in record.results]
    return Points(
        [result.scale for result, _ in points],
        [result.exact for result, _ in points],
        look.color,
        group=group.label,
        size=3.5,
        crossed=[not record.fitted for _, record in points],
        texts=[f"seed {record.seed}" + ", not fitted" * (not record.fitted) for _, record in points],
        links=[f"run-{record.hash}" for _, record in points],
    )


def _scale_axis(scales: Sequence[int]) -> Axis:
    far = scales[-1] > 30
    ticks: list[int] = []
    for scale in scales:
        if not ticks or scale <= 10 or scale >= 1.2 * ticks[-1]:
            ticks.append(scale)
    limits = scales[0] - 0.5, 1.1 * scales[-1] if far else scales[-1] + 0.5
    return Axis("scale of the instance", limits, ticks, scale="symlog" if far else "linear")


def _in_matrix(own: Sequence[tuple[Group, Look]], row: str, column: str) -> Panel:
    """One panel of the matrix, with the names of its row and column where it is the first of them."""
    panel = accuracy_panel([group for group, _ in own], [look for _, look in own])
    return replace(panel, y=replace(panel.y, label=row), title=column)


def _bounds(mean: Mean) -> str:
    limits = "" if mean.low is None or mean.high is None else f" (95 %: {mean.low:.1%} to {mean.high:.1%})"
    return f"mean of {seeds_of(mean.n)}{limits}"


def _label(group: Group) -> str:
    """The label of a group, with its number of seeds and how many of them fitted if not all did."""
    count = len(group.records)
    fitted = "" if group.fitted == count else f", {group.fitted} fitted"
    return f"{group_title(group)}, {seeds_of(count)}{fitted}"

"""The figures of presets, one for each class of view."""

from collections.abc import Sequence
from dataclasses import replace
from math import log

from ldhd.experiments.groups import Group
from ldhd.experiments.outcomes import Outcome, smallest_depths
from ldhd.experiments.preset import Depths, Digits, Grid, Plane, Preset, Shares, Tasks, depth
from ldhd.report.figures.accuracy import accuracy_panels, digit_figure
from ldhd.report.figures.marks import Axis, Figure, HeatMap, Mark, Panel, Style, Text
from ldhd.report.figures.theory import plane_figure
from ldhd.report.look import entitled, look, position_title
from ldhd.report.terminal import counted, percent

LOWEST = 0.8
"""Extrapolation factors below it share its colour."""
COLORS = ("#f7fcf5", "#c7e9c0", "#74c476", "#238b45", "#00441b")
"""From the lowest factor to the highest."""


def preset_figures(preset: Preset, groups: Sequence[Group], outcomes: Sequence[Outcome]) -> dict[str, Figure]:
    """Return the figures of a preset by the names of their files; without runs, only those that need none."""
    if not groups and not isinstance(preset.view, Plane):
        return {}
    main = {preset.file_name: _main_figure(preset, groups, outcomes)}
    curves = isinstance(preset.view, Grid) and preset.view.curves
    return {**main, f"{preset.file_name}-curves": _curves(groups)} if curves else main


def factor_figure(outcomes: Sequence[Outcome], title: str, depths: bool = False) -> Figure:
    """Rows by tasks: the extrapolation factor and, below it, exact match at the largest scale and the prediction.

    With `depths`, the number of layers is written too. A cell with fewer seeds than others says so. A cell in which
    most seeds do not fit has no color, since it says nothing about length.
    """
    tasks = list(dict.fromkeys(outcome.task for outcome in outcomes))
    rows = list(dict.fromkeys(entitled(outcome.label, outcome.position) for outcome in outcomes))
    seeds = max(outcome.seeds for outcome in outcomes)
    highest = max(2.0, *(outcome.factor for outcome in outcomes))
    values: list[list[float | None]] = [[None] * len(tasks) for _ in rows]
    texts: list[Mark] = []
    for outcome in outcomes:
        x, y = tasks.index(outcome.task), rows.index(entitled(outcome.label, outcome.position))
        factor = max(outcome.factor, LOWEST)
        values[y][x] = factor if outcome.fits else None
        ink = "#ffffff" if outcome.fits and log(factor / LOWEST) > 0.6 * log(highest / LOWEST) else "#000000"
        fewer = "" if outcome.seeds == seeds else f", {counted(outcome.seeds, 'seed')}"
        fitted = fewer if outcome.fitted == outcome.seeds else f", {outcome.fitted}/{outcome.seeds} fitted"
        layers = f"{depth(outcome.layers)}, " if depths else ""
        predicted = f"\npredicted: {outcome.predicted}" if outcome.predicted else ""
        small = f"{layers}{percent(outcome.exact)} % at {outcome.scale}{fitted}{predicted}"
        far = f"{outcome.factor:g}x" if outcome.fits else "does not fit"
        texts += [Text(x, y - 0.2, far, 9 if outcome.fits else 7, ink), Text(x, y + 0.24, small, 5.5, ink)]
    panel = Panel(
        [HeatMap(values, COLORS, LOWEST, highest, log=True), *texts],
        Axis(ticks=range(len(tasks)), tick_labels=tasks),
        Axis(ticks=range(len(rows)), tick_labels=rows),
    )
    names = 0.065 * max(map(len, rows))  # the width of the names of the rows, in inches
    size = 0.8 + names + 1.35 * len(tasks), 1.0 + 0.42 * len(rows)
    return Figure([panel], size, title=f"{title}; {counted(seeds, 'seed')}")


def _main_figure(preset: Preset, groups: Sequence[Group], outcomes: Sequence[Outcome]) -> Figure:
    predicted = [f"; predicted: {outcome.predicted}" if outcome.predicted else "" for outcome in outcomes]
    pairs = list(zip(groups, predicted, strict=True))
    match preset.view:
        case Plane():
            return plane_figure()
        case Grid():
            return factor_figure(outcomes, preset.title)
        case Depths():
            return factor_figure(smallest_depths(outcomes), preset.title, depths=True)
        case Digits():
            return digit_figure([replace(group, label=group.label + words) for group, words in pairs])
        case Shares():
            return _shares(preset, pairs)
    panels = {}
    for group, words in pairs:
        task = f"{group.task}, " if isinstance(preset.view, Tasks) else ""
        fitted = f" ({group.fitted} of {len(group.records)} fitted)" if group.fitted else " (not fitted)"
        fitted = "" if group.fitted == len(group.records) else fitted
        panels[f"{task}{position_title(group.position)}{fitted}{words}"] = [group]
    return accuracy_panels(panels, preset.title, legend=False)


def _shares(preset: Preset, pairs: Sequence[tuple[Group, str]]) -> Figure:
    """A panel for each embedding, with a line for each share of priming instances."""
    scale = max(group.config.train.priming_scale or 0 for group, _ in pairs)
    panels: dict[str, list[Group]] = {}
    for position in dict.fromkeys(group.position for group, _ in pairs):
        predicted = [words for group, words in pairs if group.position == position and words]
        title = position_title(position) + "".join(f"{words} without them" for words in predicted[:1])
        panels[title] = [
            replace(group, label=f"{Shares.share(group.config)} of scale {scale}")
            for group, _ in pairs
            if group.position == position
        ]
    return accuracy_panels(panels, preset.title, _shades)


def _curves(groups: Sequence[Group]) -> Figure:
    """Exact match against scale, a panel for each task with all embeddings."""
    panels: dict[str, list[Group]] = {}
    for group in groups:
        panels.setdefault(group.task, []).append(replace(group, label=position_title(group.position)))
    trained, most = groups[0].train_scales, max(len(group.records) for group in groups)
    seeds = "mean over " * (most > 1) + counted(most, "seed")
    title = f"Trained on scales {min(trained)}-{max(trained)}, the same tasks and steps for all; {seeds}"
    return accuracy_panels(panels, title)


def _shades(groups: Sequence[Group]) -> list[Style]:
    """Return styles from dark to light."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    shades = [to_hex(colormaps["viridis"](0.85 * k / max(len(groups) - 1, 1))) for k in range(len(groups))]
    return [replace(look(group.position), color=shade) for group, shade in zip(groups, shades, strict=True)]

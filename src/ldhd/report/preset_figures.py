"""The figures of presets, one function for each class of view."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING

from ldhd.experiments.groups import Group
from ldhd.experiments.outcomes import Outcome, smallest_depths
from ldhd.experiments.preset import Preset
from ldhd.experiments.views import Depths, Digits, Grid, Plane, Shares, Tasks, View
from ldhd.report.figures.accuracy import accuracy_by_task, accuracy_panel, digit_figure, seeds_of
from ldhd.report.figures.marks import Figure, Panel
from ldhd.report.grid import draw_grid
from ldhd.report.look import Look, look, looks, position_title
from ldhd.report.render_matplotlib import draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

COLUMNS = 3


@dataclass(frozen=True)
class Results:
    """What the figures of a preset show: its groups, and the outcome of each."""

    preset: Preset
    groups: Sequence[Group]
    outcomes: Sequence[Outcome]

    def titles(self) -> list[str]:
        """Return for each group its embedding, how many seeds fit if not all do, and the verdict of the predictor."""
        pairs = zip(self.groups, self.outcomes, strict=True)
        return [f"{position_title(group.position)}{_fitted(group)}{_predicted(found)}" for group, found in pairs]


def preset_figures(results: Results) -> "dict[str, Canvas]":
    """Draw the figures of a preset, by the names of their files; without runs only those that need none."""
    view, name = results.preset.view, results.preset.file_name
    if not results.groups and not isinstance(view, Plane):
        return {}
    figures = {name: draw_view(view, results)}
    if isinstance(view, Grid) and view.curves:
        figures[f"{name}-curves"] = _curves(results)
    return figures


@singledispatch
def draw_view(view: View, results: Results) -> "Canvas":
    """Draw the main figure of a preset: by default, a panel for each group."""
    return _draw_panels(results, results.titles())


@draw_view.register(Tasks)
def _(view: Tasks, results: Results) -> "Canvas":
    titles = zip(results.groups, results.titles(), strict=True)
    return _draw_panels(results, [f"{group.task}, {title}" for group, title in titles])


@draw_view.register(Plane)
def _(view: Plane, results: Results) -> "Canvas":
    from ldhd.report.plane import plane_figure

    return plane_figure()


@draw_view.register(Digits)
def _(view: Digits, results: Results) -> "Canvas":
    pairs = zip(results.groups, results.outcomes, strict=True)
    return draw(digit_figure([replace(group, label=f"{group.label}{_predicted(found)}") for group, found in pairs]))


@draw_view.register(Shares)
def _(view: Shares, results: Results) -> "Canvas":
    configs = [group.config for group in results.groups if group.config is not None]
    scale = max(config.train.priming_scale or 0 for config in configs)
    panels = []
    for position in dict.fromkeys(group.position for group in results.groups):
        own = [
            replace(group, label=f"{view.share(config)} of scale {scale}")
            for group, config in zip(results.groups, configs, strict=True)
            if group.position == position
        ]
        predicted = [_predicted(found) for found in results.outcomes if found.position == position]
        title = position_title(position) + next((f"{word} without them" for word in predicted if word), "")
        panels.append(replace(accuracy_panel(own, _shades(own), counted=False), title=title))
    return draw(_figure(results.preset, panels, legend=True))


@draw_view.register(Grid)
def _(view: Grid, results: Results) -> "Canvas":
    return draw_grid(results.outcomes, results.preset.title)


@draw_view.register(Depths)
def _(view: Depths, results: Results) -> "Canvas":
    return draw_grid(smallest_depths(results.outcomes), results.preset.title, depths=True)


def _draw_panels(results: Results, titles: Sequence[str]) -> "Canvas":
    """Draw a panel with a title for each group."""
    panels = [
        replace(accuracy_panel([group], looks([group])), title=title)
        for group, title in zip(results.groups, titles, strict=True)
    ]
    return draw(_figure(results.preset, panels))


def _figure(preset: Preset, panels: Sequence[Panel], legend: bool = False) -> Figure:
    columns = min(COLUMNS, len(panels))
    size = 3.5 * columns + 0.4, 2.5 * -(-len(panels) // columns) + 0.9
    return Figure(panels, size, columns, preset.title, share="y", legend=legend)


def _curves(results: Results) -> "Canvas":
    """Draw exact match against scale, a panel for each task with all embeddings."""
    panels: dict[str, list[Group]] = {}
    for group in results.groups:
        panels.setdefault(group.task, []).append(replace(group, label=position_title(group.position)))
    trained, most = results.groups[0].train_scales, max(len(group.records) for group in results.groups)
    seeds = f"{'mean over ' * (most > 1)}{seeds_of(most)}"
    title = f"Trained on scales {min(trained)}-{max(trained)}, the same tasks and steps for all; {seeds}"
    return draw(accuracy_by_task(panels, title))


def _fitted(group: Group) -> str:
    count = len(group.records)
    return "" if group.fitted == count else f" ({group.fitted} of {count} fitted)" if group.fitted else " (not fitted)"


def _predicted(outcome: Outcome) -> str:
    return f"; predicted: {outcome.predicted}" if outcome.predicted else ""


def _shades(groups: Sequence[Group]) -> list[Look]:
    """Return looks from dark to light."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    shades = [to_hex(colormaps["viridis"](0.85 * k / max(len(groups) - 1, 1))) for k in range(len(groups))]
    return [replace(look(group.position), colour=shade) for group, shade in zip(groups, shades, strict=True)]

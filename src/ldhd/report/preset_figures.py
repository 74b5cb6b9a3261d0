"""The figures of presets, one function for each class of view."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch

from ldhd.experiments.groups import Group
from ldhd.experiments.outcomes import Outcome, smallest_depths
from ldhd.experiments.preset import Preset
from ldhd.experiments.views import Depths, Digits, Grid, Plane, Shares, Tasks, View
from ldhd.report.figures.accuracy import accuracy_panels, digit_figure, seeds_of
from ldhd.report.figures.factors import factor_figure
from ldhd.report.figures.marks import Figure, Style
from ldhd.report.figures.plane import plane_figure
from ldhd.report.look import look, looks, position_title


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


def preset_figures(results: Results) -> dict[str, Figure]:
    """Return the figures of a preset by the names of their files; without runs, only those that need none."""
    view, name = results.preset.view, results.preset.file_name
    if not results.groups and not isinstance(view, Plane):
        return {}
    figures = {name: view_figure(view, results)}
    if isinstance(view, Grid) and view.curves:
        figures[f"{name}-curves"] = _curves(results)
    return figures


@singledispatch
def view_figure(view: View, results: Results) -> Figure:
    """Return the main figure of a preset: by default, a panel for each group."""
    return _one_each(results, results.titles())


@view_figure.register(Tasks)
def _(view: Tasks, results: Results) -> Figure:
    titles = zip(results.groups, results.titles(), strict=True)
    return _one_each(results, [f"{group.task}, {title}" for group, title in titles])


@view_figure.register(Plane)
def _(view: Plane, results: Results) -> Figure:
    return plane_figure()


@view_figure.register(Digits)
def _(view: Digits, results: Results) -> Figure:
    pairs = zip(results.groups, results.outcomes, strict=True)
    return digit_figure([replace(group, label=f"{group.label}{_predicted(found)}") for group, found in pairs])


@view_figure.register(Shares)
def _(view: Shares, results: Results) -> Figure:
    configs = [group.config for group in results.groups if group.config is not None]
    scale = max(config.train.priming_scale or 0 for config in configs)
    panels: dict[str, list[Group]] = {}
    for position in dict.fromkeys(group.position for group in results.groups):
        own = [
            replace(group, label=f"{view.share(config)} of scale {scale}")
            for group, config in zip(results.groups, configs, strict=True)
            if group.position == position
        ]
        predicted = [_predicted(found) for found in results.outcomes if found.position == position]
        title = position_title(position) + next((f"{word} without them" for word in predicted if word), "")
        panels[title] = own
    styles = [style for own in panels.values() for style in _shades(own)]
    return accuracy_panels(panels, results.preset.title, styles)


@view_figure.register(Grid)
def _(view: Grid, results: Results) -> Figure:
    return factor_figure(results.outcomes, results.preset.title)


@view_figure.register(Depths)
def _(view: Depths, results: Results) -> Figure:
    return factor_figure(smallest_depths(results.outcomes), results.preset.title, depths=True)


def _one_each(results: Results, titles: Sequence[str]) -> Figure:
    """A panel with a title for each group."""
    panels = {title: [group] for group, title in zip(results.groups, titles, strict=True)}
    styles = [style for group in results.groups for style in looks([group])]
    return accuracy_panels(panels, results.preset.title, styles, legend=False)


def _curves(results: Results) -> Figure:
    """Exact match against scale, a panel for each task with all embeddings."""
    panels: dict[str, list[Group]] = {}
    for group in results.groups:
        panels.setdefault(group.task, []).append(replace(group, label=position_title(group.position)))
    trained, most = results.groups[0].train_scales, max(len(group.records) for group in results.groups)
    seeds = f"{'mean over ' * (most > 1)}{seeds_of(most)}"
    title = f"Trained on scales {min(trained)}-{max(trained)}, the same tasks and steps for all; {seeds}"
    return accuracy_panels(panels, title)


def _fitted(group: Group) -> str:
    count = len(group.records)
    return "" if group.fitted == count else f" ({group.fitted} of {count} fitted)" if group.fitted else " (not fitted)"


def _predicted(outcome: Outcome) -> str:
    return f"; predicted: {outcome.predicted}" if outcome.predicted else ""


def _shades(groups: Sequence[Group]) -> list[Style]:
    """Return looks from dark to light."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    shades = [to_hex(colormaps["viridis"](0.85 * k / max(len(groups) - 1, 1))) for k in range(len(groups))]
    return [replace(look(group.position), color=shade) for group, shade in zip(groups, shades, strict=True)]

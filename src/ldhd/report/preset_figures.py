"""The figures of presets, one for each class of view."""

from collections.abc import Sequence
from dataclasses import replace

from ldhd.experiments.groups import Group
from ldhd.experiments.outcomes import Outcome, smallest_depths
from ldhd.experiments.preset import Preset
from ldhd.experiments.views import Depths, Digits, Grid, Plane, Shares, Tasks
from ldhd.report.figures.accuracy import accuracy_panels, digit_figure, seeds_of
from ldhd.report.figures.factors import factor_figure
from ldhd.report.figures.marks import Figure, Style
from ldhd.report.figures.plane import plane_figure
from ldhd.report.look import look, position_title


def preset_figures(preset: Preset, groups: Sequence[Group], outcomes: Sequence[Outcome]) -> dict[str, Figure]:
    """Return the figures of a preset by the names of their files; without runs, only those that need none."""
    view = preset.view
    if not groups and not isinstance(view, Plane):
        return {}
    figures = {preset.file_name: _main_figure(preset, groups, outcomes)}
    if isinstance(view, Grid) and view.curves:
        figures[f"{preset.file_name}-curves"] = _curves(groups)
    return figures


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
    titles = [f"{position_title(group.position)}{_fitted(group)}{words}" for group, words in pairs]
    if isinstance(preset.view, Tasks):
        titles = [f"{group.task}, {title}" for group, title in zip(groups, titles, strict=True)]
    panels = {title: [group] for group, title in zip(groups, titles, strict=True)}
    return accuracy_panels(panels, preset.title, legend=False)


def _shares(preset: Preset, pairs: Sequence[tuple[Group, str]]) -> Figure:
    """A panel for each embedding, with a line for each share of priming instances."""
    configs = [group.config for group, _ in pairs if group.config is not None]
    scale = max(config.train.priming_scale or 0 for config in configs)
    panels: dict[str, list[Group]] = {}
    for position in dict.fromkeys(group.position for group, _ in pairs):
        predicted = [words for group, words in pairs if group.position == position and words]
        title = position_title(position) + "".join(f"{words} without them" for words in predicted[:1])
        panels[title] = [
            replace(group, label=f"{Shares.share(config)} of scale {scale}")
            for (group, _), config in zip(pairs, configs, strict=True)
            if group.position == position
        ]
    return accuracy_panels(panels, preset.title, _shades)


def _curves(groups: Sequence[Group]) -> Figure:
    """Exact match against scale, a panel for each task with all embeddings."""
    panels: dict[str, list[Group]] = {}
    for group in groups:
        panels.setdefault(group.task, []).append(replace(group, label=position_title(group.position)))
    trained, most = groups[0].train_scales, max(len(group.records) for group in groups)
    seeds = f"{'mean over ' * (most > 1)}{seeds_of(most)}"
    title = f"Trained on scales {min(trained)}-{max(trained)}, the same tasks and steps for all; {seeds}"
    return accuracy_panels(panels, title)


def _fitted(group: Group) -> str:
    count = len(group.records)
    return "" if group.fitted == count else f" ({group.fitted} of {count} fitted)" if group.fitted else " (not fitted)"


def _shades(groups: Sequence[Group]) -> list[Style]:
    """Return styles from dark to light."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    shades = [to_hex(colormaps["viridis"](0.85 * k / max(len(groups) - 1, 1))) for k in range(len(groups))]
    return [replace(look(group.position), color=shade) for group, shade in zip(groups, shades, strict=True)]

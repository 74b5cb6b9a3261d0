"""Views of presets: how the groups of a preset are labelled; `ldhd.report.preset_figures` has a figure for each."""

from collections.abc import Sequence
from dataclasses import dataclass

from ldhd.experiments.config import RunConfig
from ldhd.experiments.groups import settings_of
from ldhd.experiments.parts import position_options


@dataclass(frozen=True)
class View:
    """Base of all views: groups differ in the embedding alone."""

    def labels(self, configs: Sequence[RunConfig]) -> list[str]:
        """Return a label for each group, given its first config; labels of one task differ."""
        return [config.position for config in configs]


@dataclass(frozen=True)
class Plane(View):
    """A picture of linear classifiers in the plane, without runs."""


@dataclass(frozen=True)
class Panels(View):
    """Exact match against scale, a panel for each embedding."""


@dataclass(frozen=True)
class Digits(View):
    """Accuracy of each answer token at the largest scale."""


@dataclass(frozen=True)
class Tasks(View):
    """Exact match against scale for one embedding, a panel for each task."""

    def labels(self, configs: Sequence[RunConfig]) -> list[str]:
        return [config.task for config in configs]


@dataclass(frozen=True)
class Shares(View):
    """Exact match against scale, a panel for each embedding with a line for each share of priming instances."""

    def labels(self, configs: Sequence[RunConfig]) -> list[str]:
        return [f"{config.position}, {self.share(config)}" for config in configs]

    @staticmethod
    def share(config: RunConfig) -> str:
        """Return the share of priming instances, such as `0.1 %`."""
        return f"{100 * config.train.priming_share:g} %"


@dataclass(frozen=True)
class Depths(View):
    """The smallest depth at which each embedding fits each task, and the extrapolation factor there."""

    def labels(self, configs: Sequence[RunConfig]) -> list[str]:
        return [f"{config.position}, {depth(config.model_options.layers)}" for config in configs]


@dataclass(frozen=True)
class Grid(View):
    """The extrapolation factor of each variant on each task.

    A variant is labelled by what differs from the first run of its task with the same embedding. Embeddings other
    than the first of a task are named, with the options in which they differ from the defaults.
    """

    curves: bool = False
    """Whether exact match against scale is drawn too, a panel for each task."""

    def labels(self, configs: Sequence[RunConfig]) -> list[str]:
        firsts: dict[str, dict[str, RunConfig]] = {}
        for config in configs:
            firsts.setdefault(config.task, {}).setdefault(config.position, config)
        return [_variant(config, firsts[config.task]) for config in configs]


def depth(layers: int) -> str:
    """Return `1 layer`, `2 layers` and so on."""
    return f"{layers} layer{'s' * (layers > 1)}"


def _variant(config: RunConfig, firsts: dict[str, RunConfig]) -> str:
    """Label a run, given the first run of its task with each embedding."""
    baseline, main = firsts[config.position], next(iter(firsts))
    if config.position == main:
        return _changes(config, baseline) or main
    options = position_options(config.position, {})
    changes = _changes(config, baseline.model_copy(update={"position_options": options}))
    return f"{config.position} ({changes})" if changes else config.position


def _changes(config: RunConfig, baseline: RunConfig) -> str:
    """Write the settings in which a run differs from another of its task and embedding, those of the position last."""
    own, usual = settings_of(config), settings_of(baseline)
    changed = sorted((key for key in own if own[key] != usual[key]), key=lambda key: key.startswith("position."))
    values = {key: f"{own[key]:g}" if type(own[key]) is float else own[key] for key in changed}
    return ", ".join(f"{key.rpartition('.')[2]}={value}" for key, value in values.items())

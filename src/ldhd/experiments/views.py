"""Views of presets: how the groups of a preset are labelled, and by what a claim about them is looked up.

A view says nothing about drawing; `ldhd.report.preset_figures` has a figure for each class.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from ldhd.experiments.config import RunConfig
from ldhd.experiments.parts import position_options


@dataclass(frozen=True)
class View:
    """Base of all views: groups differ in the embedding alone."""

    def labels(self, configs: Sequence[RunConfig]) -> list[str]:
        """Return a label for each group, given its first config; labels of one task differ."""
        return [config.position for config in configs]

    def claim_key(self, config: RunConfig) -> str | None:
        """Return the key of the claims of a preset about this run, None if there are none."""
        return config.position


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

    def claim_key(self, config: RunConfig) -> str | None:
        return config.task


@dataclass(frozen=True)
class Shares(View):
    """Exact match against scale, a panel for each embedding with a line for each share of priming instances."""

    def labels(self, configs: Sequence[RunConfig]) -> list[str]:
        return [f"{config.position}, {self.share(config)}" for config in configs]

    def claim_key(self, config: RunConfig) -> str | None:
        return None

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
        return _written(_changes(config, baseline)) or main
    options = position_options(config.position, {})
    changes = _written(_changes(config, baseline.model_copy(update={"position_options": options})))
    return f"{config.position} ({changes})" if changes else config.position


def _changes(config: RunConfig, baseline: RunConfig) -> dict[str, Any]:
    """Return the options of model, training and position that differ from those of another run."""
    changes = {
        **_differing(config.model_options, baseline.model_options),
        **_differing(config.train, baseline.train),
    }
    for term, own in config.position_options.items():
        usual = baseline.position_options[term]
        changes |= {name: value for name, value in own.items() if value != usual[name]}
    return changes


def _differing(options: BaseModel, baseline: BaseModel) -> dict[str, Any]:
    return {name: value for name, value in options if value != getattr(baseline, name)}


def _written(changes: dict[str, Any]) -> str:
    return ", ".join(
        f"{name}={value:g}" if type(value) is float else f"{name}={value}" for name, value in changes.items()
    )

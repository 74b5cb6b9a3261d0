"""Presets: named experiments in several sizes, with the claims about them and the views they are shown in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ldhd.experiments.config import RunConfig, make_config
from ldhd.experiments.groups import settings_of
from ldhd.experiments.parts import assign_settings, position_options
from ldhd.names import lookup_only
from ldhd.train import TrainConfig

SIZES: dict[str, tuple[int, ...]] = {"quick": (0,), "full": (0, 1, 2, 3, 4), "paper": (0,)}
"""The seeds of each size. `quick` and `full` train a small model that suits a laptop, `paper` trains GPT-2."""

SIX = ("rpe-square", "rpe", "rope", "none", "alibi", "abacus")
"""The embeddings of Figures 3 to 7."""

Claim = Literal["high", "low", "guess", "between", "unspecified"]
"""What the paper says about exact match at the largest scale: nearly perfect; low; hardly better than a guess between
two answers; above chance but not above RPE-Square; nothing that can be checked."""

USUAL_CLAIMS: dict[str, Claim] = {
    **{"rpe-square": "high", "rpe-absolute": "high", "abacus": "between"},
    **{"rpe": "low", "rope": "low", "none": "low", "alibi": "low"},
}

GPT2: dict[str, Any] = {
    "train.learning_rate": 5e-4,
    "train.weight_decay": 1.0,
    "train.batch_size": 512,
    "train.accumulation": 2,
    **{
        f"position.{name}.{option}": value
        for name in ("rpe-square", "rpe-absolute")
        for option, value in (("projections", "separate"), ("anchor_scale", 1.0), ("max_distance", 256))
    },
}
"""The paper's hyperparameters: 256 instances on each of two GPUs, gradients of two such batches added up."""

SMALL: dict[str, Any] = {"position.abacus.max_offset": 20}
"""Settings of the sizes `quick` and `full`. These offsets suffice for all test scales; more need longer training."""

ASSUMED = (
    "the anchors have projections of their own, and R is learned for each head and not clipped",
    "GPT-2's own position embedding is left out, its dropout of 0.1 kept",
)
"""What every preset of size `paper` assumes because the paper does not say it."""


class View:
    """How the groups of a preset are labelled, by default by the embedding; `report.preset_figures` draws each view."""

    def labels(self, configs: Sequence[RunConfig]) -> list[str]:
        """Return a label for each group, given its first config; labels of one task differ."""
        return [config.position for config in configs]


class Plane(View):
    """A picture of linear classifiers in the plane, without runs."""


class Panels(View):
    """Exact match against scale, a panel for each embedding."""


class Digits(View):
    """Accuracy of each answer token at the largest scale."""


class Tasks(View):
    """Exact match against scale for one embedding, a panel for each task."""

    def labels(self, configs: Sequence[RunConfig]) -> list[str]:
        return [config.task for config in configs]


class Shares(View):
    """Exact match against scale, a panel for each embedding with a line for each share of priming instances."""

    def labels(self, configs: Sequence[RunConfig]) -> list[str]:
        return [f"{config.position}, {self.share(config)}" for config in configs]

    @staticmethod
    def share(config: RunConfig) -> str:
        """Return the share of priming instances, such as `0.1 %`."""
        return f"{100 * config.train.priming_share:g} %"


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


@dataclass(frozen=True)
class PresetPart:
    """Runs that differ in embedding and seed alone."""

    task: str
    positions: tuple[str, ...]
    train_scales: tuple[int, ...] = (1, 2, 3, 4, 5)
    test_scales: tuple[int, ...] = tuple(range(1, 11))
    model: str | None = None
    """Name of the model, the task's own by default."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the sizes `quick` and `full`."""
    paper: Mapping[str, Any] = field(default_factory=dict)
    """Settings in which size `paper` departs from `GPT2`."""


def _stopped(config: RunConfig, steps: int) -> RunConfig:
    """Return the same run, stopped after `steps`; its learning rate follows the schedule of the whole run."""
    if steps >= config.train.steps:
        return config
    train = {**config.train.model_dump(), "steps": steps}
    train["schedule_steps"] = config.train.schedule_steps or config.train.steps
    return config.model_copy(update={"train": TrainConfig(**train)})


@dataclass(frozen=True)
class Preset:
    """A figure of the paper, one of its arguments, or a result beyond it, as an experiment."""

    name: str
    title: str
    statement: str
    """What the paper says, in words."""
    parts: tuple[PresetPart, ...] = ()
    view: View = field(default_factory=Panels)
    claims: Mapping[str, Claim] = field(default_factory=lambda: USUAL_CLAIMS)
    """What the paper says about exact match with an embedding or on a task."""
    assumed: tuple[str, ...] = ()
    """Settings of size `paper` that the paper does not give."""
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: SIZES)
    """The seeds of each size; presets of the paper have all sizes."""
    file: str = ""
    """Name of its files without suffix, that of the preset by default."""

    @property
    def file_name(self) -> str:
        return self.file or self.name

    def assumptions(self, size: str) -> list[str]:
        """Return what a size assumes because the paper does not say it."""
        return [*ASSUMED, *self.assumed] if size == "paper" else []

    def configs(
        self, size: str = "quick", seeds: Sequence[int] | None = None, steps: int | None = None, device: str = "cpu"
    ) -> list[RunConfig]:
        """Return the configs of all its runs, by default with the seeds of the size, stopped after `steps`."""
        own = lookup_only(size, self.sizes, "size")
        made = []
        for part in self.parts:
            settings = {**GPT2, **part.paper} if size == "paper" else {**SMALL, **part.settings}
            # settings `position.TERM.X` of embeddings that are not in this part are checked all the same
            others = [key.split(".")[1] for key in settings if key.count(".") > 1]
            assigned = assign_settings([*part.positions, *others], settings)
            made += [
                make_config(
                    part.task,
                    position,
                    model="gpt2" if size == "paper" else part.model,
                    train_scales=part.train_scales,
                    test_scales=part.test_scales,
                    seed=seed,
                    settings=assigned[position],
                    device=device,
                    built=False,
                )
                for position in part.positions
                for seed in (own if seeds is None else seeds)
            ]
        return made if steps is None else [_stopped(config, steps) for config in made]

    def claim(self, config: RunConfig) -> Claim:
        """Return what the paper says about exact match of a run at the largest scale."""
        return self.claims.get(config.position) or self.claims.get(config.task, "unspecified")

"""What a preset is: runs to train and draw, in several sizes, and what is claimed of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ldhd.experiments.config import RunConfig, make_configs
from ldhd.experiments.parts import position_settings
from ldhd.names import lookup_only
from ldhd.train import TrainConfig

SIZES: dict[str, tuple[int, ...]] = {"quick": (0,), "full": (0, 1, 2, 3, 4), "paper": (0,)}
"""The seeds of each size. `quick` and `full` train a small model that suits a laptop, `paper` trains GPT-2."""

SIX = ("rpe-square", "rpe", "rope", "none", "alibi", "abacus")
"""The embeddings of Figures 3 to 7."""

Claim = Literal["high", "low", "guess", "between", "untold"]
"""What the paper says of accuracy at the largest scale: nearly perfect, not good, hardly better than a guess
between two answers, above chance but not above RPE-Square."""

CLAIMS: dict[str, Claim] = {
    "rpe-square": "high",
    "rpe-absolute": "high",
    "rpe": "low",
    "rope": "low",
    "none": "low",
    "alibi": "low",
    "abacus": "between",
}

GPT2: dict[str, Any] = {
    "train.learning_rate": 5e-4,
    "train.weight_decay": 1.0,
    "train.batch_size": 512,
    "train.accumulation": 2,
    "position.rpe-square.projections": "separate",
    "position.rpe-square.anchor_scale": 1.0,
    "position.rpe-square.max_distance": 256,
    "position.rpe-absolute.projections": "separate",
    "position.rpe-absolute.anchor_scale": 1.0,
    "position.rpe-absolute.max_distance": 256,
}
"""The paper's hyperparameters: 256 instances on each of two GPUs, gradients of two such batches added up."""

SMALL: dict[str, Any] = {"position.abacus.max_offset": 20}
"""Of the sizes `quick` and `full`: enough for the ids of all test scales; more of them want longer training."""

ASSUMED = (
    "the anchors have projections of their own, and R is learned for each head and not clipped",
    "GPT-2's own position embedding is left out, its dropout of 0.1 kept",
)
"""What the paper does not say and every preset of size `paper` assumes."""


@dataclass(frozen=True)
class Part:
    """Runs that differ in embedding and seed alone."""

    task: str
    positions: tuple[str, ...]
    train_scales: tuple[int, ...] = (1, 2, 3, 4, 5)
    test_scales: tuple[int, ...] = tuple(range(1, 11))
    model: str | None = None
    """The task's own by default."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the sizes `quick` and `full`."""
    paper: Mapping[str, Any] = field(default_factory=dict)
    """Where size `paper` departs from `GPT2`."""
    common: Mapping[str, Any] = field(default_factory=dict)
    """Of every size."""

    def configs(
        self, seeds: Sequence[int], size: str, steps: int | None = None, device: str = "cpu"
    ) -> list[RunConfig]:
        """A run for each embedding and seed, stopped after `steps` if that comes first."""
        own = {**GPT2, **self.paper} if size == "paper" else {**SMALL, **self.settings}
        settings = {**own, **self.common}
        options = set().union(*position_settings(self.positions, ()).values())
        made = make_configs(
            self.task,
            self.positions,
            model="gpt2" if size == "paper" else self.model,
            train_scales=self.train_scales,
            test_scales=self.test_scales,
            seeds=seeds,
            settings={k: v for k, v in settings.items() if not k.startswith("position.") or k in options},
            device=device,
            built=False,
        )
        return made if steps is None else [_stopped(config, steps) for config in made]


def _stopped(config: RunConfig, steps: int) -> RunConfig:
    """The same run, stopped after `steps` with its learning rate on the way to where it would have ended."""
    if steps >= config.train.steps:
        return config
    train = {**config.train.model_dump(), "steps": steps}
    train["schedule_steps"] = config.train.schedule_steps or config.train.steps
    return config.model_copy(update={"train": TrainConfig(**train)})


@dataclass(frozen=True)
class Preset:
    """A figure of the paper, one of its arguments, or a result of ours: what to run and draw, and what is claimed."""

    title: str
    says: str
    """The paper's claim, in words."""
    parts: tuple[Part, ...] = ()
    view: Literal["plane", "curves", "panels", "digits", "tasks", "shares", "grid", "depths"] = "curves"
    curves: bool = False
    """Whether exact match against scale is drawn beside a grid, a panel for each task."""
    claims: Mapping[str, Claim] = field(default_factory=lambda: CLAIMS)
    """By embedding, or by task where the view is `tasks`."""
    assumed: tuple[str, ...] = ()
    """Settings of size `paper` that the paper does not give."""
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: SIZES)
    """The seeds of the sizes it has; those of the paper have all."""

    @property
    def of_paper(self) -> bool:
        return "paper" in self.sizes

    def assumptions(self, size: str) -> list[str]:
        """What a size assumes that the paper does not say."""
        return [*ASSUMED, *self.assumed] if size == "paper" else []

    def configs(
        self, size: str = "quick", seeds: Sequence[int] | None = None, steps: int | None = None, device: str = "cpu"
    ) -> list[RunConfig]:
        """All its runs, with other seeds than those of the size or fewer steps if wanted."""
        own = lookup_only(size, self.sizes, "size")
        wanted = own if seeds is None else seeds
        return [config for part in self.parts for config in part.configs(wanted, size, steps, device)]

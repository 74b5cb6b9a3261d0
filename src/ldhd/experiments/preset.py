"""Presets: named experiments in several sizes, with the claims about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ldhd.experiments.config import RunConfig, make_configs
from ldhd.experiments.parts import position_options
from ldhd.experiments.views import Panels, View
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
    common: Mapping[str, Any] = field(default_factory=dict)
    """Settings of every size."""

    def configs(
        self, seeds: Sequence[int], size: str, steps: int | None = None, device: str = "cpu"
    ) -> list[RunConfig]:
        """Return a config for each embedding and seed, stopped after `steps` if that comes first."""
        own = {**GPT2, **self.paper} if size == "paper" else {**SMALL, **self.settings}
        made = make_configs(
            self.task,
            self.positions,
            model="gpt2" if size == "paper" else self.model,
            train_scales=self.train_scales,
            test_scales=self.test_scales,
            seeds=seeds,
            settings=_without_other_terms({**own, **self.common}, self.positions),
            device=device,
            built=False,
        )
        return made if steps is None else [_stopped(config, steps) for config in made]


def _without_other_terms(settings: Mapping[str, Any], positions: Sequence[str]) -> dict[str, Any]:
    """Leave out the settings `position.TERM.X` of embeddings that are not among `positions`.

    These are checked all the same, so that a misspelt setting is an error wherever it stands.
    """
    terms = {term for position in positions for term in position.split("+")}
    kept = dict(settings)
    for key in settings:
        part, _, name = key.partition(".")
        term, dot, option = name.partition(".")
        if part == "position" and dot and term not in terms:
            position_options(term, {option: kept.pop(key)})
    return kept


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
    """What the paper says about exact match, by the key of the view: an embedding or a task."""
    assumed: tuple[str, ...] = ()
    """Settings of size `paper` that the paper does not give."""
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: SIZES)
    """The seeds of each size; presets of the paper have all sizes."""
    file: str = ""
    """Name of its files without suffix, that of the preset by default."""

    @property
    def file_name(self) -> str:
        return self.file or self.name

    @property
    def of_paper(self) -> bool:
        return "paper" in self.sizes

    def assumptions(self, size: str) -> list[str]:
        """Return what a size assumes because the paper does not say it."""
        return [*ASSUMED, *self.assumed] if size == "paper" else []

    def configs(
        self, size: str = "quick", seeds: Sequence[int] | None = None, steps: int | None = None, device: str = "cpu"
    ) -> list[RunConfig]:
        """Return the configs of all its runs, with the seeds of the size unless others are requested."""
        own = lookup_only(size, self.sizes, "size")
        wanted = own if seeds is None else seeds
        return [config for part in self.parts for config in part.configs(wanted, size, steps, device)]

    def claim(self, config: RunConfig) -> Claim:
        """Return what the paper says about exact match of a run at the largest scale."""
        key = self.view.claim_key(config)
        return "unspecified" if key is None else self.claims.get(key, "unspecified")

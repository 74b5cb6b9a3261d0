"""A run is one frozen config with one seed; its hash names its folder."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ldhd.experiments.defaults import DEFAULTS
from ldhd.experiments.parts import PositionOptions, explain, load_task, position_options
from ldhd.model import MODELS, ModelConfig
from ldhd.train import TrainConfig

FORMAT_VERSION = 1
"""Raised whenever the same config would give other results."""

Scales = tuple[int, ...]


class RunConfig(BaseModel):
    """Everything that determines a run."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format_version: int = FORMAT_VERSION
    task: str
    position: str
    position_options: PositionOptions
    model: str
    """Name of the model; `model_options` is what it stood for."""
    model_options: ModelConfig
    train: TrainConfig
    train_scales: Scales = Field(min_length=1)
    test_scales: Scales = Field(min_length=1)
    test_instances: int = Field(default=500, ge=1)
    seed: int = Field(default=0, ge=0)
    device: Literal["cpu", "cuda", "mps"] = "cpu"

    @model_validator(mode="after")
    def _check_scales(self) -> "RunConfig":
        for name in ("train_scales", "test_scales"):
            scales: Scales = getattr(self, name)
            if min(scales) < 1:
                raise ValueError(f"{name} start at 1, got {min(scales)}")
            if list(scales) != sorted(set(scales)):
                raise ValueError(f"{name} must rise, got {list(scales)}")
        return self

    @property
    def hash(self) -> str:
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def label(self) -> str:
        return f"{self.task} {self.position} seed {self.seed}"


def make_config(
    task: str,
    position: str,
    *,
    model: str | None = None,
    train_scales: Sequence[int] | None = None,
    test_scales: Sequence[int] | None = None,
    steps: int | None = None,
    seed: int = 0,
    device: str = "cpu",
    settings: Mapping[str, Any] | None = None,
) -> RunConfig:
    """A whole config from what a user says; the rest comes from the task's defaults.

    `settings` maps dotted names to values: `position.X` or `position.TERM.X`, `model.X`, `train.X`,
    `test_instances`.
    """
    defaults = DEFAULTS.get(task, DEFAULTS["copy"])
    settings = dict(settings or {})
    _check_settings(settings)
    parts = {kind: _part(settings, kind) for kind in ("position", "model", "train")}
    name = model or defaults.model
    if name not in MODELS:
        raise ValueError(f"unknown model {name!r}; choose from {', '.join(MODELS)}")
    train = {"samples": load_task(task).train_size, **defaults.train, **parts["train"]}
    if steps is not None:
        train["steps"] = steps
    try:
        return RunConfig(
            task=task,
            position=position,
            position_options=position_options(position, {**defaults.position.get(position, {}), **parts["position"]}),
            model=name,
            model_options=ModelConfig(**{**MODELS[name].model_dump(), **parts["model"]}),
            train=TrainConfig(**train),
            train_scales=tuple(train_scales or load_task(task).train_scales),
            test_scales=tuple(test_scales or range(1, 11)),
            seed=seed,
            device=device,  # type: ignore[arg-type]
            **{key: value for key, value in settings.items() if "." not in key},
        )
    except ValidationError as error:
        raise ValueError(explain(error, _prefix(error))) from None


def make_configs(
    task: str,
    positions: Sequence[str],
    *,
    seeds: Sequence[int] = (0,),
    settings: Mapping[str, Any] | None = None,
    **given: Any,
) -> list[RunConfig]:
    """A config for each position and seed; a `position.X` setting goes to every position that has that option."""
    settings = settings or {}
    if len(set(positions)) != len(positions):
        raise ValueError(f"a position is named twice in {','.join(positions)}")
    known = {position: _position_keys(position) for position in positions}
    everywhere = set().union(*known.values())
    for key in settings:
        if key.startswith("position.") and key not in everywhere:
            raise ValueError(f"no position asked for has {key}; there are {', '.join(sorted(everywhere)) or 'none'}")

    def own(position: str) -> dict[str, Any]:
        return {k: v for k, v in settings.items() if not k.startswith("position.") or k in known[position]}

    return [
        make_config(task, position, seed=seed, settings=own(position), **given)
        for position in positions
        for seed in seeds
    ]


def _position_keys(position: str) -> set[str]:
    """The settings a position takes: `position.X` and `position.TERM.X`."""
    terms = position_options(position, {})
    return {f"position.{name}" for options in terms.values() for name in options} | {
        f"position.{term}.{name}" for term, options in terms.items() for name in options
    }


def _check_settings(settings: Mapping[str, Any]) -> None:
    for key in settings:
        if key != "test_instances" and not key.startswith(("position.", "model.", "train.")):
            raise ValueError(
                f"there is no setting {key!r}; settings are position.X, model.X, train.X and test_instances"
            )


def _part(settings: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {key.removeprefix(f"{kind}."): value for key, value in settings.items() if key.startswith(f"{kind}.")}


def _prefix(error: ValidationError) -> str:
    return {"ModelConfig": "model.", "TrainConfig": "train."}.get(error.title, "")

"""A run is one frozen config with one seed; its hash names its folder."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from ldhd.experiments.defaults import defaults_of
from ldhd.experiments.parts import (
    PositionOptions,
    explain,
    load_task,
    outline,
    position_options,
    position_settings,
)
from ldhd.model import MODELS, ModelConfig
from ldhd.names import lookup_only
from ldhd.train import TrainConfig

FORMAT_VERSION = 2
"""Raised whenever the same config would give other results."""

Scales = tuple[int, ...]


def device_name(name: str) -> str:
    """The name, if it is that of a device; ValueError otherwise."""
    if re.fullmatch(r"cpu|mps|cuda(:\d+)?", name) is None:
        raise ValueError(f"a device is 'cpu', 'cuda', 'cuda:INDEX' or 'mps', got {name!r}")
    return name


class RunConfig(BaseModel):
    """Everything that determines a run."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format_version: int = Field(default=FORMAT_VERSION, ge=FORMAT_VERSION, le=FORMAT_VERSION)
    task: str
    position: str
    position_options: PositionOptions
    model: str
    """Name of the model; `model_options` is what it stood for."""
    model_options: ModelConfig
    train: TrainConfig
    train_scales: Scales = Field(min_length=1)
    test_scales: Scales = Field(min_length=1)
    test_instances: int = Field(default=500, ge=1, le=1_000_000)
    seed: int = Field(default=0, ge=0)
    device: Annotated[str, AfterValidator(device_name)] = "cpu"
    extended_from: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """Hash of the finished run whose last state this one starts from."""

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
    def seen_scales(self) -> Scales:
        """The training scales, and that of priming if there is one."""
        priming = self.train.priming_scale
        return self.train_scales if priming is None else (*self.train_scales, priming)

    @property
    def label(self) -> str:
        extended = f" from {self.extended_from}" if self.extended_from else ""
        return f"{self.task} {self.position} seed {self.seed}{extended}"


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
    built: bool = True,
) -> RunConfig:
    """A whole config from what a user says; the rest comes from the defaults of the embedding on the task.

    `settings` maps dotted names to values: `position.X` or `position.TERM.X`, `model.X`, `train.X`,
    `test_instances`. Without `built` it is not tried out whether the model can be built, which costs a second.
    """
    loaded = load_task(task)
    defaults = defaults_of(task, position, model)
    (usual, _), (parts, rest) = _split(defaults.settings), _split(settings or {})
    size = {**lookup_only(defaults.model, MODELS, "model").model_dump(), **usual["model"], **parts["model"]}
    scales = tuple(loaded.train_scales if train_scales is None else train_scales)
    train = {"samples": loaded.latent.training_size(scales), **usual["train"], **parts["train"]}
    if steps is not None:
        if "steps" in parts["train"]:
            raise ValueError(f"steps are given twice: {steps} and train.steps={train['steps']}")
        train["steps"] = steps
    try:
        config = RunConfig(
            task=task,
            position=position,
            position_options=position_options(position, {**usual["position"], **parts["position"]}),
            model=defaults.model,
            model_options=ModelConfig(**size),
            train=TrainConfig(**train),
            train_scales=scales,
            test_scales=tuple(range(1, 11) if test_scales is None else test_scales),
            seed=seed,
            device=device,
            **rest,
        )
    except ValidationError as error:
        prefix = {"ModelConfig": "model.", "TrainConfig": "train."}.get(error.title, "")
        raise ValueError(explain(error, prefix)) from None
    if built:
        outline(config.model_options, config.position, config.position_options)
    return config


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
    known = position_settings(positions, [key for key in settings if key.startswith("position.")])

    def own(position: str) -> dict[str, Any]:
        return {k: v for k, v in settings.items() if not k.startswith("position.") or k in known[position]}

    return [
        make_config(task, position, seed=seed, settings=own(position), **given)
        for position in positions
        for seed in seeds
    ]


FIELDS = {"model": ModelConfig.model_fields, "train": TrainConfig.model_fields}


def _split(settings: Mapping[str, Any]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The settings of each part by their names within it, and those of the run itself."""
    parts: dict[str, dict[str, Any]] = {"position": {}, "model": {}, "train": {}}
    rest = {}
    for key, value in settings.items():
        part, _, name = key.partition(".")
        known = FIELDS.get(part)
        if known is not None and name not in known:
            raise ValueError(f"there is no setting {key!r}; there are {', '.join(f'{part}.{name}' for name in known)}")
        if part in parts and name:
            parts[part][name] = value
        elif key == "test_instances":
            rest[key] = value
        else:
            raise ValueError(f"there is no setting {key!r}; settings are position.X, model.X, train.X, test_instances")
    return parts, rest

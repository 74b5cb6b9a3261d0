"""Frozen configs: one config with one seed determines a run, and its hash names the folder of the run."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from ldhd.experiments import parts
from ldhd.experiments.defaults import defaults_of
from ldhd.model import MODELS, ModelConfig
from ldhd.names import lookup_only, suggestion
from ldhd.parsing import MOST_VALUES, SCALES, SEEDS
from ldhd.positions.position import TABLE_STD, Position
from ldhd.tasks.tokens import VOCABULARY
from ldhd.train import TrainConfig

FORMAT_VERSION = 2
"""Raised whenever the same config would give other results."""

TABLES_FOLLOW_MODEL = 3
"""Version of configs whose results changed when tables that are added to token embeddings began to start with the
standard deviation `model.weight_std`; in version 2 it is `TABLE_STD`, whatever that of the model."""

Scales = tuple[Annotated[int, Field(ge=1, le=SCALES.stop - 1)], ...]
Name = Annotated[str, Field(pattern=r"^[\w.:+-]{1,200}$")]
"""The name of a task, an embedding or a model: no space, and no sign that means something where it is shown."""
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
"""The hash of a run, which names its folder."""


def device_name(name: str) -> str:
    """Return the name of a device; ValueError if it is none."""
    if re.fullmatch(r"cpu|mps|cuda(:\d+)?", name) is None:
        raise ValueError(f"a device is 'cpu', 'cuda', 'cuda:INDEX' or 'mps', got {name!r}")
    return name


class RunConfig(BaseModel):
    """Everything that determines a run."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format_version: int = Field(default=FORMAT_VERSION, ge=FORMAT_VERSION, le=TABLES_FOLLOW_MODEL)
    task: Name
    position: Name
    position_options: parts.PositionOptions
    model: Name
    """Name of the model, whose meaning at the time of the run is `model_options`."""
    model_options: ModelConfig
    train: TrainConfig
    train_scales: Scales = Field(min_length=1, max_length=MOST_VALUES)
    test_scales: Scales = Field(min_length=1, max_length=MOST_VALUES)
    test_instances: int = Field(default=500, ge=1, le=1_000_000)
    seed: int = Field(default=0, ge=0, lt=SEEDS.stop)
    device: Annotated[str, AfterValidator(device_name)] = "cpu"
    extended_from: Hash | None = Field(default=None, exclude_if=lambda value: value is None)
    """Hash of the finished run whose last state this one starts from."""

    @model_validator(mode="after")
    def _check_scales(self) -> "RunConfig":
        for name in ("train_scales", "test_scales"):
            scales: Scales = getattr(self, name)
            if list(scales) != sorted(set(scales)):
                raise ValueError(f"{name} must rise, got {list(scales)}")
        return self

    @property
    def hash(self) -> str:
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def table_std(self) -> float:
        """The standard deviation with which tables that are added to the token embeddings start."""
        return self.model_options.weight_std if self.format_version >= TABLES_FOLLOW_MODEL else TABLE_STD

    @property
    def seen_scales(self) -> Scales:
        """The training scales, followed by the scale of priming if there is one."""
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
    """Make a complete config; what is not specified comes from the defaults of the embedding on the task.

    `task` is a name or `module:Class`, `position` the name of an embedding or several joined by `+`. `settings` maps
    `position.X` or `position.TERM.X`, `model.X`, `train.X` and `test_instances` to values. With `built`, it is checked
    that the model can be built. Raises ValueError if a name, a setting or its value is not allowed.
    """
    loaded = parts.load_task(task)
    model, defaults = defaults_of(task, position, model)
    symbols = len(loaded.vocabulary.symbols)
    if symbols != len(VOCABULARY.symbols) and "digit_tokens" in parts.option_names(position):
        defaults["position.digit_tokens"] = symbols
    settings = dict(settings or {})
    if steps is not None:
        if "train.steps" in settings:
            raise ValueError(f"steps are given twice: {steps} and train.steps={settings['train.steps']}")
        settings["train.steps"] = steps
    by_part, rest = _split({**defaults, **settings})
    scales = tuple(loaded.train_scales if train_scales is None else train_scales)
    train = {"samples": loaded.latent.training_size(scales), **by_part["train"]}
    size = {**lookup_only(model, MODELS, "model").model_dump(), **by_part["model"]}
    has_tables = any(kind.initialise is not Position.initialise for kind in parts.position_terms(position).values())
    follows = has_tables and size["weight_std"] != TABLE_STD
    rest.setdefault("format_version", TABLES_FOLLOW_MODEL if follows else FORMAT_VERSION)
    try:
        config = RunConfig(
            task=task,
            position=position,
            position_options=parts.position_options(position, by_part["position"]),
            model=model,
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
        raise ValueError(parts.explain(error, prefix)) from None
    if built:
        parts.outline(config.model_options, config.position, config.position_options, loaded.vocabulary.size)
    return config


def make_configs(
    task: str,
    positions: Sequence[str],
    *,
    seeds: Sequence[int] = (0,),
    settings: Mapping[str, Any] | None = None,
    built: bool = True,
    **options: Any,
) -> list[RunConfig]:
    """Make a config for each position and seed; `options` are the other arguments of `make_config`.

    A setting `position.X` goes to every position that has the option X; ValueError if none has.
    """
    if len(set(positions)) != len(positions):
        raise ValueError(f"a position is named twice in {','.join(positions)}")
    return [
        # all seeds have the same model, so that it is built once
        make_config(task, position, seed=seed, settings=own, built=built and seed == seeds[0], **options)
        for position, own in parts.assign_settings(positions, settings or {}).items()
        for seed in seeds
    ]


FIELDS = {"model": ModelConfig.model_fields, "train": TrainConfig.model_fields}
"""The settings of each part but the position, whose settings depend on the embedding."""


def _split(settings: Mapping[str, Any]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return the settings of each part by their names within it, and those of the run itself."""
    by_part: dict[str, dict[str, Any]] = {"position": {}, "model": {}, "train": {}}
    rest: dict[str, Any] = {}
    for key, value in settings.items():
        part, _, name = key.partition(".")
        known = FIELDS.get(part)
        if known is not None and name not in known:
            names = [f"{part}.{field}" for field in known]
            raise ValueError(f"there is no setting {key!r}; there are {', '.join(names)}{suggestion(key, names)}")
        if part in by_part and name:
            by_part[part][name] = value
        elif key in ("test_instances", "format_version"):
            rest[key] = value
        else:
            raise ValueError(f"there is no setting {key!r}; settings are position.X, model.X, train.X, test_instances")
    return by_part, rest

"""The parts of a run from their names and options: its task, its position embedding, its model."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from torch.overrides import TorchFunctionMode

from ldhd.model import GPT, ModelConfig
from ldhd.names import lookup, suggestion
from ldhd.positions import POSITIONS, Position
from ldhd.positions.factory import PositionFactory, position_factory
from ldhd.process import own_place
from ldhd.tasks import ALL_TASKS, Format, LatentSpace, Task
from ldhd.tasks.tokens import VOCABULARY_SIZE

PositionOptions = dict[str, dict[str, Any]]
"""Term name -> its options, for each term of a position such as `rpe-square+rpe-absolute`."""

SMALL_MODEL = 10**8
"""Weights, times the largest option of an embedding, up to which a model takes little memory."""

LARGEST_MODEL = 10**11
"""Parameters beyond which a config is taken for a mistake."""


def is_description(name: str) -> bool:
    """Return whether the name of a task is that of a file with its description."""
    return name.endswith(".toml")


def load_task(name: str) -> Task:
    """Load a task by name, from the file that describes it, or a user's `module:NAME`.

    NAME is a `Task`, a class derived from it, or anything that returns one when it is called without arguments.
    """
    if is_description(name):
        from ldhd.experiments.described import described_task  # it reads with the predictor, which takes time to import

        return described_task(name)
    found: Any = lookup(name, ALL_TASKS, "task")
    try:
        task = found() if callable(found) else found
    except (Exception, SystemExit) as error:  # a user's class may raise anything
        place = own_place(error)
        where = f" ({place})" if place else ""
        raise ValueError(f"cannot make task {name!r}: {type(error).__name__}: {error}{where}") from error
    if not isinstance(task, Task):
        kind = type(task).__name__
        raise ValueError(f"{name!r} is no task but of type {kind}: it must be an ldhd.tasks.Task, or make one")
    for part, base in (("latent", LatentSpace), ("format", Format)):
        if not isinstance(getattr(task, part), base):
            raise ValueError(f"the {part} of {name!r} is no instance of {base.__name__}: {getattr(task, part)!r}")
    return task


def position_terms(name: str) -> dict[str, type[Position]]:
    """Return the classes that a position's name stands for, one for each term joined by `+`."""
    names = name.split("+")
    if len(set(names)) != len(names):
        raise ValueError(f"position {name!r} names a term twice")
    terms = {term: lookup(term, POSITIONS, "position") for term in names}
    for term, kind in terms.items():
        if not (isinstance(kind, type) and issubclass(kind, Position)):
            raise ValueError(f"{term!r} is no position embedding: it must be a class derived from Position")
        if len(terms) > 1 and not kind.additive:
            raise ValueError(f"{term!r} does not only add and cannot be one term of {name!r}")
    return terms


@cache
def options_model(kind: type[Position]) -> type[BaseModel]:
    """Return a pydantic model of the keyword-only arguments of an embedding's constructor."""
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(kind.__init__, eval_str=True).parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            annotation = Any if parameter.annotation is inspect.Parameter.empty else parameter.annotation
            default = ... if parameter.default is inspect.Parameter.empty else parameter.default
            fields[parameter.name] = (annotation, default)
    config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, arbitrary_types_allowed=True)
    return create_model(f"{kind.__name__} options", __config__=config, **fields)


def option_names(position: str) -> set[str]:
    """Return the settings that a position takes: `X`, for every term that has it, and `TERM.X`."""
    names = {term: options_model(kind).model_fields for term, kind in position_terms(position).items()}
    return {name for fields in names.values() for name in fields} | {
        f"{term}.{name}" for term, fields in names.items() for name in fields
    }


def assign_settings(positions: Iterable[str], settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Give each position the settings `position.X` it takes, and all others; ValueError for one that none takes."""
    known = {position: {f"position.{name}" for name in option_names(position)} for position in positions}
    everywhere = {key for keys in known.values() for key in keys}
    for key in settings:
        if key.startswith("position.") and key not in everywhere:
            there = f"{', '.join(sorted(everywhere)) or 'none'}{suggestion(key, everywhere)}"
            raise ValueError(f"no position asked for has {key}; there are {there}")
    return {
        position: {key: value for key, value in settings.items() if key in keys or not key.startswith("position.")}
        for position, keys in known.items()
    }


def position_options(position: str, overrides: Mapping[str, Any]) -> PositionOptions:
    """Return all options of a position, checked, with defaults filled in; `overrides` has names of `option_names`."""
    known = option_names(position)
    unknown = sorted(overrides.keys() - known)
    if unknown:
        allowed = ", ".join(sorted(known)) or "none"
        allowed += suggestion(unknown[0], known)
        raise ValueError(f"{position} has no option position.{unknown[0]}; its options are {allowed}")
    options: PositionOptions = {}
    for term, kind in position_terms(position).items():
        fields = options_model(kind).model_fields
        shared = {name: value for name, value in overrides.items() if name in fields}
        prefix = f"{term}."
        own = {name.removeprefix(prefix): value for name, value in overrides.items() if name.startswith(prefix)}
        checked = _checked_options(term, kind, {**shared, **own})
        # so that hashes stay, options that were added are left out where they have their defaults, and options that
        # were removed stay in the config with the value they had
        usual = {key for key in kind.added_options if checked[key] == fields[key].default}
        options[term] = {key: value for key, value in checked.items() if key not in usual}
        options[term] |= dict.fromkeys(kind.removed_options)
    return options


def added_options(term: str) -> dict[str, Any]:
    """Return the defaults of the options that configs leave out where they have them; none for a user's embedding."""
    kind = POSITIONS.get(term)
    return {name: options_model(kind).model_fields[name].default for name in kind.added_options} if kind else {}


def build_model(
    model: ModelConfig,
    position: str,
    options: PositionOptions,
    table_std: float | None = None,
    vocabulary_size: int = VOCABULARY_SIZE,
) -> GPT:
    """Build a GPT with its position embedding; its weights are drawn from torch's global random stream."""
    return GPT(model, vocabulary_size, _factory(position, options), table_std)


def build_position(position: str, options: PositionOptions) -> Position:
    """Build the embedding of one layer, to ask it for relations."""
    with _without_values(16, options):
        return _factory(position, options)(16, 8, 0)


def outline(model: ModelConfig, position: str, options: PositionOptions, vocabulary_size: int = VOCABULARY_SIZE) -> GPT:
    """Build a model to look at, its weights without meaning; ValueError if it cannot be built or is absurdly large."""
    try:
        with _without_values(12 * model.layers * model.mlps * model.dimension**2, options):
            built = build_model(model, position, options, vocabulary_size=vocabulary_size)
        size = sum(parameter.numel() for parameter in built.parameters())
    except ValueError:
        raise
    except Exception as error:  # torch on absurd sizes, or a user's embedding
        raise ValueError(f"a model with {position} cannot be built: {str(error).splitlines()[0]}") from error
    if size > LARGEST_MODEL:
        raise ValueError(f"the model would have {size:.1e} parameters, more than {LARGEST_MODEL:.0e}")
    return built


class _WithoutInitialisation(TorchFunctionMode):
    """Leave tensors as they are where `torch.nn.init` would fill them, which is nearly all the time of building."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if getattr(func, "__module__", None) == torch.nn.init.__name__:
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))


@contextmanager
def _without_values(weights: int, options: PositionOptions) -> Iterator[None]:
    """Build tensors without values, and without memory unless the weights, and tables by the options, are small.

    Torch's random stream is left alone. Small tensors are not built on the device without memory, since torch imports
    its compiler for it, which takes longer.
    """
    largest = max((value for own in options.values() for value in own.values() if type(value) is int), default=1)
    device = torch.device("cpu" if weights * largest < SMALL_MODEL else "meta")
    with torch.random.fork_rng(devices=[]), device, _WithoutInitialisation():
        yield


def explain(error: ValidationError, prefix: str = "") -> str:
    """Return what is wrong with the first invalid field of a config, in one line that names the field and its value."""
    first = error.errors()[0]
    field = (prefix + ".".join(map(str, first["loc"]))).rstrip(".")
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] not in ("value_error", "missing"):
        found = repr(first["input"])
        message += f", got {found if len(found) <= 100 else f'{found[:100]}...'}"
    return f"{field}: {message}" if field else message


def _factory(position: str, options: PositionOptions) -> PositionFactory:
    """Return the factory of a position; options that were read from a file are checked here."""
    kinds = position_terms(position)
    if kinds.keys() != options.keys():
        raise ValueError(f"position {position!r} does not go with options of {', '.join(options)}")
    return position_factory(kinds, {term: _checked_options(term, kind, options[term]) for term, kind in kinds.items()})


def _checked_options(term: str, kind: type[Position], options: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return options_model(kind)(**kind.current_options(options)).model_dump()
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        # a value that has none of several types has an error for each of them
        messages = dict.fromkeys(one["msg"] for one in error.errors() if one["loc"][0] == name)
        raise ValueError(f"position.{term}.{name}: {' or '.join(messages)}, got {options.get(name)!r}") from None

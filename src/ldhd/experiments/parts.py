"""From names and options to the parts of a run: its task, its position embedding, its model."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from ldhd.model import GPT, ModelConfig
from ldhd.names import lookup
from ldhd.positions import POSITIONS, Position, Sum
from ldhd.tasks import TASKS, Task
from ldhd.tasks.tokens import VOCABULARY_SIZE

PositionOptions = dict[str, dict[str, Any]]
"""Term name -> its options, for each term of a position such as `rpe-square+rpe-absolute`."""

LARGEST_MODEL = 10**11
"""Parameters beyond which a config is taken for a mistake."""


def load_task(name: str) -> Task:
    """A task by name, or a user's `module:Class` (a `Task`, or a class that makes one without arguments)."""
    found: Any = lookup(name, TASKS, "task")
    try:
        task = found() if isinstance(found, type) else found
    except Exception as error:  # a user's class may raise anything
        raise ValueError(f"cannot make task {name!r}: {type(error).__name__}: {error}") from error
    if not isinstance(task, Task):
        raise ValueError(f"{name!r} is no task: it must be an ldhd.tasks.Task or a class derived from it")
    return task


def position_terms(name: str) -> dict[str, type[Position]]:
    """The classes a position name stands for, one for each term joined by `+`."""
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
    """A pydantic model of the keyword-only arguments of an embedding's constructor."""
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(kind.__init__, eval_str=True).parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            annotation = Any if parameter.annotation is inspect.Parameter.empty else parameter.annotation
            default = ... if parameter.default is inspect.Parameter.empty else parameter.default
            fields[parameter.name] = (annotation, default)
    config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, arbitrary_types_allowed=True)
    return create_model(f"{kind.__name__} options", __config__=config, **fields)


def option_names(position: str) -> set[str]:
    """The settings a position takes: `X`, for every term that has it, and `TERM.X`."""
    names = {term: options_model(kind).model_fields for term, kind in position_terms(position).items()}
    return {name for fields in names.values() for name in fields} | {
        f"{term}.{name}" for term, fields in names.items() for name in fields
    }


def position_settings(positions: Iterable[str], settings: Iterable[str]) -> dict[str, set[str]]:
    """The settings each position takes, as `position.X`; ValueError if none of them takes one that is given."""
    known = {position: {f"position.{name}" for name in option_names(position)} for position in positions}
    everywhere = set().union(*known.values())
    for key in settings:
        if key not in everywhere:
            raise ValueError(f"no position asked for has {key}; there are {', '.join(sorted(everywhere)) or 'none'}")
    return known


def position_options(name: str, given: Mapping[str, Any]) -> PositionOptions:
    """All options of a position, defaults filled in and checked.

    `given` maps `option` (for every term that has it) or `term.option` to a value.
    """
    unknown = sorted(set(given) - option_names(name))
    if unknown:
        allowed = ", ".join(sorted(option_names(name))) or "none"
        raise ValueError(f"{name} has no option position.{unknown[0]}; its options are {allowed}")
    options: PositionOptions = {}
    for term, kind in position_terms(name).items():
        fields = options_model(kind).model_fields
        own = {key: value for key, value in given.items() if key in fields}
        own |= {key.removeprefix(f"{term}."): value for key, value in given.items() if key.startswith(f"{term}.")}
        options[term] = _checked(term, kind, own)
    return options


def build_model(model: ModelConfig, position: str, options: PositionOptions) -> GPT:
    """The GPT with its position embedding; its weights come from torch's global random stream."""
    return GPT(model, VOCABULARY_SIZE, _maker(position, options))


def build_position(position: str, options: PositionOptions, heads: int = 8) -> Position:
    """One layer's embedding without memory for its tables: enough to ask it for relations."""
    with torch.device("meta"):
        return _maker(position, options)(2 * heads, heads, 0)


def _maker(position: str, options: PositionOptions) -> Callable[[int, int, int], Position]:
    """What makes the embedding of a layer from dimension, heads and layer."""
    kinds = position_terms(position)
    if kinds.keys() != options.keys():
        raise ValueError(f"position {position!r} does not go with options of {', '.join(options)}")
    checked = {term: _checked(term, kind, options[term]) for term, kind in kinds.items()}

    def make(dimension: int, heads: int, layer: int) -> Position:
        terms = [kinds[term](dimension, heads, layer, **checked[term]) for term in kinds]
        return terms[0] if len(terms) == 1 else Sum(terms)

    return make


def outline(model: ModelConfig, position: str, options: PositionOptions) -> GPT:
    """The model without memory for its weights: enough to find out whether it can be built at all."""
    key = repr((model, position_terms(position), options))
    if key not in _outlines:
        _outlines[key] = _outline(model, position, options)
    return _outlines[key]


_outlines: dict[str, GPT] = {}
"""Runs of a sweep differ in little, and in nothing of this as a rule."""


def _outline(model: ModelConfig, position: str, options: PositionOptions) -> GPT:
    try:
        with torch.device("meta"):
            built = build_model(model, position, options)
        size = sum(parameter.numel() for parameter in built.parameters())
    except ValueError:
        raise
    except Exception as error:  # torch on absurd sizes, or a user's embedding
        raise ValueError(f"a model with {position} cannot be built: {str(error).splitlines()[0]}") from error
    if size > LARGEST_MODEL:
        raise ValueError(f"the model would have {size:.1e} parameters, more than {LARGEST_MODEL:.0e}")
    return built


def explain(error: ValidationError, prefix: str = "") -> str:
    """The first thing wrong with a config, in one line that names the field."""
    first = error.errors()[0]
    field = (prefix + ".".join(map(str, first["loc"]))).rstrip(".")
    message = first["msg"].removeprefix("Value error, ")
    return f"{field}: {message}" if field else message


def _checked(term: str, kind: type[Position], given: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return options_model(kind)(**given).model_dump()
    except ValidationError as error:
        field = error.errors()[0]["loc"][0]
        # a value that is of none of several types has an error for each
        wrong = dict.fromkeys(found["msg"] for found in error.errors() if found["loc"][0] == field)
        raise ValueError(f"position.{term}.{field}: {' or '.join(wrong)}") from None

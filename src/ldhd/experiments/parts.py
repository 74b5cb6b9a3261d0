"""From names and options to the parts of a run: its task, its position embedding, its model."""

import inspect
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from ldhd.model import GPT, ModelConfig
from ldhd.names import lookup
from ldhd.positions import POSITIONS, Position, Sum
from ldhd.tasks import TASKS, Task
from ldhd.tasks.tokens import VOCABULARY_SIZE

PositionOptions = dict[str, dict[str, Any]]
"""Term name -> its options, for each term of a position such as `rpe-square+rpe-absolute`."""


def load_task(name: str) -> Task:
    """A task by name, or a user's `module:Class` (a `Task`, or a class that makes one without arguments)."""
    found: Any = lookup(name, TASKS, "task")
    task = found() if isinstance(found, type) else found
    if not isinstance(task, Task):
        raise ValueError(f"{name!r} is no task: it must be an ldhd.tasks.Task or make one when called")
    return task


def position_terms(name: str) -> dict[str, type[Position]]:
    """The classes a position name stands for, one for each term joined by `+`."""
    terms = {term: lookup(term, POSITIONS, "position") for term in name.split("+")}
    for term, kind in terms.items():
        if not (isinstance(kind, type) and issubclass(kind, Position)):
            raise ValueError(
                f"{term!r} is no position embedding: it must be a class derived from ldhd.positions.Position"
            )
        if "+" in name and not kind.additive:
            raise ValueError(f"{term!r} is no logit term and cannot be part of {name!r}")
    return terms


def options_model(kind: type[Position]) -> type[BaseModel]:
    """A pydantic model of the keyword-only arguments of an embedding's constructor."""
    parameters = inspect.signature(kind.__init__, eval_str=True).parameters.values()
    fields: dict[str, Any] = {
        parameter.name: (parameter.annotation, parameter.default)
        for parameter in parameters
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    return create_model(f"{kind.__name__} options", __config__=ConfigDict(extra="forbid", strict=True), **fields)


def position_options(name: str, given: Mapping[str, Any]) -> PositionOptions:
    """All options of a position, defaults filled in and checked.

    `given` maps `option` (for every term that has it) or `term.option` to a value.
    """
    options: PositionOptions = {}
    for term, kind in position_terms(name).items():
        model = options_model(kind)
        own = {key: value for key, value in given.items() if key in model.model_fields}
        own |= {key.removeprefix(f"{term}."): value for key, value in given.items() if key.startswith(f"{term}.")}
        try:
            options[term] = model(**own).model_dump()
            kind(8, 2, **options[term])
        except ValidationError as error:
            raise ValueError(explain(error, f"position.{term}.")) from None
    return options


def explain(error: ValidationError, prefix: str = "") -> str:
    """The first thing wrong with a config, in one line that names the field."""
    first = error.errors()[0]
    field = prefix + ".".join(map(str, first["loc"]))
    message = first["msg"].removeprefix("Value error, ")
    return f"{field}: {message}" if first["loc"] else message


def build_model(model: ModelConfig, options: PositionOptions) -> GPT:
    """The GPT with its position embedding; its weights come from torch's global random stream."""
    kinds = position_terms("+".join(options))

    def position(dimension: int, heads: int, layer: int) -> Position:
        terms = [kinds[term](dimension, heads, layer, **options[term]) for term in kinds]
        return terms[0] if len(terms) == 1 else Sum(terms)

    return GPT(model, VOCABULARY_SIZE, position)

"""What other commands print with `--json` and a report is given, checked where it enters."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ldhd.experiments.parts import explain
from ldhd.files import read_bytes

Scales = list[int]


class _Row(BaseModel):
    """One entry of a document, which may hold more than this version knows."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)


class Claim(_Row):
    """A checked claim, from `ldhd verify --json`."""

    id: str
    claim: str
    verdict: str
    correction: str | None = None


class Predicted(_Row):
    """A prediction, from `ldhd predict --json`."""

    task: str
    position: str
    position_options: dict[str, dict[str, Any]]
    layers: int = Field(ge=1)
    train_scales: Scales = Field(min_length=1)
    test_scales: Scales = Field(min_length=1)
    verdict: str
    max_scale: int
    witness: dict[str, Any] | str | None = None


class Measured(_Row):
    """A benchmark, from `ldhd bench --json`."""

    case: str
    shape: str
    ratio: float
    spread: list[float] = Field(min_length=2, max_length=2)
    against: str
    measure: str = "speed"
    n: int | None = Field(default=None, ge=1)


NEEDED: dict[str, tuple[str, type[_Row]]] = {
    "claims": ("ldhd verify --json", Claim),
    "predictions": ("ldhd predict --json", Predicted),
    "cases": ("ldhd bench --json", Measured),
}
"""The list in a document -> the command that prints it, and what each entry of the list must be."""


def read_document(path: Path, key: str) -> dict[str, Any]:
    """Read what another command printed with `--json`; a ValueError says in one line what is wrong with its list."""
    command, kind = NEEDED[key]
    origin = f"it should come from `{command}`"
    try:
        value = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON: {error}; {origin}") from None
    rows = value.get(key) if isinstance(value, dict) else None
    if not isinstance(rows, list):
        raise ValueError(f"{path} has no list {key!r}; {origin}")
    if not isinstance(value.get("machine", {}), dict):
        raise ValueError(f"{path}: its 'machine' is no table; {origin}")
    for number, row in enumerate(rows):
        held = row if isinstance(row, dict) else {}
        absent = [name for name, field in kind.model_fields.items() if field.is_required() and name not in held]
        if absent:
            raise ValueError(f"{path}: entry {number} of {key!r} lacks {absent[0]!r}; {origin}")
        try:
            kind.model_validate(row)
        except ValidationError as error:
            raise ValueError(f"{path}: entry {number} of {key!r}: {explain(error)}; {origin}") from None
    return value

"""The learning curve of a run: its rows, as training writes them and as stored ones are checked."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ldhd.files import BadFileError
from ldhd.train.precision import Precision

Metrics = list[dict[str, Any]]
"""The learning curve of a run: a row for each evaluation during training."""

Scale = Annotated[str, Field(pattern=r"^\d{1,6}$")]
Slot = Annotated[str, Field(max_length=100)]
Share = Annotated[float, Field(ge=0, le=1)]
Slack = Annotated[float, Field(ge=-1e-3, le=1 + 1e-3)]
"""A mean of shares, with room for rounding."""


class Row(BaseModel):
    """One evaluation during training; runs stored by earlier versions lack some of the quantities."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    step: int = Field(ge=1, le=10**12)
    loss: float | None = None
    cross_entropy: float | None = None
    penalty: float | None = None
    learning_rate: float | None = None
    gradient_norm: float | None = None
    precision: Precision | None = None
    accuracy: dict[Scale, Share] = {}
    test_accuracy: dict[Scale, Share] = {}
    anchor_entropy: list[list[float]] = []
    needed: dict[Slot, Slack] = {}


ROWS = TypeAdapter(list[Row])


def check_metrics(rows: Sequence[dict[str, Any]], source: object) -> None:
    """Raise BadFileError, which names `source`, if a row of a stored learning curve is none."""
    try:
        checked = ROWS.validate_python(rows)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise BadFileError(f"{source} is no learning curve: {place}: {first['msg']}") from None
    if any(later.step <= earlier.step for earlier, later in pairwise(checked)):
        raise BadFileError(f"{source} is no learning curve: its steps do not rise")

"""The trace of a run as stored in trace.json: where its model attends on one instance."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ldhd.files import BadFileError

Text = Annotated[str, Field(min_length=2, max_length=200_000)]
Number = Annotated[float, Field(ge=-1e12, le=1e12)]
Weights = list[list[list[Number]]]
"""By head, row and index in the text."""


class Anchor(BaseModel):
    """The weights of one anchor, by head, position and index in the text."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    layer: int = Field(default=0, ge=0)
    term: str = Field(default="", max_length=200)
    weights: Weights


class TraceDocument(BaseModel):
    """The parts of a trace, and that they fit the string they are about."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    text: Text
    prompt: int
    scale: int = Field(default=1, ge=1)
    output: str = Field(max_length=200_000)
    first_error: int | None = None
    needs: list[dict[Annotated[str, Field(max_length=100)], int | None]]
    attention: list[Weights]
    """By layer; empty for a model without attention."""
    terms: list[Weights] = []
    anchors: list[Anchor] = []

    @model_validator(mode="after")
    def _check_fit(self) -> "TraceDocument":
        length, answers = len(self.text), len(self.text) - self.prompt
        heads = [head for layer in (*self.attention, *self.terms) for head in layer]
        anchored = [head for anchor in self.anchors for head in anchor.weights]
        fits = (
            0 < self.prompt < length
            and len(self.needs) == answers
            and all(index is None or 0 <= index < length for needed in self.needs for index in needed.values())
            and (bool(self.attention) or not (self.terms or self.anchors))
            and all(self.attention)
            and all(self.terms)
            and all(anchor.weights for anchor in self.anchors)
            and all(len(head) == answers for head in heads)
            and all(0 < len(head) <= length for head in anchored)
            and all(0 < len(row) <= length for head in heads + anchored for row in head)
        )
        if not fits:
            raise ValueError("its parts do not fit its string")
        return self

    @staticmethod
    def check(value: dict[str, Any], source: object) -> None:
        """Raise BadFileError, which names `source`, if a value is no trace."""
        try:
            TraceDocument.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise BadFileError(f"{source} is no trace: {f'{place}: ' * bool(place)}{first['msg']}") from None

"""Tasks that a few lines of TOML describe, for predictions alone: a format, and where the needs of each token are.

    format = "b x:n = z:n e"
    [needs]
    x = "x[n-1-t]"

`x:n` is a number of n digits, a bare letter such as `y` one digit; everything else is a delimiter. Lengths are named by
small letters in the prompt and may be computed from these in the answer. `t` counts the answer tokens from 0, `e`
included; a place outside its number is absent. A scale has every combination of lengths whose maximum is the scale.
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ldhd.predict.expression import Expression
from ldhd.predict.shapes import StringShape, check_needs, evenly_spaced
from ldhd.tasks.task import Needs

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DIGITS = frozenset("0123456789")
DELIMITERS = "be=+*\\"
FIELDS = ("format", "needs", "exchangeable", "train_scales")


@dataclass(frozen=True)
class Field:
    """One token of a format: a delimiter, or a number with a name and a length."""

    name: str
    length: Expression | None = None


@dataclass(frozen=True)
class Description:
    """A task that is described by its format and its needs; a `ShapeSource`, so that `predict` takes it as a task."""

    name: str
    fields: tuple[Field, ...]
    lengths: tuple[str, ...]
    slots: dict[str, tuple[str, Expression]]
    """For each slot the number that contains its token, and the place of the token there."""
    exchangeable: tuple[tuple[str, ...], ...] = ()
    train_scales: tuple[int, ...] = (1, 2, 3, 4, 5)
    enumerated: bool = True

    def shapes(self, scales: Sequence[int]) -> list[StringShape]:
        found = [[self._shape(scale, lengths) for lengths in self._combinations(scale)] for scale in scales]
        return [shape for shapes in found for shape in evenly_spaced(shapes)]

    def _combinations(self, scale: int) -> list[dict[str, int]]:
        values = product(range(1, scale + 1), repeat=len(self.lengths))
        return [dict(zip(self.lengths, value, strict=True)) for value in values if max(value) == scale]

    def _shape(self, scale: int, lengths: dict[str, int]) -> StringShape:
        text, start = "", 0
        starts: dict[str, tuple[int, int]] = {}
        contents: list[frozenset[str]] = []
        for field in self.fields:
            if field.length is None:
                text, contents = text + field.name, [*contents, frozenset(field.name)]
                start = start or (len(text) if field.name == "=" else 0)
                continue
            length = field.length.value(lengths)
            if length < 0:
                raise ValueError(f"{self.name}: {field.name} has {length} digits where {_shown(lengths)}")
            starts[field.name] = len(text), length
            text, contents = text + "0" * length, [*contents, *([DIGITS] * length)]
        needs: Needs = [self._needs(t, lengths, starts) for t in range(len(text) - start)]
        check_needs(f"{self.name} where {_shown(lengths)}", text, start, needs)
        return StringShape(text, start, scale, needs, tuple(contents))

    def _needs(self, t: int, lengths: dict[str, int], starts: dict[str, tuple[int, int]]) -> dict[str, int | None]:
        found: dict[str, int | None] = {}
        for slot, (number, place) in self.slots.items():
            start, length = starts[number]
            index = place.value({**lengths, "t": t})
            found[slot] = start + index if 0 <= index < length else None
        return found


def parse_description(text: str, name: str) -> Description:
    """Return the task that a TOML text describes; a ValueError points at what is wrong with it."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name} is no TOML: {error}") from None
    for key in content:
        if key not in FIELDS:
            raise ValueError(f"{name}: there is no {key!r} in a description; it has {', '.join(FIELDS)}")
    if not isinstance(content.get("format"), str):
        raise ValueError(f'{name}: a description has format = "b x:n = z:n e" or the like')
    fields, lengths = _read_format(content["format"], name)
    slots = _read_needs(content.get("needs"), {field.name for field in fields if field.length}, lengths, name)
    groups = _read_groups(content.get("exchangeable", []), slots, name)
    scales = content.get("train_scales", [1, 2, 3, 4, 5])
    if not isinstance(scales, list) or not scales or any(type(s) is not int or s < 1 for s in scales):
        raise ValueError(f"{name}: train_scales are whole numbers from 1 up, got {scales!r}")
    described = Description(name, fields, lengths, slots, groups, tuple(sorted(set(scales))))
    described.shapes((1, 2, 3))
    return described


def _read_format(text: str, name: str) -> tuple[tuple[Field, ...], tuple[str, ...]]:
    words = text.split()

    def wrong(place: int, what: str) -> ValueError:
        return ValueError(f"{name}: token {place + 1} of format {text!r}, {words[place]!r}, {what}")

    if len(words) < 4 or words[0] != "b" or words[-1] != "e" or words.count("=") != 1:
        raise ValueError(f"{name}: a format runs from b to one = and on to e, as in 'b x:n = z:n e', got {text!r}")
    fields: list[Field] = []
    lengths: list[str] = []
    for place, word in enumerate(words):
        prompt = place < words.index("=")
        if len(word) == 1 and word in DELIMITERS:
            if word in "be" and place not in (0, len(words) - 1):
                raise wrong(place, "may stand at the beginning or the end only")
            fields.append(Field(word))
            continue
        number, colon, length = word.partition(":")
        if not re.fullmatch(r"[a-z]\w*", number) or number in {*DELIMITERS, "t"}:
            raise wrong(place, f"is no delimiter ({' '.join(DELIMITERS)}) and no number such as x:n")
        if any(field.name == number for field in fields):
            raise wrong(place, f"names the number {number} a second time")
        if colon and prompt and re.fullmatch(r"[a-z]", length) and length != "t" and length not in lengths:
            lengths.append(length)
        try:
            fields.append(Field(number, Expression(length if colon else "1", lengths)))
        except ValueError as error:
            raise wrong(place, f"has no length: {error}") from None
    if not lengths:
        raise ValueError(f"{name}: no number of format {text!r} has a length that grows, such as x:n before =")
    return tuple(fields), tuple(lengths)


def _read_needs(given: Any, numbers: set[str], lengths: Sequence[str], name: str) -> dict[str, tuple[str, Expression]]:
    if not isinstance(given, dict) or not given:
        raise ValueError(f'{name}: [needs] is missing: a line for each slot, such as x = "x[t]"')
    slots = {}
    for slot, text in given.items():
        found = re.fullmatch(r"\s*(\w+)\s*\[(.*)\]\s*", text) if isinstance(text, str) else None
        if found is None:
            raise ValueError(f'{name}: needs.{slot} is a place in a number, such as "x[t]", got {text!r}')
        if found[1] not in numbers:
            choices = ", ".join(sorted(numbers))
            raise ValueError(f"{name}: needs.{slot} = {text!r}: there is no number {found[1]!r}; there are {choices}")
        try:
            slots[slot] = found[1], Expression(found[2], [*lengths, "t"])
        except ValueError as error:
            raise ValueError(f"{name}: needs.{slot} = {text!r}: {error}") from None
    return slots


def _read_groups(given: Any, slots: dict[str, Any], name: str) -> tuple[tuple[str, ...], ...]:
    if not isinstance(given, list) or not all(isinstance(group, list) for group in given):
        raise ValueError(f'{name}: exchangeable is a list of groups of slots, such as [["x", "y"]], got {given!r}')
    for group in given:
        for slot in group:
            if slot not in slots:
                raise ValueError(f"{name}: exchangeable names {slot!r}, which is no slot; there are {', '.join(slots)}")
    return tuple(tuple(group) for group in given)


def _shown(lengths: dict[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in lengths.items())

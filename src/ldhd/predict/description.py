"""Tasks that a few lines of TOML describe: a format, where the needs of each token are, and what the answer is.

    format = "b x:n = z:n e"
    [needs]
    x = "x[n-1-t]"
    [answer]
    z = "x"

`x:n` is a number of n digits, a bare letter such as `y` one digit; everything else is a delimiter. Lengths are named by
small letters in the prompt and may be computed from these in the answer. `t` counts the answer tokens from 0, `e`
included; a place outside its number is absent. A scale has every combination of lengths whose maximum is the scale.

A prediction needs no more than the format and the needs. To be trained, a task also has an answer: each digit of a
number after `=`, computed from the contents of its slots, 0 where one is absent, modulo `base`, which is 10 by default.
"""

import ast
import operator
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

from ldhd.predict.shapes import ShapeSource, StringShape, check_needs
from ldhd.tasks.digits import index_of

DELIMITERS = "be=+*\\"
KEYS = ("format", "needs", "exchangeable", "train_scales", "answer", "base")
OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
WITH_DIVISION = OPERATORS | {ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}
"""The operators in what an answer is computed with."""
FUNCTIONS: dict[str, Callable[..., Any]] = {"max": max, "min": min}


@dataclass(frozen=True)
class Description(ShapeSource):
    """A task that is described by its format and its needs; its lengths and places are expressions."""

    name: str
    fields: tuple[tuple[str, str | None], ...]
    """The tokens of the format: each delimiter with None, each number with its length."""
    lengths: tuple[str, ...]
    """The names of the lengths."""
    slots: dict[str, tuple[str, str]]
    """For each slot the number that contains its token, and the place of the token there."""
    exchangeable: tuple[tuple[str, ...], ...] = ()
    train_scales: tuple[int, ...] = (1, 2, 3, 4, 5)
    enumerated: bool = True
    answer: dict[str, str] | None = None
    """For each number of the answer what its digits are, by the contents of the slots; None if that is not known."""
    base: int = 10

    def shapes_at(self, scale: int) -> list[StringShape]:
        combinations = product(range(1, scale + 1), repeat=len(self.lengths))
        return [self.shape(values) for values in combinations if max(values) == scale]

    def places(self, values: Sequence[int]) -> tuple[str, dict[str, tuple[int, int]]]:
        """Return the string of these lengths, 0 for each digit, and where each field begins and how long it is."""
        lengths = dict(zip(self.lengths, values, strict=True))
        text, places = "", {}
        for field, expression in self.fields:
            length = 1 if expression is None else evaluate(expression, lengths)
            if length < 0:
                raise ValueError(f"{self.name}: {field} has {length} digits where {_listed(lengths)}")
            places[field] = len(text), length
            text += field if expression is None else "0" * length
        return text, places

    def shape(self, values: Sequence[int]) -> StringShape:
        """Return the shape of strings with these lengths."""
        lengths = dict(zip(self.lengths, values, strict=True))
        text, places = self.places(values)
        start = text.index("=") + 1
        needs = [
            {
                slot: index_of(evaluate(place, {**lengths, "t": t}), *places[number])
                for slot, (number, place) in self.slots.items()
            }
            for t in range(len(text) - start)
        ]
        check_needs(f"{self.name} where {_listed(lengths)}", text, start, needs)
        digits = frozenset("0123456789"[: self.base])
        contents = tuple(digits if token == "0" else frozenset(token) for token in text)
        return StringShape(text, start, max(values), needs, contents)


def parse_description(text: str, name: str) -> Description:
    """Return the task that a TOML text describes; a ValueError points at what is wrong with it."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name} is no TOML: {error}") from None
    for key in content:
        if key not in KEYS:
            raise ValueError(f"{name}: there is no {key!r} in a description; it has {', '.join(KEYS)}")
    if not isinstance(content.get("format"), str):
        raise ValueError(f'{name}: a description has format = "b x:n = z:n e" or the like')
    fields, lengths = _read_format(content["format"], name)
    slots = _read_needs(content.get("needs"), {number for number, length in fields if length}, lengths, name)
    groups = _read_groups(content.get("exchangeable", []), slots, name)
    scales = content.get("train_scales", [1, 2, 3, 4, 5])
    if not isinstance(scales, list) or not scales or any(type(s) is not int or s < 1 for s in scales):
        raise ValueError(f"{name}: train_scales are whole numbers from 1 up, got {scales!r}")
    base = content.get("base", 10)
    if type(base) is not int or not 2 <= base <= 10:
        raise ValueError(f"{name}: base is a whole number from 2 to 10, got {base!r}")
    answer = _read_answer(content["answer"], fields, [*lengths, "t", *slots], name) if "answer" in content else None
    described = Description(
        name, tuple(fields), tuple(lengths), slots, groups, tuple(sorted(set(scales))), answer=answer, base=base
    )
    described.shapes((1, 2, 3))
    return described


def evaluate(
    text: str,
    values: Mapping[str, Any],
    functions: Mapping[str, Callable[..., Any]] = FUNCTIONS,
    numbers: tuple[type, ...] = (int,),
    operators: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = OPERATORS,
) -> Any:
    """Return the value of an expression such as `n-1-t`: numbers, names, + - * max min; ValueError for all else.

    Names may stand for anything that can be added and multiplied, such as arrays, with functions that take these.
    """

    def value(node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=constant) if type(constant) in numbers:
                return constant
            case ast.Name(id=name) if name in values:
                return values[name]
            case ast.Name(id=name):
                raise ValueError(f"{name!r} in {text!r} is unknown; there are {', '.join(values) or 'no names'}")
            case ast.BinOp(left=left, op=op, right=right) if type(op) in operators:
                try:
                    return operators[type(op)](value(left), value(right))
                except ZeroDivisionError:
                    raise ValueError(f"{text!r} divides by zero") from None
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.Call(func=ast.Name(id=name), args=[_, *_] as arguments, keywords=[]) if name in functions:
                return functions[name](*map(value, arguments))
        signs = "+ - * // %" if ast.Mod in operators else "+ - *"
        allowed = f"{'numbers' if float in numbers else 'whole numbers'}, {signs} {' '.join(functions)}"
        raise ValueError(f"{ast.unparse(node)!r} in {text!r} is not allowed; use {allowed}")

    return value(_parsed(text))


@lru_cache(maxsize=256)
def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        raise ValueError(f"{text!r} is no expression") from None


def _listed(lengths: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in lengths.items())


def _read_format(text: str, name: str) -> tuple[list[tuple[str, str | None]], list[str]]:
    words = text.split()

    def wrong(place: int, what: str) -> ValueError:
        return ValueError(f"{name}: token {place + 1} of format {text!r}, {words[place]!r}, {what}")

    if len(words) < 4 or words[0] != "b" or words[-1] != "e" or words.count("=") != 1:
        raise ValueError(f"{name}: a format runs from b to one = and on to e, as in 'b x:n = z:n e', got {text!r}")
    fields: list[tuple[str, str | None]] = []
    lengths: list[str] = []
    for place, word in enumerate(words):
        if len(word) == 1 and word in DELIMITERS:
            if word in "be" and place not in (0, len(words) - 1):
                raise wrong(place, "may stand at the beginning or the end only")
            fields.append((word, None))
            continue
        number, colon, length = word.partition(":")
        if not re.fullmatch(r"[a-z]\w*", number) or number in {*DELIMITERS, "t"}:
            raise wrong(place, f"is no delimiter ({' '.join(DELIMITERS)}) and no number such as x:n")
        if any(known == number for known, _ in fields):
            raise wrong(place, f"names the number {number} a second time")
        in_prompt = place < words.index("=")
        if colon and in_prompt and re.fullmatch(r"[a-z]", length) and length != "t" and length not in lengths:
            lengths.append(length)
        fields.append((number, length if colon else "1"))
        try:
            evaluate(length if colon else "1", dict.fromkeys(lengths, 1))
        except ValueError as error:
            raise wrong(place, f"has no length: {error}") from None
    if not lengths:
        raise ValueError(f"{name}: no number of format {text!r} has a length that grows, such as x:n before =")
    return fields, lengths


def _read_needs(given: Any, numbers: set[str], lengths: Sequence[str], name: str) -> dict[str, tuple[str, str]]:
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
            evaluate(found[2], dict.fromkeys([*lengths, "t"], 1))
        except ValueError as error:
            raise ValueError(f"{name}: needs.{slot} = {text!r}: {error}") from None
        slots[slot] = found[1], found[2]
    return slots


def _read_answer(
    given: Any, fields: Sequence[tuple[str, str | None]], names: Sequence[str], name: str
) -> dict[str, str]:
    start = fields.index(("=", None))
    numbers = [field for field, length in fields[start:] if length is not None]
    if len(set(names)) < len(names):
        raise ValueError(f"{name}: an answer is computed from slots, lengths and t, which must have different names")
    if not isinstance(given, dict) or given.keys() != set(numbers):
        choices = ", ".join(numbers) or "none"
        raise ValueError(f'{name}: [answer] has a line such as z = "x" for each number after =: {choices}')
    for number, text in given.items():
        if not isinstance(text, str):
            raise ValueError(f'{name}: answer.{number} is an expression such as "x + y", got {text!r}')
        try:
            evaluate(text, dict.fromkeys(names, 1), operators=WITH_DIVISION)
        except ValueError as error:
            raise ValueError(f"{name}: answer.{number} = {text!r}: {error}") from None
    return given


def _read_groups(given: Any, slots: dict[str, Any], name: str) -> tuple[tuple[str, ...], ...]:
    if not isinstance(given, list) or not all(isinstance(group, list) for group in given):
        raise ValueError(f'{name}: exchangeable is a list of groups of slots, such as [["x", "y"]], got {given!r}')
    for group in given:
        for slot in group:
            if slot not in slots:
                raise ValueError(f"{name}: exchangeable names {slot!r}, which is no slot; there are {', '.join(slots)}")
    return tuple(tuple(group) for group in given)

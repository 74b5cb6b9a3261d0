"""Tasks that a TOML description determines completely, so that they can be sampled and trained."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import torch

from ldhd.predict.description import WITH_DIVISION, Description, evaluate, parse_description
from ldhd.predict.shapes import StringShape
from ldhd.tasks import Format, LatentSpace, Needs, Task
from ldhd.tasks.digits import Digits, uniform


def read_description(name: str) -> Description:
    """Read the description of a task from a TOML file; ValueError says what is wrong with it."""
    path = Path(name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read the description {name}: {error}") from None
    return parse_description(text, path.stem)


def described_task(name: str) -> Task:
    """Return the task that a file in the current folder describes; ValueError if it does not say what the answer is."""
    if Path(name).name != name:
        raise ValueError(f"{name}: a description that is trained lies in the current folder, since its name has no '/'")
    described = read_description(name)
    if described.answer is None:
        raise ValueError(
            f'{name} can be predicted, but not trained: it has no [answer] with a line such as z = "x", which says '
            "what each digit is"
        )
    form = DescribedFormat(described)
    return Task(described.name, DescribedStrings(described), form.computed, form, described.train_scales)


class Described(NamedTuple):
    """The lengths that a format names, and all digits of the prompt in their order."""

    lengths: tuple[int, ...]
    digits: Digits


class DescribedStrings(LatentSpace):
    """Uniform digits; one of the lengths, drawn at random, is the scale, and the others are uniform from 1 up to it."""

    def __init__(self, described: Description):
        self.described = described

    def sample(self, scale: int, generator: torch.Generator) -> Described:
        count = len(self.described.lengths)
        lengths = (1 + torch.randint(scale, (count,), generator=generator)).tolist()
        lengths[int(torch.randint(count, (), generator=generator))] = scale
        digits = uniform(self._size(tuple(lengths)), self.described.base, generator)
        return Described(tuple(lengths), digits)

    def scale(self, latent: Described) -> int:
        return max(latent.lengths)

    def longest(self, scale: int) -> Described:
        return max(self._extreme(scale), key=lambda latent: len(self.described.places(latent.lengths)[0]))

    def hard(self, scale: int) -> list[Described]:
        """List strings of one digit, the largest and the smallest, with lengths as equal and as unequal as possible."""
        extreme = [latent.lengths for latent in self._extreme(scale)][:16]
        return [Described(own, (digit,) * self._size(own)) for own in extreme for digit in (0, self.described.base - 1)]

    def _extreme(self, scale: int) -> list[Described]:
        found = [own for own in product((scale, 1), repeat=len(self.described.lengths)) if max(own) == scale]
        return [Described(own, (0,) * self._size(own)) for own in dict.fromkeys(found)]

    def _size(self, lengths: tuple[int, ...]) -> int:
        """Return the number of digits of the prompt."""
        text, _ = self.described.places(lengths)
        return text[: text.index("=")].count("0")


class DescribedFormat(Format):
    """The strings of a description."""

    def __init__(self, described: Description):
        self.described, self.exchangeable = described, described.exchangeable
        self._shape = lru_cache(maxsize=1024)(described.shape)

    def prompt(self, latent: Described) -> str:
        shape = self._shape(latent.lengths)
        digits = map(str, latent.digits)
        return "".join(next(digits) if token == "0" else token for token in shape.text[: shape.start])

    def answer(self, latent: Described, label: str) -> str:
        return label

    def read(self, prompt: str) -> Described:
        fields = self.described.fields
        found = next(self._parsed(prompt, fields[: fields.index(("=", None)) + 1], {}), None)
        if found is None:
            words = " ".join(field if length is None else f"{field}:{length}" for field, length in fields)
            raise ValueError(f"a prompt of this task has the format {words!r}, got {prompt!r}")
        lengths = tuple(found[name] for name in self.described.lengths)
        return Described(lengths, tuple(int(token) for token in prompt if token.isdigit()))

    def needs(self, latent: Described, label: str) -> Needs:
        return self._shape(latent.lengths).needs

    def computed(self, latent: Described) -> str:
        """Compute the answer, token by token, from the contents of the slots."""
        shape = self._shape(latent.lengths)
        text = self.prompt(latent)
        for t, (number, slots) in enumerate(zip(self._numbers(shape, latent.lengths), shape.needs, strict=True)):
            contents = {slot: 0 if index is None else _value(text[index]) for slot, index in slots.items()}
            text += shape.text[shape.start + t] if number is None else self._digit(number, latent.lengths, t, contents)
        return text[shape.start :]

    def _digit(self, number: str, lengths: tuple[int, ...], t: int, contents: dict[str, int]) -> str:
        described = self.described
        assert described.answer is not None
        values = dict(zip(described.lengths, lengths, strict=True)) | {"t": t} | contents
        return str(evaluate(described.answer[number], values, operators=WITH_DIVISION) % described.base)

    def _numbers(self, shape: StringShape, lengths: tuple[int, ...]) -> list[str | None]:
        """Return the number that each answer token belongs to, None for delimiters."""
        found: list[str | None] = [None] * len(shape.text)
        _, places = self.described.places(lengths)
        for field, expression in self.described.fields:
            if expression is not None:
                start, length = places[field]
                found[start : start + length] = [field] * length
        return found[shape.start :]

    def _parsed(
        self, text: str, fields: tuple[tuple[str, str | None], ...], lengths: dict[str, int]
    ) -> Iterator[dict[str, int]]:
        """Yield the lengths with which the fields, one after another, make up a text."""
        if not fields:
            if not text:
                yield lengths
            return
        (field, expression), rest = fields[0], fields[1:]
        if expression is None:
            if text.startswith(field):
                yield from self._parsed(text[1:], rest, lengths)
            return
        allowed = "0123456789"[: self.described.base]
        run = next((place for place, token in enumerate(text) if token not in allowed), len(text))
        free = expression in self.described.lengths and expression not in lengths
        tried = range(run, 0, -1) if free else [evaluate(expression, lengths)]
        for length in tried:
            if 0 <= length <= run:
                named = lengths | {expression: length} if free else lengths
                yield from self._parsed(text[length:], rest, named)


def _value(token: str) -> int:
    """Return what a token counts for in an expression: a delimiter counts as 0, as an absent slot does."""
    return int(token) if token.isdigit() else 0

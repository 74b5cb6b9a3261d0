"""Pairs of strings of symbols: their latent spaces, and the abstract format of tasks about them."""

from typing import ClassVar

import torch

from ldhd.tasks import digits
from ldhd.tasks.digits import Digits
from ldhd.tasks.task import Format, LatentSpace

Pair = tuple[Digits, Digits]


class EqualStrings(LatentSpace):
    """Two strings of n symbols each, uniform on 0 .. 9."""

    def sample(self, scale: int, generator: torch.Generator) -> Pair:
        return digits.uniform(scale, 10, generator), digits.uniform(scale, 10, generator)

    def scale(self, latent: Pair) -> int:
        return len(latent[0])

    def hard(self, scale: int) -> list[Pair]:
        """List pairs of uniform strings, in which no symbol tells one place from another."""
        return [((a,) * scale, (b,) * scale) for a, b in ((0, 0), (9, 9), (0, 9), (9, 0), (1, 2))]

    def shapes(self, scale: int) -> list[Pair]:
        """Return instances of the only shape, among which every symbol, sum and difference varies."""
        return [((a,) * scale, (b,) * scale) for a, b in ((1, 1), (2, 3), (5, 4))]


class PairFormat(Format):
    """The abstract format `b x y = z e`, with a separator between the two strings x and y of equal length."""

    separator: ClassVar[str] = "+"
    example: ClassVar[str] = "b12+34="
    """A prompt that error messages show."""

    def prompt(self, latent: Pair) -> str:
        return f"b{digits.write(latent[0])}{self.separator}{digits.write(latent[1])}="

    def answer(self, latent: Pair, label: Digits) -> str:
        return f"{digits.write(label)}e"

    def read(self, prompt: str) -> Pair:
        first, second = digits.operands(prompt, self.separator, self.example)
        if len(first) != len(second):
            raise ValueError(f"both strings must have the same length, got {prompt!r}")
        return digits.read(first, "the first string"), digits.read(second, "the second string")

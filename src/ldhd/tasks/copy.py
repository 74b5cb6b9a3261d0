"""Unaligned copy (Section 5.2 and Appendix D)."""

from typing import ClassVar

import torch

from ldhd.tasks import digits
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Format, LatentSpace, Needs, Task


class Strings(LatentSpace):
    """Strings of n symbols, each uniform on 0 .. base - 1."""

    def __init__(self, base: int):
        self.base = base

    def sample(self, scale: int, generator: torch.Generator) -> Digits:
        return digits.uniform(scale, self.base, generator)

    def scale(self, latent: Digits) -> int:
        return len(latent)

    def hard(self, scale: int) -> list[Digits]:
        """Return strings of one symbol, of two in turns, and with one symbol that differs, first, last or inside."""
        symbols, last = range(self.base), self.base - 1
        found = [(symbol,) * scale for symbol in symbols]
        found += [tuple((k + shift) % 2 * last for k in range(scale)) for shift in (0, 1)]
        found += [tuple(k % self.base for k in range(scale)), tuple(k // 2 % 2 for k in range(scale))]
        for place in (0, 1, scale // 2, scale - 2, scale - 1):
            found += [tuple(a if k == place else b for k in range(scale)) for a, b in ((0, 1), (1, 0), (last, 0))]
        return found

    def shapes(self, scale: int) -> list[Digits]:
        """Return strings of the only shape; where only the first symbol is 1, every prefix parity is 1."""
        return [(0,) * scale, (1,) * scale, (1,) + (0,) * (scale - 1)]


class StringFormat(Format):
    """The abstract format of tasks whose prompt is one string, `b x_0 ... x_{n-1} =`, and so is their label."""

    example: ClassVar[str]
    """A prompt that error messages show."""
    content: ClassVar[str]
    """What error messages call the string."""
    base: ClassVar[int]

    def prompt(self, latent: Digits) -> str:
        return f"b{digits.write(latent)}="

    def read(self, prompt: str) -> Digits:
        return digits.read(digits.inside(prompt, self.example), f"{self.content} {prompt!r}", self.base)

    def answer(self, latent: Digits, label: Digits) -> str:
        return f"{digits.write(label)}e"


def identity(latent: Digits) -> Digits:
    return latent


class CopyFormat(StringFormat):
    """`b x_0 ... x_{n-1} = x_0 ... x_{n-1} e`.

    >>> b407=407e
    >>> b5=5e
    """

    example, content, base = "b123=", "what is to be copied in", 10

    def needs(self, latent: Digits, label: Digits) -> Needs:
        """Answer token k needs x_k; `e` follows where that is absent."""
        n = len(latent)
        return [{"x": index_of(k, 1, n)} for k in range(n + 1)]


COPY = Task("copy", Strings(10), identity, CopyFormat())

"""Copy of two strings with the separator between them, so that the answer contains a delimiter of its own."""

import torch

from ldhd.tasks import digits
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Format, LatentSpace, Needs, Task

Pair = tuple[Digits, Digits]


class StringPairs(LatentSpace):
    """Two strings of 1 to n symbols, uniform on 0 .. 9; the scale n is the length of the longer one."""

    def sample(self, scale: int, generator: torch.Generator) -> Pair:
        """Draw one of the 2 n - 1 pairs of lengths uniformly, then the symbols."""
        first, second = _lengths(scale)[int(torch.randint(2 * scale - 1, (), generator=generator))]
        return digits.uniform(first, 10, generator), digits.uniform(second, 10, generator)

    def scale(self, latent: Pair) -> int:
        return max(map(len, latent))

    def longest(self, scale: int) -> Pair:
        return (1,) * scale, (1,) * scale

    def hard(self, scale: int) -> list[Pair]:
        """List strings of the most unequal lengths, and uniform ones, in which no symbol tells a place."""
        return [((a,) * x, (b,) * y) for x, y in ((scale, scale), (scale, 1), (1, scale)) for a, b in ((0, 0), (1, 2))]

    def shapes(self, scale: int) -> list[Pair]:
        return [((a,) * first, (b,) * second) for first, second in _lengths(scale) for a, b in ((1, 1), (2, 3))]


def _lengths(scale: int) -> list[tuple[int, int]]:
    return [(scale, y) for y in range(1, scale + 1)] + [(x, scale) for x in range(1, scale)]


def identity(latent: Pair) -> Pair:
    return latent


class SeparatorFormat(Format):
    """`b x_0 ... x_{n1-1} * y_0 ... y_{n2-1} = x_0 ... x_{n1-1} * y_0 ... y_{n2-1} e`.

    >>> b40*7=40*7e
    >>> b5*5=5*5e
    """

    def prompt(self, latent: Pair) -> str:
        return f"b{'*'.join(map(digits.write, latent))}="

    def answer(self, latent: Pair, label: Pair) -> str:
        return f"{'*'.join(map(digits.write, label))}e"

    def read(self, prompt: str) -> Pair:
        first, second = digits.operands(prompt, "*", "b12*3=")
        return digits.read(first, "the first string"), digits.read(second, "the second string")

    def needs(self, latent: Pair, label: Pair) -> Needs:
        """Answer token k needs token k of the prompt after `b`, be it a symbol or the separator."""
        n = 1 + sum(map(len, latent))
        return [{"x": index_of(k, 1, n)} for k in range(n + 1)]


COPY_SEPARATOR = Task("copy-separator", StringPairs(), identity, SeparatorFormat())

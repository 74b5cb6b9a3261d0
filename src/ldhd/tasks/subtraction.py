"""Subtraction of a number from one that is at least as large, from the least significant digit up."""

import torch

from ldhd.tasks import digits
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Format, LatentSpace, Needs, Task

Pair = tuple[Digits, Digits]


class OrderedPairs(LatentSpace):
    """A number of n digits and one that is no larger, least significant digit first."""

    def sample(self, scale: int, generator: torch.Generator) -> Pair:
        """Draw the length of the second number uniformly from 1 to n, then the digits; the larger number is first."""
        length = 1 + int(torch.randint(scale, (), generator=generator))
        x, y = digits.number(scale, generator), digits.number(length, generator)
        return (x, y) if not _is_less(x, y) else (y, x)

    def scale(self, latent: Pair) -> int:
        return len(latent[0])

    def longest(self, scale: int) -> Pair:
        return (9,) * scale, (9,) * scale

    def hard(self, scale: int) -> list[Pair]:
        """List a borrow that travels through all digits, equal numbers, and operands of the most unequal lengths."""
        power = (0,) * (scale - 1) + (1,)
        return [(power, (1,)), (power, power), ((9,) * scale, (9,) * scale), ((9,) * scale, (9,)), ((5,) * scale, (1,))]

    def shapes(self, scale: int) -> list[Pair]:
        """List every length of the second number; the last digits of the difference vary with the borrow."""
        filled = ((1, 1), (9, 2), (5, 3))
        return [((a,) * scale, (b,) * length) for length in range(1, scale + 1) for a, b in filled]


def _is_less(x: Digits, y: Digits) -> bool:
    return (len(x), x[::-1]) < (len(y), y[::-1])


def difference(latent: Pair) -> Digits:
    """Return x - y with exactly as many digits as x."""
    x, y = latent
    result, borrow = [], 0
    for a, b in zip(x, digits.pad(y, len(x)), strict=True):
        result.append((a - b - borrow) % 10)
        borrow = int(a - b - borrow < 0)
    return tuple(result)


class SubtractionFormat(Format):
    r"""`b x_0 ... x_{n-1} \ y_0 ... y_{m-1} = z_0 ... z_{n-1} e`, least significant digit first, zeros kept.

    >>> b753\543=210e     357 - 345 = 12
    >>> b001\1=990e       100 - 1 = 99

    `\` stands for minus.
    """

    example = "b753\\21="

    def prompt(self, latent: Pair) -> str:
        return f"b{digits.write(latent[0])}\\{digits.write(latent[1])}="

    def answer(self, latent: Pair, label: Digits) -> str:
        return f"{digits.write(label)}e"

    def read(self, prompt: str) -> Pair:
        left, right = digits.operands(prompt, "\\", self.example)
        x, y = digits.read_number(left, "the first number"), digits.read_number(right, "the second number")
        if _is_less(x, y):
            raise ValueError(f"the first number must be at least as large as the second, got {prompt!r}")
        return x, y

    def needs(self, latent: Pair, label: Digits) -> Needs:
        """z_t needs both digits of place t and what determines the borrow from it.

        x_{t-1} - y_{t-1} - z_{t-1} mod 10 is what place t - 1 had lent, and with it follows what it has borrowed.
        """
        x, y, z = (1, len(latent[0])), (2 + len(latent[0]), len(latent[1])), (3 + sum(map(len, latent)), len(label))
        return [
            {
                "x": index_of(t, *x),
                "y": index_of(t, *y),
                "x_previous": index_of(t - 1, *x),
                "y_previous": index_of(t - 1, *y),
                "z_previous": index_of(t - 1, *z),
            }
            for t in range(len(label) + 1)
        ]


SUBTRACTION = Task("subtraction", OrderedPairs(), difference, SubtractionFormat())

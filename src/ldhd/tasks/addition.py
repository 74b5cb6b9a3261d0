"""Unaligned addition in reverse format, URF (Examples 1 and 2, Section 5.2 and Appendix D)."""

from collections.abc import Sequence
from typing import ClassVar

import torch

from ldhd.tasks import digits
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Format, LatentSpace, Needs, Task

Addends = tuple[Digits, Digits]


class AddendPairs(LatentSpace):
    """Pairs of numbers of n1 and n2 digits; the scale is the larger of n1 and n2."""

    def sample(self, scale: int, generator: torch.Generator) -> Addends:
        """Draw (n1, n2) uniformly among the 2 n - 1 pairs whose maximum is the scale, then the digits."""
        index = int(torch.randint(2 * scale - 1, (), generator=generator))
        lengths = (scale, index + 1) if index < scale else (index - scale + 1, scale)
        return digits.number(lengths[0], generator), digits.number(lengths[1], generator)

    def scale(self, latent: Addends) -> int:
        return max(len(latent[0]), len(latent[1]))

    def sample_training(self, scales: Sequence[int], size: int, generator: torch.Generator) -> list[Addends]:
        """Draw (n1, n2) uniformly among the pairs whose maximum is a training scale: for 1..n, among {1..n}^2."""
        weights = torch.tensor([2.0 * scale - 1 for scale in scales])
        chosen = torch.multinomial(weights, size, replacement=True, generator=generator).tolist()
        return [self.sample(scales[index], generator) for index in chosen]

    def training_size(self, scales: Sequence[int]) -> int:
        """Return the size of the paper's training set, which does not depend on the scales."""
        return 10_000

    def longest(self, scale: int) -> Addends:
        return (9,) * scale, (9,) * scale

    def hard(self, scale: int) -> list[Addends]:
        """Return carries through all places, carries that stop or begin inside, no carry at sums of 9, and zeros.

        The pairs of lengths are equal ones, extreme ones and neighbours, in both orders.
        """
        half, short = max(1, scale // 2), max(1, scale - 1)
        nines, one = (9,) * scale, (1,)
        power = (0,) * (scale - 1) + (1,)
        pairs = [
            *((nines, other) for other in (one, nines, (0,), (9,), (9,) * half, (9,) * short, power)),
            *((power, other) for other in (one, power, (0,), (9,), (9,) * half, (9,) * short)),
            *(((digit,) * scale, (9 - digit or 9,) * scale) for digit in (1, 4, 5, 8)),
            ((5,) + (4,) * (scale - 1), (5,) * scale),  # one carry through sums of 9
            ((9,) * half + (1,) * (scale - half), one),  # it stops inside
            ((1,) * half + (9,) * (scale - half), (0,) * (half - 1) + (9,)),  # it begins inside
            (tuple(9 if k % 2 else 1 for k in range(scale)), tuple(1 if k % 2 else 9 for k in range(scale))),
            ((5,) * scale, (5,) * scale),
        ]
        return [pair for x, y in pairs for pair in ((x, y), (y, x))[: 1 + (len(x) != len(y))]]

    def shapes(self, scale: int) -> list[Addends]:
        """List each pair of lengths, with and without a last carry; above the shorter addend only a 9 passes it on."""
        lengths = [(scale, y) for y in range(1, scale + 1)] + [(x, scale) for x in range(1, scale)]
        found = [((a,) * x, (b,) * y) for x, y in lengths for a, b in ((1, 1), (2, 3), (9, 9))]
        for x, y in lengths:
            both = min(x, y)
            found.append(((8,) * both + (9,) * (x - both), (5,) * both + (9,) * (y - both)))
        return found


def total(latent: Addends) -> Digits:
    """Return the sum of the addends."""
    return digits.add(*latent)


class AddendsFormat(Format):
    """The abstract format `b x + y = z e` of two addends and a number z, least significant digit first."""

    example: ClassVar[str] = "b12+345="
    """A prompt that error messages show."""
    exchangeable: tuple[tuple[str, ...], ...] = (("x", "y"), ("x_previous", "y_previous"))

    def prompt(self, latent: Addends) -> str:
        return f"b{digits.write(latent[0])}+{digits.write(latent[1])}="

    def answer(self, latent: Addends, label: Digits) -> str:
        return f"{digits.write(label)}e"

    def read(self, prompt: str) -> Addends:
        left, right = digits.operands(prompt, "+", self.example)
        return digits.read_number(left, "the first addend"), digits.read_number(right, "the second addend")


class UnalignedFormat(AddendsFormat):
    """`b x_0 ... x_{n1-1} + y_0 ... y_{n2-1} = z_0 ... z_m e`, least significant digit first, no leading zeros.

    >>> b21+543=753e      12 + 345 = 357
    >>> b99+1=001e        99 + 1 = 100
    """

    def needs(self, latent: Addends, label: Digits) -> Needs:
        return addition_needs(len(latent[0]), len(latent[1]), len(label))

    def carries(self, latent: Addends) -> list[int]:
        return digits.carry_lengths(digits.place_sums(*latent))


def addition_needs(x_length: int, y_length: int, z_length: int) -> Needs:
    """Return the needs of z_t and, at t = z_length, of `e`: both digits of this place and what determines the carry.

    The carry into place t follows from x_{t-1}, y_{t-1} and z_{t-1}, the last of which is the query itself:
    z_{t-1} - x_{t-1} - y_{t-1} mod 10 is the carry into place t - 1.
    """
    x, y, z = (1, x_length), (2 + x_length, y_length), (3 + x_length + y_length, z_length)
    return [
        {
            "x": index_of(t, *x),
            "y": index_of(t, *y),
            "x_previous": index_of(t - 1, *x),
            "y_previous": index_of(t - 1, *y),
            "z_previous": index_of(t - 1, *z),
        }
        for t in range(z_length + 1)
    ]


ADDITION = Task("addition", AddendPairs(), total, UnalignedFormat(), train_scales=(1, 2, 3, 4))

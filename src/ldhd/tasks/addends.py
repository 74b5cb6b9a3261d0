"""The sum of several numbers, from the least significant digit up: carries may be larger than one."""

from functools import reduce
from itertools import product

import torch

from ldhd.tasks import digits
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Format, LatentSpace, Needs, Task

Addends = tuple[Digits, ...]

MOST_LENGTHS = 300
"""The largest number of combinations of lengths whose shapes are listed; three addends have 271 at scale 10."""


class Numbers(LatentSpace):
    """`count` numbers, least significant digit first; the scale is the number of digits of the longest."""

    def __init__(self, count: int):
        self.count = count

    def sample(self, scale: int, generator: torch.Generator) -> Addends:
        """Draw which number has `scale` digits and, uniformly, how many from 1 to `scale` the others have."""
        lengths = (1 + torch.randint(scale, (self.count,), generator=generator)).tolist()
        lengths[int(torch.randint(self.count, (), generator=generator))] = scale
        return tuple(digits.number(length, generator) for length in lengths)

    def scale(self, latent: Addends) -> int:
        return max(map(len, latent))

    def longest(self, scale: int) -> Addends:
        return ((9,) * scale,) * self.count

    def hard(self, scale: int) -> list[Addends]:
        """List sums whose carries travel through all digits, with operands of equal and of the most unequal lengths."""
        nines, others = (9,) * scale, self.count - 1
        unequal = [(nines, *[(digit,)] * others) for digit in (1, 9)]
        return [(nines,) * self.count, ((5,) * scale,) * self.count, *unequal, *(latent[::-1] for latent in unequal)]

    def shapes(self, scale: int) -> list[Addends]:
        """List combinations of lengths, at most `MOST_LENGTHS` of them, with and without a last carry."""
        lower = product(range(1, scale + 1), repeat=self.count)
        lengths = [own for own in lower if max(own) == scale]
        step = max(1, len(lengths) / MOST_LENGTHS)
        chosen = [lengths[int(k * step)] for k in range(int(len(lengths) / step))]
        return [addends for own in chosen for addends in _fillings(own)]


def _fillings(lengths: tuple[int, ...]) -> list[Addends]:
    """Fill numbers of these lengths so that every digit that can vary does, without and with a last carry.

    A carry from the places that several numbers share goes on through nines; a larger one passes a smaller digit first.
    """
    shared = sorted(lengths)[-2]
    filled = [tuple((digit,) * length for length in lengths) for digit in (1, 2, 9)]
    for low, first in ((8, 9), (5, 9), *((9, digit) for digit in range(11 - len(lengths), 9))):
        above = (first, *(9,) * max(lengths))
        filled.append(tuple((low,) * min(shared, length) + above[: max(0, length - shared)] for length in lengths))
    return filled


def total(latent: Addends) -> Digits:
    return reduce(digits.add, latent)


class SumFormat(Format):
    """`b x + y + z = s e` and the like for `count` addends, least significant digit first, no leading zeros.

    >>> b21+543+9=663e      12 + 345 + 9 = 366
    >>> b99+99+9=702e       99 + 99 + 9 = 207
    """

    def __init__(self, count: int):
        self.count = count
        self.names = [f"x{index}" for index in range(1, count + 1)]
        self.exchangeable = (tuple(self.names), tuple(f"{name}_previous" for name in self.names))

    def prompt(self, latent: Addends) -> str:
        return f"b{'+'.join(map(digits.write, latent))}="

    def answer(self, latent: Addends, label: Digits) -> str:
        return f"{digits.write(label)}e"

    def read(self, prompt: str) -> Addends:
        parts = digits.inside(prompt, self._example).split("+")
        if len(parts) != self.count:
            raise ValueError(f"a prompt of this task looks like '{self._example}', got {prompt!r}")
        return tuple(digits.read_number(part, "an addend") for part in parts)

    def needs(self, latent: Addends, label: Digits) -> Needs:
        """The digits of a place and those of the one before it, which with the digit written there tell the carry."""
        places: dict[str, tuple[int, int]] = {}
        start = 1
        for name, number in zip((*self.names, "z"), (*latent, label), strict=True):
            places[name] = start, len(number)
            start += len(number) + 1
        return [
            {name: index_of(t, *places[name]) for name in self.names}
            | {f"{name}_previous": index_of(t - 1, *place) for name, place in places.items()}
            for t in range(len(label) + 1)
        ]

    def carries(self, latent: Addends) -> list[int]:
        width = max(map(len, latent))
        return digits.carry_lengths(
            [sum(column) for column in zip(*(digits.pad(x, width) for x in latent), strict=True)]
        )

    @property
    def _example(self) -> str:
        return f"b{'+'.join(map(str, range(1, self.count + 1)))}="


ADDENDS = Task("addends", Numbers(3), total, SumFormat(3))

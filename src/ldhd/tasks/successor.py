"""The number after a number: addition of one, in which a carry can travel through the whole string."""

import torch

from ldhd.tasks import digits
from ldhd.tasks.copy import StringFormat
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import LatentSpace, Needs, Task


class NumbersEndingInNines(LatentSpace):
    """Numbers of n digits, least significant digit first, that begin with a run of nines of any length up to n.

    With uniform digits, one carry in ten would travel two places, and hardly any through a long number.
    """

    def sample(self, scale: int, generator: torch.Generator) -> Digits:
        """Draw the length of the run uniformly from 0 to n, then the other digits."""
        run = int(torch.randint(scale + 1, (), generator=generator))
        return (9,) * run + digits.number(scale, generator)[run:]

    def scale(self, latent: Digits) -> int:
        return len(latent)

    def longest(self, scale: int) -> Digits:
        return (9,) * scale

    def hard(self, scale: int) -> list[Digits]:
        """List numbers whose carry travels through all digits, through all but the last, and through none."""
        return [(9,) * scale, (9,) * (scale - 1) + (3,), (8,) + (9,) * (scale - 1), (1,) * scale]

    def shapes(self, scale: int) -> list[Digits]:
        """Return numbers whose successor has as many digits, and the one whose successor has one more."""
        return [(1,) * scale, (2,) * scale, (9,) * (scale - 1) + (3,), (9,) * scale]


def successor(latent: Digits) -> Digits:
    return digits.add(latent, (1,))


class SuccessorFormat(StringFormat):
    """`b x_0 ... x_{n-1} = z_0 ... e`, least significant digit first, no leading zeros.

    >>> b21=31e           12 + 1 = 13
    >>> b99=001e          99 + 1 = 100
    """

    example, content, base = "b123=", "the number", 10

    def read(self, prompt: str) -> Digits:
        return digits.read_number(digits.inside(prompt, self.example), f"{self.content} {prompt!r}")

    def needs(self, latent: Digits, label: Digits) -> Needs:
        """z_t needs x_t and the carry into place t, which there is if x_{t-1} is 9 and z_{t-1} is 0."""
        x, z = (1, len(latent)), (2 + len(latent), len(label))
        return [
            {"x": index_of(t, *x), "x_previous": index_of(t - 1, *x), "z_previous": index_of(t - 1, *z)}
            for t in range(len(label) + 1)
        ]

    def carries(self, latent: Digits) -> list[int]:
        """Return over how many places each carry has travelled, the one that is added counted as a place."""
        return digits.carry_lengths([latent[0] + 1, *latent[1:]])


SUCCESSOR = Task("successor", NumbersEndingInNines(), successor, SuccessorFormat())

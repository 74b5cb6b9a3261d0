"""Multiplication of two digits by n digits with a scratchpad: the product with each digit, then their sum."""

from typing import NamedTuple

import torch

from ldhd.tasks import digits
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Format, LatentSpace, Needs, Task

Factors = tuple[Digits, Digits]


class TwoDigitsAndNumber(LatentSpace):
    """A number of two digits and a number of n digits, least significant digit first."""

    def sample(self, scale: int, generator: torch.Generator) -> Factors:
        return digits.number(2, generator), digits.number(scale, generator)

    def scale(self, latent: Factors) -> int:
        return len(latent[1])

    def hard(self, scale: int) -> list[Factors]:
        """List carries through all places, zeros inside, and a factor whose products differ most."""
        numbers = [(9,) * scale, (5,) * scale, (1,) * scale, (0,) * (scale - 1) + (1,), (8,) + (1,) * (scale - 1)]
        return [(x, y) for x in ((9, 9), (0, 1), (9, 1), (1, 9)) for y in numbers]

    def shapes(self, scale: int) -> list[Factors]:
        """Return instances of the only shape, among which every digit of both products and of their sum varies."""
        return [((a, b), (y,) * scale) for a, b, y in ((1, 1, 1), (9, 9, 9), (2, 3, 5), (7, 4, 8))]


class Products(NamedTuple):
    """The products of the second number with each digit of the first, n + 1 digits each, and the whole product."""

    low: Digits
    high: Digits
    total: Digits


def products(latent: Factors) -> Products:
    (low, high), y = latent
    first, second = (digits.carried([digit * other for other in y]) for digit in (low, high))
    return Products(first, second, digits.carried(digits.place_sums(first, (0, *second)))[: len(y) + 2])


class ScratchpadFormat(Format):
    r"""`b x_0 x_1 * y_0 ... y_{n-1} = p_0 ... p_n + q_0 ... q_n \ z_0 ... z_{n+1} e`, least significant digit first.

    >>> b21*543=0960+5430\04140e     12 * 345: 2 * 345 = 690, 1 * 345 = 345, 690 + 3450 = 4140
    >>> b11*9=90+90\990e             11 * 9 = 99

    By the theory the scratchpad is not needed, but a token depends on less with it: a carry of the whole product is at
    most 17 and follows from the two places before, so that a digit would depend on eight tokens; here it does on five.
    """

    example = "b21*543="

    def prompt(self, latent: Factors) -> str:
        return f"b{digits.write(latent[0])}*{digits.write(latent[1])}="

    def answer(self, latent: Factors, label: Products) -> str:
        return f"{digits.write(label.low)}+{digits.write(label.high)}\\{digits.write(label.total)}e"

    def read(self, prompt: str) -> Factors:
        left, right = digits.operands(prompt, "*", self.example)
        x, y = digits.read_number(left, "the first factor"), digits.read_number(right, "the second factor")
        if len(x) != 2:
            raise ValueError(f"the first factor must have two digits, got {left!r} in {prompt!r}")
        return x, y

    def needs(self, latent: Factors, label: Products) -> Needs:
        """A digit of p or q needs what one of a product does, in its row; a digit of the sum what one of a sum does.

        In the sum, q stands one place higher than p. Where `+` has been written, the row is that of q.
        """
        n = len(latent[1])
        y, p, q, z = (4, n), (n + 5, n + 1), (2 * n + 7, n + 1), (3 * n + 9, n + 2)
        found: Needs = [
            {
                "x": factor,
                "y": index_of(t, *y),
                "y_previous": index_of(t - 1, *y),
                "z_previous": index_of(t - 1, *row),
                "plus": plus,
            }
            for factor, row, plus in ((1, p, None), (2, q, 2 * n + 6))
            for t in range(n + 2)
        ]
        return found + [
            {
                "p": index_of(t, *p),
                "q": index_of(t - 1, *q),
                "p_previous": index_of(t - 1, *p),
                "q_previous": index_of(t - 2, *q),
                "z_previous": index_of(t - 1, *z),
            }
            for t in range(n + 3)
        ]


TWO_DIGIT_MULTIPLICATION = Task("two-digit-multiplication", TwoDigitsAndNumber(), products, ScratchpadFormat())

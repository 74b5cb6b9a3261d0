"""Multiplication of n by m digits with a scratchpad: a row for each digit of the first factor, then the product."""

from typing import NamedTuple

import torch

from ldhd.tasks import digits
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Format, LatentSpace, Needs, Task

Factors = tuple[Digits, Digits]


class FactorPairs(LatentSpace):
    """Pairs of numbers of n1 and n2 digits, least significant digit first; the scale is the larger of n1 and n2."""

    def sample(self, scale: int, generator: torch.Generator) -> Factors:
        """Draw one of the 2 n - 1 pairs of lengths uniformly, then the digits."""
        first, second = _lengths(scale)[int(torch.randint(2 * scale - 1, (), generator=generator))]
        return digits.number(first, generator), digits.number(second, generator)

    def scale(self, latent: Factors) -> int:
        return max(map(len, latent))

    def longest(self, scale: int) -> Factors:
        return (9,) * scale, (9,) * scale

    def hard(self, scale: int) -> list[Factors]:
        """List carries through all rows, zeros inside, and factors of the most unequal lengths."""
        nines, power, one = (9,) * scale, (0,) * (scale - 1) + (1,), (1,)
        pairs = [(nines, nines), (power, power), (nines, one), (one, nines), (nines, power)]
        return [*pairs, ((5,) * scale, (2,) * scale)]

    def shapes(self, scale: int) -> list[Factors]:
        """List each pair of lengths, with digits that vary in every row and in the product."""
        filled = ((1, 1), (9, 9), (2, 7), (7, 4))
        return [((a,) * first, (b,) * second) for first, second in _lengths(scale) for a, b in filled]


def _lengths(scale: int) -> list[tuple[int, int]]:
    return [(scale, y) for y in range(1, scale + 1)] + [(x, scale) for x in range(1, scale)]


class Rows(NamedTuple):
    """The rows of the scratchpad, with as many digits as the second factor and one more, and the product."""

    rows: tuple[Digits, ...]
    product: Digits


def multiplied(latent: Factors) -> Rows:
    """Add x_j y to the row before it without its first digit, which is the j-th digit of the product."""
    x, y = latent
    rows: list[Digits] = []
    above: Digits = (0,) * (len(y) + 1)
    for digit in x:
        above = digits.carried([a + digit * b for a, b in zip(above[1:], y, strict=True)])
        rows.append(above)
    return Rows(tuple(rows), (*(row[0] for row in rows[:-1]), *above))


class RowsFormat(Format):
    r"""`b x_0 ... x_{m-1} * y_0 ... y_{n-1} = a_0 + ... + a_{m-1} \ z_0 ... z_{m+n-1} e`, least significant first.

    Row a_j has n + 1 digits and is x_j y plus row a_{j-1} without its first digit. The product z consists of the first
    digits of all rows and the other digits of the last row.

    >>> b21*543=0960+4140\04140e      12 * 345: 2 * 345 = 690, 69 + 345 = 414, so 4140
    >>> b7*9=36\36e                   7 * 9 = 63

    By the theory the scratchpad is needed: without it a digit depends on more digits the longer the factors are, with
    it on at most seven.
    """

    example = "b21*543="

    def prompt(self, latent: Factors) -> str:
        return f"b{digits.write(latent[0])}*{digits.write(latent[1])}="

    def answer(self, latent: Factors, label: Rows) -> str:
        return f"{'+'.join(map(digits.write, label.rows))}\\{digits.write(label.product)}e"

    def read(self, prompt: str) -> Factors:
        left, right = digits.operands(prompt, "*", self.example)
        return digits.read_number(left, "the first factor"), digits.read_number(right, "the second factor")

    def needs(self, latent: Factors, label: Rows) -> Needs:
        """A digit of a row needs x_j, y_t, the digit above it, and what determines the carry: those of place t - 1.

        A carry is at most 9, so that the last digit written determines it. After a row, `+` follows where there is a
        next x, else `\\`. A digit of the product needs one digit of the rows; `e` follows where there is none.
        """
        m, n = map(len, latent)
        y, first = (m + 2, n), m + n + 3
        starts = [first + j * (n + 2) for j in range(m)]
        found: Needs = []
        for j, start in enumerate(starts):
            above = (starts[j - 1], n + 1) if j else (0, 0)
            found += [
                {
                    "x": 1 + j,
                    "x_next": index_of(j + 1, 1, m),
                    "y": index_of(t, *y),
                    "y_previous": index_of(t - 1, *y),
                    "above": index_of(t + 1, *above),
                    "above_previous": index_of(t, *above) if t else None,
                    "z_previous": index_of(t - 1, start, n + 1),
                }
                for t in range(n + 2)
            ]
        places = [*starts[:-1], *range(starts[-1], starts[-1] + n + 1)]
        return [*found, *({"a": index} for index in places), {"a": None}]


LONG_MULTIPLICATION = Task("long-multiplication", FactorPairs(), multiplied, RowsFormat())

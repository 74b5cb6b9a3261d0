"""Multiplication of one digit by n digits (Appendix E)."""

from typing import ClassVar

import torch

from ldhd.tasks import digits
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Format, LatentSpace, Needs, Task

Operands = tuple[int, Digits]


class OneDigitAndNumber(LatentSpace):
    """A digit from 1 to 9 and a number of n digits, least significant digit first."""

    def sample(self, scale: int, generator: torch.Generator) -> Operands:
        return digits.one_to_nine(generator), digits.number(scale, generator)

    def scale(self, latent: Operands) -> int:
        return len(latent[1])

    def hard(self, scale: int) -> list[Operands]:
        """Return numbers of one digit, powers of ten and their neighbours, and zeros inside, for several digits x.

        With x = 9 carries and remainders are largest; where the first digit is below x, the quotient begins with 0.
        """
        half = scale // 2
        numbers = [
            *((digit,) * scale for digit in (1, 3, 5, 8, 9)),
            (0,) * (scale - 1) + (1,),
            (0,) * (scale - 1) + (8,),
            (*(9 * (k % 2) for k in range(scale - 1)), 1),
            (9,) * half + (0,) * (scale - half - 1) + (1,),
            (0,) * half + (9,) * (scale - half),
        ]
        return [(x, number) for x in (1, 7, 9) for number in numbers]

    def shapes(self, scale: int) -> list[Operands]:
        """Return instances of the only shape, among which every digit of the product and of the quotient varies."""
        return [(x, (y,) * scale) for x, y in ((1, 1), (2, 3), (9, 9), (3, 1))]


def product(latent: Operands) -> Digits:
    """Return x y with exactly n + 1 digits."""
    return digits.carried([latent[0] * digit for digit in latent[1]])


class OperandFormat(Format):
    """The abstract format of tasks with one digit x and a number y: `b x y = z e`, a separator between x and y."""

    separator: ClassVar[str]
    example: ClassVar[str]
    """A prompt that error messages show."""
    step: ClassVar[int]
    """1 if the least significant digit is written first, -1 if the most significant is."""

    def prompt(self, latent: Operands) -> str:
        return f"b{latent[0]}{self.separator}{digits.write(latent[1][:: self.step])}="

    def answer(self, latent: Operands, label: Digits) -> str:
        return f"{digits.write(label[:: self.step])}e"

    def read(self, prompt: str) -> Operands:
        left, right = digits.operands(prompt, self.separator, self.example)
        if len(left) != 1 or left not in "123456789":
            raise ValueError(f"the one-digit operand must be 1..9, got {left!r} in {prompt!r}")
        return int(left), digits.read_number(right[:: self.step], "the longer operand")

    def needs(self, latent: Operands, label: Digits) -> Needs:
        """Return the needs of z_t and of the final `e`: x, and places t and t - 1 of y and z, in writing order."""
        y, z = (3, len(latent[1])), (4 + len(latent[1]), len(label))
        return [
            {"x": 1, "y": index_of(t, *y), "y_previous": index_of(t - 1, *y), "z_previous": index_of(t - 1, *z)}
            for t in range(len(label) + 1)
        ]


class MultiplicationFormat(OperandFormat):
    """`b x * y_0 ... y_{n-1} = z_0 ... z_n e`, least significant digit first.

    >>> b7*321=1680e      7 * 123 = 861
    >>> b3*2=60e          3 * 2 = 6

    z_t needs x, y_t, and what determines the carry into place t: y_{t-1} and z_{t-1}. z_{t-1} - x y_{t-1} mod 10 is
    the carry into place t - 1, which is at most 8.
    """

    separator, example, step = "*", "b7*123=", 1

    def carries(self, latent: Operands) -> list[int]:
        return digits.carry_lengths([latent[0] * digit for digit in latent[1]])


MULTIPLICATION = Task("multiplication", OneDigitAndNumber(), product, MultiplicationFormat())

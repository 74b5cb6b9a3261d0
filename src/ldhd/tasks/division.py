"""Division of n digits by one digit (Appendix E), from the most significant digit down."""

from ldhd.tasks.digits import Digits
from ldhd.tasks.multiplication import OneDigitAndNumber, OperandFormat, Operands
from ldhd.tasks.task import Task


def quotient(latent: Operands) -> Digits:
    """Return y // x with exactly n digits, least significant digit first, as all numbers are stored."""
    x, y = latent
    result, remainder = [], 0
    for digit in reversed(y):
        remainder = 10 * remainder + digit
        result.append(remainder // x)
        remainder %= x
    return tuple(reversed(result))


class DivisionFormat(OperandFormat):
    r"""`b x \ y_{n-1} ... y_0 = z_{n-1} ... z_0 e`, most significant digit first, zeros kept.

    >>> b7\861=123e       861 // 7 = 123
    >>> b4\38=09e         38 // 4 = 9

    The t-th digit written needs x, the t-th digit of y, and what determines the remainder before it.
    10 r + y_{t-1} lies in [x z_{t-1}, x z_{t-1} + x), a window shorter than 10, so y_{t-1} and z_{t-1}
    determine r, and with it the remainder that place t starts from.
    """

    separator, example, step = "\\", "b7\\123=", -1


DIVISION = Task("division", OneDigitAndNumber(), quotient, DivisionFormat())

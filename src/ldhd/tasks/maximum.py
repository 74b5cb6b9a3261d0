"""The maximum of a list of digits, which attention finds by content alone."""

from ldhd.tasks.copy import StringFormat, Strings
from ldhd.tasks.digits import Digits
from ldhd.tasks.task import Needs, Task


def largest_digit(latent: Digits) -> Digits:
    return (max(latent),)


class MaximumFormat(StringFormat):
    """`b x_0 ... x_{n-1} = z e`, where z is the largest of the digits.

    >>> b407=7e
    >>> b5=5e
    """

    example, content, base = "b123=", "the list", 10
    by_content = "the largest digit is found by what it is, wherever it stands"

    def needs(self, latent: Digits, label: Digits) -> Needs:
        """The maximum needs every digit, each in a slot of its own; `e` follows whatever the maximum was."""
        return [{f"x_{k}": 1 + k for k in range(len(latent))}, {}]


MAXIMUM = Task("maximum", Strings(10), largest_digit, MaximumFormat())

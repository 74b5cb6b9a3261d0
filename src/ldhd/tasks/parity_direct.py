"""Parity without a chain of thought: the latent space and concept of `parity`, but only the last parity is written."""

from ldhd.tasks.copy import StringFormat, Strings
from ldhd.tasks.digits import Digits
from ldhd.tasks.parity import prefix_parities
from ldhd.tasks.task import Needs, Task


class DirectFormat(StringFormat):
    """`b x_0 ... x_{n-1} = y_{n-1} e`.

    >>> b1101=1e
    >>> b0=0e
    """

    example, content, base = "b101=", "the bits of", 2

    def answer(self, latent: Digits, label: Digits) -> str:
        return f"{label[-1]}e"

    def needs(self, latent: Digits, label: Digits) -> Needs:
        """The parity needs every bit, each in a slot of its own; `e` follows whatever the parity was."""
        return [{f"x_{k}": 1 + k for k in range(len(latent))}, {}]


PARITY_DIRECT = Task("parity-direct", Strings(2), prefix_parities, DirectFormat())

"""Parity without a chain of thought: the latent space and concept of `parity`, only the last parity written."""

from ldhd.tasks import digits
from ldhd.tasks.copy import Strings
from ldhd.tasks.digits import Digits
from ldhd.tasks.parity import prefix_parities, read_bits
from ldhd.tasks.task import Format, Needs, Task


class DirectFormat(Format):
    """`b x_0 ... x_{n-1} = y_{n-1} e`.

    >>> b1101=1e
    >>> b0=0e
    """

    def prompt(self, latent: Digits) -> str:
        return f"b{digits.write(latent)}="

    def answer(self, latent: Digits, label: Digits) -> str:
        return f"{label[-1]}e"

    def read(self, prompt: str) -> Digits:
        return read_bits(prompt)

    def needs(self, latent: Digits, label: Digits) -> Needs:
        """The parity needs every bit, a slot each; `e` follows whatever the parity was."""
        return [{f"x_{k}": 1 + k for k in range(len(latent))}, {}]


PARITY_DIRECT = Task("parity-direct", Strings(2), prefix_parities, DirectFormat())

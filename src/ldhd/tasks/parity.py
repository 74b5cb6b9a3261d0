"""ParityCoT (Appendix E): every prefix parity is written, so that one step needs two bits only."""

from itertools import accumulate
from operator import xor

from ldhd.tasks import digits
from ldhd.tasks.copy import Strings
from ldhd.tasks.digits import Digits
from ldhd.tasks.task import Format, Needs, Task

SHAPE = "'b101='"


def prefix_parities(latent: Digits) -> Digits:
    """y_0 = x_0 and y_k = x_k xor y_{k-1}."""
    return tuple(accumulate(latent, xor))


def read_bits(prompt: str) -> Digits:
    return digits.read(digits.between(prompt, "b", "=", SHAPE), f"the bits of {prompt!r}", base=2)


class ChainOfThoughtFormat(Format):
    """`b x_0 ... x_{n-1} = y_0 ... y_{n-1} e`.

    >>> b1101=1001e
    >>> b0=0e
    """

    def prompt(self, latent: Digits) -> str:
        return f"b{digits.write(latent)}="

    def answer(self, latent: Digits, label: Digits) -> str:
        return f"{digits.write(label)}e"

    def read(self, prompt: str) -> Digits:
        return read_bits(prompt)

    def needs(self, latent: Digits, label: Digits) -> Needs:
        """y_k needs x_k and y_{k-1}."""
        n = len(latent)
        return [{"x": 1 + k if k < n else None, "y_previous": n + 1 + k if k > 0 else None} for k in range(n + 1)]


PARITY = Task("parity", Strings(2), prefix_parities, ChainOfThoughtFormat())

"""ParityCoT (Appendix E): the answer lists every prefix parity, so that each step needs two bits only."""

from itertools import accumulate
from operator import xor

from ldhd.tasks.copy import StringFormat, Strings
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Needs, Task


def prefix_parities(latent: Digits) -> Digits:
    """Return y_0 = x_0 and y_k = x_k xor y_{k-1}."""
    return tuple(accumulate(latent, xor))


class ChainOfThoughtFormat(StringFormat):
    """`b x_0 ... x_{n-1} = y_0 ... y_{n-1} e`.

    >>> b1101=1001e
    >>> b0=0e
    """

    example, content, base = "b101=", "the bits of", 2

    def needs(self, latent: Digits, label: Digits) -> Needs:
        """y_k needs x_k and y_{k-1}; `e` follows where x_k is absent."""
        n = len(latent)
        return [{"x": index_of(k, 1, n), "y_previous": index_of(k - 1, n + 2, n)} for k in range(n + 1)]


PARITY = Task("parity", Strings(2), prefix_parities, ChainOfThoughtFormat())

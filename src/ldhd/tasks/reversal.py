"""Reversal: the answer begins where the prompt ends, so an embedding must measure from the end of the string."""

from ldhd.tasks.copy import StringFormat, Strings
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Needs, Task


def backwards(latent: Digits) -> Digits:
    return latent[::-1]


class ReversalFormat(StringFormat):
    """`b x_0 ... x_{n-1} = x_{n-1} ... x_0 e`.

    >>> b407=704e
    >>> b5=5e
    """

    example, content, base = "b123=", "what is to be reversed in", 10

    def needs(self, latent: Digits, label: Digits) -> Needs:
        """Answer token k needs x_{n-1-k}; `e` follows where that is absent."""
        n = len(latent)
        return [{"x": index_of(n - 1 - k, 1, n)} for k in range(n + 1)]


REVERSAL = Task("reversal", Strings(10), backwards, ReversalFormat())

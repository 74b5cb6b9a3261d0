"""The sum of digits modulo 10 with a chain of thought: every running sum is written, so that each needs two digits."""

from itertools import accumulate

from ldhd.tasks.copy import StringFormat, Strings
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Needs, Task


def running_sums(latent: Digits) -> Digits:
    """Return y_0 = x_0 and y_k = x_k + y_{k-1} mod 10."""
    return tuple(total % 10 for total in accumulate(latent))


class RunningSumFormat(StringFormat):
    """`b x_0 ... x_{n-1} = y_0 ... y_{n-1} e`, where y_k is the sum of x_0 ... x_k modulo 10.

    >>> b407=441e
    >>> b99=98e

    By the theory the chain of thought is needed: without it the only digit of the answer depends on every digit of the
    prompt, with it each depends on two.
    """

    example, content, base = "b123=", "the digits of", 10

    def needs(self, latent: Digits, label: Digits) -> Needs:
        """y_k needs x_k and y_{k-1}; `e` follows where x_k is absent."""
        n = len(latent)
        return [{"x": index_of(k, 1, n), "y_previous": index_of(k - 1, n + 2, n)} for k in range(n + 1)]


MODULAR_SUM = Task("modular-sum", Strings(10), running_sums, RunningSumFormat())

"""The larger of two numbers, which their content decides: the first place at which they differ."""

from ldhd.tasks.digits import Digits
from ldhd.tasks.pairs import EqualStrings, Pair, PairFormat
from ldhd.tasks.task import Needs, Task


def larger(latent: Pair) -> Digits:
    return max(latent)  # of equal length, most significant digit first


class LargerFormat(PairFormat):
    """`b x_{n-1} ... x_0 + y_{n-1} ... y_0 = z_{n-1} ... z_0 e`, most significant digit first, zeros kept.

    >>> b407+415=415e
    >>> b8+3=8e
    """

    by_content = "which number is copied depends on the digits at the first place at which the two numbers differ"

    def needs(self, latent: Pair, label: Digits) -> Needs:
        """The t-th digit needs the digits of both numbers up to its place; `e` follows where there is none."""
        n = len(label)
        found: Needs = [
            {f"{name}_{k}": start + k for name, start in (("x", 1), ("y", 2 + n)) for k in range(t + 1)}
            for t in range(n)
        ]
        return [*found, {}]


LARGER = Task("larger", EqualStrings(), larger, LargerFormat())

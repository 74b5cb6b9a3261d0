"""The difference of two strings, digit by digit: two slots whose contents cannot be exchanged, and no borrow."""

from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.pairs import EqualStrings, Pair, PairFormat
from ldhd.tasks.task import Needs, Task


def digit_differences(latent: Pair) -> Digits:
    """Return x_t - y_t mod 10 at each place."""
    return tuple((a - b) % 10 for a, b in zip(*latent, strict=True))


class DifferenceFormat(PairFormat):
    r"""`b x_0 ... x_{n-1} \ y_0 ... y_{n-1} = z_0 ... z_{n-1} e`, where z_t is x_t - y_t mod 10; `\` stands for minus.

    >>> b407\215=292e
    >>> b3\8=5e
    """

    separator, example = "\\", "b12\\34="

    def needs(self, latent: Pair, label: Digits) -> Needs:
        """z_t needs x_t and y_t; `e` follows where they are absent."""
        n = len(label)
        return [{"x": index_of(t, 1, n), "y": index_of(t, 2 + n, n)} for t in range(n + 1)]


DIFFERENCE = Task("difference", EqualStrings(), digit_differences, DifferenceFormat())

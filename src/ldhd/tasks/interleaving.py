"""Interleaving of two strings: an answer twice as long as either, read from both in turn."""

from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.pairs import EqualStrings, Pair, PairFormat
from ldhd.tasks.task import Needs, Task


def interleaved(latent: Pair) -> Digits:
    """Return x_0 y_0 x_1 y_1 and so on."""
    return tuple(symbol for pair in zip(*latent, strict=True) for symbol in pair)


class InterleavingFormat(PairFormat):
    """`b x_0 ... x_{n-1} + y_0 ... y_{n-1} = x_0 y_0 ... x_{n-1} y_{n-1} e`.

    >>> b407+215=420175e
    >>> b3+8=38e
    """

    exchangeable = (("x", "y"),)  # one of them is absent, and the answer token is the other

    def needs(self, latent: Pair, label: Digits) -> Needs:
        """Answer token 2 k needs x_k, answer token 2 k + 1 needs y_k; `e` follows where both are absent."""
        n = len(latent[0])
        starts = {"x": 1, "y": 2 + n}
        return [
            {slot: index_of(t // 2, start, n) if "xy"[t % 2] == slot else None for slot, start in starts.items()}
            for t in range(2 * n + 1)
        ]


INTERLEAVING = Task("interleaving", EqualStrings(), interleaved, InterleavingFormat())

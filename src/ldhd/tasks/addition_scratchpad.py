"""Addition from the most significant digit with a scratchpad, on which the sum is first written the other way round."""

from ldhd.tasks.addition import AddendPairs, Addends, total
from ldhd.tasks.addition_forward import ForwardFormat
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Needs, Task


class ScratchpadFormat(ForwardFormat):
    r"""`b x_{n1-1} ... x_0 + y_{n2-1} ... y_0 = s_0 ... s_m \ s_m ... s_0 e`: `addition-forward` after its reverse.

    >>> b12+345=7530\0357e
    >>> b99+1=001\100e

    By the theory the scratchpad is needed: without it the first digit of the sum depends on carries from the far end,
    with it each token depends on at most five.
    """

    def answer(self, latent: Addends, label: Digits) -> str:
        forward = super().answer(latent, label)
        return f"{forward[-2::-1]}\\{forward}"

    def needs(self, latent: Addends, label: Digits) -> Needs:
        """s_t needs what a digit of `addition` does, read from the ends of the addends; later digits need one s."""
        x_length, y_length = map(len, latent)
        size, start = 1 + max(x_length, y_length), x_length + y_length + 3
        x, y, s = (x_length, x_length), (x_length + y_length + 1, y_length), (start, size)
        scratchpad: Needs = [
            {
                "x": _from_end(t, *x),
                "y": _from_end(t, *y),
                "x_previous": _from_end(t - 1, *x),
                "y_previous": _from_end(t - 1, *y),
                "s_previous": index_of(t - 1, *s),
            }
            for t in range(size + 1)
        ]
        return [*scratchpad, *({"s": index_of(size - 1 - k, *s)} for k in range(size + 1))]


def _from_end(place: int, last: int, length: int) -> int | None:
    """Return the index of a place that is counted from the last digit of a number, at `last`."""
    return last - place if 0 <= place < length else None


ADDITION_SCRATCHPAD = Task("addition-scratchpad", AddendPairs(), total, ScratchpadFormat())

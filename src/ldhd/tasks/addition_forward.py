"""Addition from the most significant digit: what is written first depends on carries from the far end."""

from ldhd.tasks import digits
from ldhd.tasks.addition import AddendPairs, Addends, AddendsFormat, total
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Needs, Task


class ForwardFormat(AddendsFormat):
    """`b x_{n1-1} ... x_0 + y_{n2-1} ... y_0 = z_m ... z_0 e`, one digit more than the longer addend, zeros kept.

    >>> b12+345=0357e
    >>> b99+1=100e

    The latent space and the concept are those of `addition`.
    """

    exchangeable = (("x", "y"),)

    def prompt(self, latent: Addends) -> str:
        return super().prompt((latent[0][::-1], latent[1][::-1]))

    def answer(self, latent: Addends, label: Digits) -> str:
        return super().answer(latent, digits.pad(label, 1 + max(map(len, latent)))[::-1])

    def read(self, prompt: str) -> Addends:
        left, right = digits.operands(prompt, "+", self.example)
        return digits.read_number(left[::-1], "the first addend"), digits.read_number(right[::-1], "the second addend")

    def needs(self, latent: Addends, label: Digits) -> Needs:
        """The digit at a place needs x and y there and, for the carry, those of every lower place: x_1, x_2, and so on.

        `e` follows where there are no lower places.
        """
        x_length, y_length = map(len, latent)
        starts = {"x": (1, x_length), "y": (2 + x_length, y_length)}
        return [
            {
                f"{name}_{lower}" if lower else name: index_of(length - 1 - (place - lower), start, length)
                for lower in range(place + 1 if place >= 0 else 1)
                for name, (start, length) in starts.items()
            }
            for place in range(max(x_length, y_length), -2, -1)
        ]


ADDITION_FORWARD = Task("addition-forward", AddendPairs(), total, ForwardFormat())

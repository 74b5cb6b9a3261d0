"""AdditionMod10 (Appendix E.2): only the first digit of each addend matters."""

import torch

from ldhd.tasks import digits
from ldhd.tasks.addition import Addends, AddendsFormat
from ldhd.tasks.digits import Digits
from ldhd.tasks.task import LatentSpace, Needs, Task


class EqualLengthAddends(LatentSpace):
    """Pairs of numbers of n digits each, least significant digit first."""

    def sample(self, scale: int, generator: torch.Generator) -> Addends:
        return digits.number(scale, generator), digits.number(scale, generator)

    def scale(self, latent: Addends) -> int:
        return len(latent[0])

    def hard(self, scale: int) -> list[Addends]:
        """Return sums of first digits around 10, before rests of one digit that differs from them."""
        firsts = ((0, 0), (9, 9), (9, 1), (1, 9), (5, 5), (4, 5), (0, 9))
        if scale == 1:
            return [((a,), (b,)) for a, b in firsts]
        return [((a,) + (r,) * (scale - 1), (b,) + (s,) * (scale - 1)) for a, b in firsts for r, s in ((9, 9), (1, 8))]

    def shapes(self, scale: int) -> list[Addends]:
        return [((a,) * scale, (b,) * scale) for a, b in ((1, 1), (2, 3))]


def last_digit_of_sum(latent: Addends) -> Digits:
    """Return x + y mod 10."""
    return ((latent[0][0] + latent[1][0]) % 10,)


class Mod10Format(AddendsFormat):
    """`b x_0 ... x_{n-1} + y_0 ... y_{n-1} = z e`, least significant digit first.

    >>> b21+98=1e         12 + 89 = 101
    >>> b7+2=9e
    """

    example = "b12+34="
    exchangeable = (("x", "y"),)

    def read(self, prompt: str) -> Addends:
        first, second = super().read(prompt)
        if len(first) != len(second):
            raise ValueError(f"both addends must have the same number of digits, got {prompt!r}")
        return first, second

    def needs(self, latent: Addends, label: Digits) -> Needs:
        """z needs the first digits; `e` follows whatever z was."""
        return [{"x": 1, "y": 2 + len(latent[0])}, {}]


ADDITION_MOD10 = Task("addition-mod10", EqualLengthAddends(), last_digit_of_sum, Mod10Format())

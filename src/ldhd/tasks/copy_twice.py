"""Copy with repetition: the string is written twice, so that two answer tokens need the same place of the prompt."""

from ldhd.tasks import digits
from ldhd.tasks.copy import StringFormat, Strings, identity
from ldhd.tasks.digits import Digits, index_of
from ldhd.tasks.task import Needs, Task


class TwiceFormat(StringFormat):
    """`b x_0 ... x_{n-1} = x_0 ... x_{n-1} * x_0 ... x_{n-1} e`.

    >>> b407=407*407e
    >>> b5=5*5e

    By the theory no chain of thought is needed: each token depends on one symbol of the prompt and on whether `*` has
    been written.
    """

    example, content, base = "b123=", "what is to be copied twice in", 10

    def answer(self, latent: Digits, label: Digits) -> str:
        return f"{digits.write(label)}*{digits.write(label)}e"

    def needs(self, latent: Digits, label: Digits) -> Needs:
        """The k-th token of either copy needs x_k; where that is absent, `*` follows, or `e` if there is a `*`."""
        n = len(latent)
        return [{"x": index_of(k, 1, n), "star": star} for star in (None, 2 * n + 2) for k in range(n + 1)]


COPY_TWICE = Task("copy-twice", Strings(10), identity, TwiceFormat())

"""Unaligned copy (Section 5.2 and Appendix D)."""

import torch

from ldhd.tasks import digits
from ldhd.tasks.digits import Digits
from ldhd.tasks.task import Format, LatentSpace, Needs, Task

SHAPE = "'b123='"


class Strings(LatentSpace):
    """n symbols, each uniform on 0 .. base - 1."""

    def __init__(self, base: int):
        self.base = base

    def sample(self, scale: int, generator: torch.Generator) -> Digits:
        return digits.uniform(scale, self.base, generator)

    def scale(self, latent: Digits) -> int:
        return len(latent)

    def shapes(self, scale: int) -> list[Digits]:
        """One shape; with the first symbol alone 1, every prefix parity is 1."""
        return [(0,) * scale, (1,) * scale, (1,) + (0,) * (scale - 1)]


def identity(latent: Digits) -> Digits:
    return latent


class CopyFormat(Format):
    """`b x_0 ... x_{n-1} = x_0 ... x_{n-1} e`.

    >>> b407=407e
    >>> b5=5e
    """

    def prompt(self, latent: Digits) -> str:
        return f"b{digits.write(latent)}="

    def answer(self, latent: Digits, label: Digits) -> str:
        return f"{digits.write(label)}e"

    def read(self, prompt: str) -> Digits:
        return digits.read(digits.between(prompt, "b", "=", SHAPE), f"what is to be copied in {prompt!r}")

    def needs(self, latent: Digits, label: Digits) -> Needs:
        """Token k needs x_k; `e` comes when there is none left."""
        n = len(latent)
        return [{"x": 1 + k if k < n else None} for k in range(n + 1)]


COPY = Task("copy", Strings(10), identity, CopyFormat())

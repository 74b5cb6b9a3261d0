"""Aligned addition in reverse format, ARF (Example 1): the same latent space and concept as `addition`."""

from collections.abc import Sequence

from ldhd.tasks import digits
from ldhd.tasks.addition import AddendPairs, Addends, AddendsFormat, addition_needs, total
from ldhd.tasks.digits import Digits
from ldhd.tasks.task import Needs, Task


class AlignedFormat(AddendsFormat):
    """Both addends padded with zeros to `width` digits, their sum to `width` + 1 (its last carry).

    Without a width, each instance has the width of its own scale. A run fixes the width to its largest scale.

    >>> b210+543=7530e      12 + 345 = 357 at width 3
    >>> b99+10=001e         99 + 1 = 100 at width 2
    """

    def __init__(self, width: int | None = None):
        self.width = width

    def for_scales(self, scales: Sequence[int]) -> "AlignedFormat":
        return AlignedFormat(max(scales))

    def prompt(self, latent: Addends) -> str:
        width = self._width(latent)
        return super().prompt((digits.pad(latent[0], width), digits.pad(latent[1], width)))

    def answer(self, latent: Addends, label: Digits) -> str:
        return super().answer(latent, digits.pad(label, self._width(latent) + 1))

    def read(self, prompt: str) -> Addends:
        left, right = digits.operands(prompt, "+", self.example)
        if len(left) != len(right) or (self.width is not None and len(left) != self.width):
            width = "the same number of" if self.width is None else str(self.width)
            raise ValueError(f"both addends must have {width} digits, got {left!r} and {right!r}")
        first, second = digits.read(left, "the first addend"), digits.read(right, "the second addend")
        return digits.strip(first), digits.strip(second)

    def needs(self, latent: Addends, label: Digits) -> Needs:
        width = self._width(latent)
        return addition_needs(width, width, width + 1)

    def carries(self, latent: Addends) -> list[int]:
        return digits.carry_lengths(digits.place_sums(*latent))

    def _width(self, latent: Addends) -> int:
        scale = max(map(len, latent))
        if self.width is not None and scale > self.width:
            raise ValueError(f"an instance of scale {scale} does not fit the aligned width {self.width}")
        return self.width or scale


ADDITION_ALIGNED = Task("addition-aligned", AddendPairs(), total, AlignedFormat(), train_scales=(1, 2, 3, 4))

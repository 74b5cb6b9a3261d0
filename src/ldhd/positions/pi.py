"""Position interpolation (PI) for RoPE."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from ldhd.positions.interpolated import Interpolated


class PositionInterpolation(Interpolated):
    """RoPE at the positions p / `factor`, in the fine-tuning phase of training and in tests.

    With a `factor` of the longest test string over the longest training string, no angle of a test is larger than
    those of training.
    Chen, Wong, Chen and Tian, Extending Context Window of Large Language Models via Positional Interpolation, 2023.
    """

    name = "pi"
    title = "RoPE with PI"
    color = "#B8860B"
    by_distance = True

    def changed(self, frequencies: Float[Tensor, " h"]) -> tuple[Float[Tensor, " h"], float]:
        return frequencies / self.factor, 1.0

    def relation(self, tokens: Sequence[str], j: int, i: int) -> float:
        """Return the distance that is turned by: `factor` times a training distance has the term of that distance."""
        return round((j - i) / self.factor, 9)

    def training_relations(self, tokens: Sequence[str], j: int, i: int) -> tuple[float, ...]:
        return self.relation(tokens, j, i), float(j - i)

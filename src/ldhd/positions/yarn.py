"""YaRN: interpolation of RoPE by parts, with sharper attention."""

import math
from collections.abc import Hashable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from ldhd.positions.interpolated import Interpolated

FAST, SLOW = 32.0, 1.0
"""Turns within the training length from which on a pair is not interpolated, and below which it is in full: the
paper's beta and alpha, for models of the Llama family."""


class Yarn(Interpolated):
    """RoPE in whose slow pairs positions are divided by `factor`, in the fine-tuning phase of training and in tests.

    A pair that turns r times in `training_length` tokens keeps its frequency if r > 32, has it divided by `factor` if
    r < 1, and a mixture of both, linear in the index of the pair, in between. Queries and keys are multiplied by
    0.1 ln(`factor`) + 1 each.
    Peng, Quesnelle, Fan and Shippole, YaRN: Efficient Context Window Extension of Large Language Models, 2023.
    """

    name = "yarn"
    title = "YaRN"
    color = "#FF7F00"
    by_distance = True

    def __init__(
        self,
        dimension: int,
        heads: int,
        layer: int = 0,
        *,
        factor: float = 16.0,
        base: float = 10_000.0,
        training_length: int = 20,
    ):
        super().__init__(dimension, heads, layer, factor=factor, base=base)
        if training_length < 1:
            raise ValueError(f"training_length must be at least 1, got {training_length}")
        self.training_length = training_length

    def changed(self, frequencies: Float[Tensor, " h"]) -> tuple[Float[Tensor, " h"], float]:
        low = max(math.floor(self._pair(FAST)), 0)
        high = min(math.ceil(self._pair(SLOW)), self.head_dimension - 1)
        pair = torch.arange(len(frequencies), device=frequencies.device)
        interpolated = ((pair - low) / max(high - low, 1e-3)).clamp(0, 1)
        mixed = frequencies * (1 - interpolated) + frequencies / self.factor * interpolated
        return mixed, 0.1 * math.log(self.factor) + 1

    def _pair(self, turns: float) -> float:
        """Return the index of the pair that turns so often in `training_length` tokens."""
        ratio = self.training_length / (2 * math.pi * turns)
        return self.head_dimension * math.log(ratio) / (2 * math.log(self.base))

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        return j - i

    def training_relations(self, tokens: Sequence[str], j: int, i: int) -> tuple[Hashable, ...]:
        """Return the classes of the fine-tuning phase and of the exploratory phase, whose terms differ."""
        return j - i, ("before", j - i)

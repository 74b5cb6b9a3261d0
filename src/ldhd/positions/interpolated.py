"""What position interpolation and YaRN share: RoPE that is trained as it is and tested with slower angles."""

from abc import abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor

from ldhd.positions.context import Context, Queries
from ldhd.positions.position import Position
from ldhd.positions.rope import turn


class Interpolated(Position):
    """RoPE whose frequencies are changed after the exploratory phase, so that long strings have angles of short ones.

    The authors train a model with RoPE, then train it a little more with the changed frequencies. Here the former is
    the exploratory phase of training and the latter the fine-tuning phase (`train.settle`); without a fine-tuning phase
    the frequencies are changed in the test alone, which their papers call zero-shot.
    """

    relation_options = ("factor",)
    some_queries = True

    def __init__(self, dimension: int, heads: int, layer: int = 0, *, factor: float = 16.0, base: float = 10_000.0):
        super().__init__(dimension, heads, layer)
        if self.head_dimension % 2:
            raise ValueError(f"{self.name} turns pairs: the head dimension must be even, got {self.head_dimension}")
        if factor < 1:
            raise ValueError(f"factor must be at least 1, got {factor}")
        if base <= 1:
            raise ValueError(f"base must be above 1, got {base}")
        self.factor, self.base = factor, base

    @abstractmethod
    def changed(self, frequencies: Float[Tensor, " h"]) -> tuple[Float[Tensor, " h"], float]:
        """Return the frequencies after the change, and what queries and keys are multiplied by."""

    def rotate(self, q: Queries, k: Queries, context: Context) -> tuple[Queries, Queries]:
        exponents = torch.arange(0, self.head_dimension, 2, dtype=torch.float32, device=q.device) / self.head_dimension
        frequencies, scale = self.base**-exponents, 1.0
        if not context.exploring:
            frequencies, scale = self.changed(frequencies)
        angles = context.positions[:, None, :, None] * frequencies
        cos, sin = ((scale * part).to(q.dtype) for part in (angles.cos(), angles.sin()))
        return turn(q, cos, sin), turn(k, cos, sin)

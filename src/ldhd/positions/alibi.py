"""Attention with linear biases (ALiBi)."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ldhd.positions.context import Queries
from ldhd.positions.relative import Relative


class Alibi(Relative):
    """softmax(q.k / sqrt(d) - slope_h (j - i)), with fixed slopes, one a head.

    Press, Smith and Lewis, Train Short, Test Long, 2022.
    """

    name = "alibi"
    title = "ALiBi"
    color = "#56B4E9"
    by_distance = True
    falling = True
    slopes: Tensor

    def __init__(self, dimension: int, heads: int, layer: int = 0):
        super().__init__(dimension, heads, layer)
        self.register_buffer("slopes", torch.tensor(alibi_slopes(heads)), persistent=False)

    def bias_at(self, q: Queries, queries: Int[Tensor, "#B q"], keys: Int[Tensor, "#B k"]) -> Float[Tensor, "#B H q k"]:
        distance = (queries[:, :, None] - keys[:, None, :])[:, None]
        return (-self.slopes[:, None, None] * distance).to(q.dtype)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        return j - i


def alibi_slopes(heads: int) -> list[float]:
    """2^(-8/H), 2^(-16/H), ...; when H is no power of two, those of the power below and every other of the next."""
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * (head + 1) / power) for head in range(power)]
    return slopes + [2 ** (-4 * (2 * head + 1) / power) for head in range(heads - power)]

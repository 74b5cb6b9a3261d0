"""Attention with linear biases (ALiBi)."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ldhd.positions.position import Cache, Position


class Alibi(Position):
    """softmax(q.k / sqrt(d) - slope_h (j - i)), with fixed slopes, one a head.

    Press, Smith and Lewis, Train Short, Test Long, 2022.
    """

    additive = True
    falling = True
    slopes: Tensor

    def __init__(self, dimension: int, heads: int, layer: int = 0):
        super().__init__(dimension, heads, layer)
        self.register_buffer("slopes", torch.tensor(alibi_slopes(heads)), persistent=False)

    def bias(
        self,
        q: Float[Tensor, "B H q d"],
        k: Float[Tensor, "B H k d"],
        hidden: Float[Tensor, "B q D"],
        visible: Bool[Tensor, "#B 1 q k"],
        cache: Cache | None,
    ) -> Float[Tensor, "1 H q k"]:
        queries, keys = q.shape[-2], k.shape[-2]
        index = torch.arange(keys, device=q.device)
        distance = index[keys - queries :, None] - index
        # the attention divides by sqrt(d) afterwards; ALiBi's term is not divided
        return (-self.slopes[:, None, None] * distance * math.sqrt(self.head_dimension))[None].to(q.dtype)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        return j - i


def alibi_slopes(heads: int) -> list[float]:
    """2^(-8/H), 2^(-16/H), ...; when H is no power of two, those of the power below and every other of the next."""
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * (head + 1) / power) for head in range(power)]
    return slopes + [2 ** (-4 * (2 * head + 1) / power) for head in range(heads - power)]

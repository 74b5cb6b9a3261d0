"""Relative position embedding (RPE), key-only."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from ldhd.positions.aligned import restore
from ldhd.positions.functional import aligned_table
from ldhd.positions.position import Cache, Position


class RPE(Position):
    """q_j . (k_i + R_{j-i}), a row of R for each distance up to `max_distance`, the last row beyond.

    Shaw, Uszkoreit and Vaswani, Self-Attention with Relative Position Representations, 2018, without their term
    for values; R is learned for each head. The paper's Theorem 4 and Corollary 2 are about a linear attention
    with it.
    """

    additive = True

    def __init__(
        self, dimension: int, heads: int, layer: int = 0, *, max_distance: int = 1024, table_std: float = 0.02
    ):
        super().__init__(dimension, heads, layer)
        if max_distance < 0:
            raise ValueError(f"max_distance must be at least 0, got {max_distance}")
        self.max_distance = max_distance
        shape = heads, max_distance + 1, self.head_dimension
        self.table = nn.Parameter(table_std * torch.randn(shape))

    def bias(
        self,
        q: Float[Tensor, "B H q d"],
        k: Float[Tensor, "B H k d"],
        hidden: Float[Tensor, "B q D"],
        visible: Bool[Tensor, "#B 1 q k"],
        cache: Cache | None,
    ) -> Float[Tensor, "B H q k"]:
        return restore(q @ aligned_table(self.table, k.shape[-2]).transpose(-1, -2))

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        return min(j - i, self.max_distance)

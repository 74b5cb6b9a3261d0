"""Rotary position embedding (RoPE)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ldhd.positions.context import Context, Queries
from ldhd.positions.position import Position


class Rotary(Position):
    """Coordinate pairs (m, m + d/2) of q and k turned by the angle position * base^(-2m/d).

    Su et al., RoFormer, 2021.
    """

    name = "rope"
    title = "RoPE"
    color = "#E69F00"
    by_distance = True
    relation_options = ()
    some_queries = True

    def __init__(self, dimension: int, heads: int, layer: int = 0, *, base: float = 10_000.0):
        super().__init__(dimension, heads, layer)
        if self.head_dimension % 2:
            raise ValueError(f"rope turns pairs: the head dimension must be even, got {self.head_dimension}")
        if base <= 0:
            raise ValueError(f"base must be positive, got {base}")
        self.base = base

    def rotate(self, q: Queries, k: Queries, context: Context) -> tuple[Queries, Queries]:
        # angles in float32 whatever the model is in: in bfloat16 neighbours from 256 on would be turned alike
        exponents = torch.arange(0, self.head_dimension, 2, dtype=torch.float32, device=q.device) / self.head_dimension
        angles = context.positions[:, None, :, None] * self.base**-exponents
        cos, sin = angles.cos().to(q.dtype), angles.sin().to(q.dtype)
        return turn(q, cos, sin), turn(k, cos, sin)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        return j - i


def turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Return x with its pairs of coordinates (m, m + d/2) turned."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)

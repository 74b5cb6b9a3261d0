"""Extrapolatable position embedding (xPos)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ldhd.positions.context import Context, Queries
from ldhd.positions.position import Position
from ldhd.positions.rope import turn

GAMMA = 0.4
"""The paper's gamma: the fastest pair decays to gamma / (1 + gamma) in `scale_base` tokens."""


class XPos(Position):
    """RoPE whose pair m of coordinates also decays: its product is multiplied by zeta_m^((j - i) / `scale_base`).

    zeta_m = (2m/d + 0.4) / 1.4, so that pairs that turn fast decay fast; queries are multiplied by zeta^(j / base) and
    keys by zeta^(-i / base). The authors' base is 512. Their attention in blocks for long strings, which is no part of
    the embedding, is left out.
    Sun et al., A Length-Extrapolatable Transformer, 2022.
    """

    name = "xpos"
    title = "xPos"
    color = "#1B9E77"
    by_distance = True
    relation_options = ()
    some_queries = True

    def __init__(
        self, dimension: int, heads: int, layer: int = 0, *, base: float = 10_000.0, scale_base: float = 512.0
    ):
        super().__init__(dimension, heads, layer)
        if self.head_dimension % 2:
            raise ValueError(f"xpos turns pairs: the head dimension must be even, got {self.head_dimension}")
        if base <= 0 or scale_base <= 0:
            raise ValueError(f"base and scale_base must be positive, got {base} and {scale_base}")
        self.base, self.scale_base = base, scale_base

    def rotate(self, q: Queries, k: Queries, context: Context) -> tuple[Queries, Queries]:
        exponents = torch.arange(0, self.head_dimension, 2, dtype=torch.float32, device=q.device) / self.head_dimension
        positions = context.positions[:, None, :, None]
        angles = positions * self.base**-exponents
        decay = ((exponents + GAMMA) / (1 + GAMMA)) ** (positions / self.scale_base)
        cos, sin = angles.cos(), angles.sin()
        return self._scaled(q, cos, sin, decay), self._scaled(k, cos, sin, 1 / decay)

    @staticmethod
    def _scaled(x: Tensor, cos: Tensor, sin: Tensor, scale: Tensor) -> Tensor:
        return turn(x, (cos * scale).to(x.dtype), (sin * scale).to(x.dtype))

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        return j - i

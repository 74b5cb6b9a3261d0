"""Sandwich: the inner products of sinusoidal embeddings as a fixed term of the logits."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ldhd.positions.context import Queries
from ldhd.positions.relative import Relative

BASE = 10_000.0

UNITS = 10_000
"""How finely `relation` tells scores apart, as a share of one."""


class Sandwich(Relative):
    """softmax(q.k / sqrt(d) + (H / 8 h) sum_{m < D/2} cos((j - i) / 10000^(2m/D))) for head h = 1 .. H.

    The sum is the inner product of two sinusoidal embeddings of dimension D (`width`, 128 in the paper); 8 h / H is
    what the paper calls the compression ratio. Nothing is learned. The sum falls about as the logarithm of the distance
    does, but not at every step.
    Chi, Fan, Rudnicky and Ramadge, Dissecting Transformer Length Extrapolation via the Lens of Receptive Field
    Analysis, 2023.
    """

    name = "sandwich"
    title = "Sandwich"
    color = "#B15928"
    relation_options = ("width",)
    by_distance = True
    falling = True

    def __init__(self, dimension: int, heads: int, layer: int = 0, *, width: int = 128):
        super().__init__(dimension, heads, layer)
        if width < 2 or width % 2:
            raise ValueError(f"width must be even and at least 2, got {width}")
        self.width = width

    def bias_at(self, q: Queries, queries: Int[Tensor, "#B q"], keys: Int[Tensor, "#B k"]) -> Float[Tensor, "#B H q k"]:
        distance = (queries[:, :, None] - keys[:, None, :]).clamp(min=0)
        exponents = torch.arange(0, self.width, 2, device=q.device, dtype=torch.float32) / self.width
        score = (distance[..., None] * BASE**-exponents).cos().sum(-1)
        ratio = torch.arange(1, self.heads + 1, device=q.device) * (8 / self.heads)
        return (score[:, None] / ratio[:, None, None]).to(q.dtype)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        """Return how far the sum is below that of distance 0, in units of 1 / `UNITS`: the scores fall as it grows."""
        terms = (1 - math.cos((j - i) / BASE ** (2 * m / self.width)) for m in range(self.width // 2))
        return round(UNITS * sum(terms))

"""RPE-Absolute: the distance of a key to its anchor (Appendix E.2)."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from ldhd.positions.anchor import Anchor, Projections, natural_anchor
from ldhd.positions.functional import by_distance, rpe_absolute_queries
from ldhd.positions.position import Cache, Position
from ldhd.positions.rpe_square import all_rows


class RPEAbsolute(Position):
    """q_j . (k_i + sum over k <= i of S[i, k] R_{i-k}), S the anchors of `Anchor`.

    The term depends on the key's position only; the query enters through q_j. R has a row for each distance up
    to `max_distance`, the last row beyond.
    """

    additive = True

    def __init__(
        self,
        dimension: int,
        heads: int,
        layer: int = 0,
        *,
        max_distance: int = 2,
        projections: Projections = "key",
        anchor_scale: float = 4.0,
        hard: bool = False,
        table_std: float = 0.02,
    ):
        super().__init__(dimension, heads, layer)
        if max_distance < 0:
            raise ValueError(f"max_distance must be at least 0, got {max_distance}")
        self.max_distance = max_distance
        self.anchor = Anchor(dimension, heads, projections, anchor_scale, hard)
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
        distances = all_rows(by_distance(self.anchor(q, k, hidden, visible, cache)), cache)
        return rpe_absolute_queries(q, k.shape[-2], self.table) @ distances.transpose(-1, -2)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        return min(i - natural_anchor(tokens, i), self.max_distance)

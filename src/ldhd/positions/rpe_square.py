"""RPE-Square: the relative distance of relative distances (Section 5.2)."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from ldhd.positions.anchor import Anchor, Projections, natural_anchor
from ldhd.positions.functional import by_distance, rpe_square_queries
from ldhd.positions.position import Cache, Position


class RPESquare(Position):
    """q_j . (k_i + sum over l <= j, k <= i of S[j, l] S[i, k] R_{(j-l)-(i-k)}), S the anchors of `Anchor`.

    The paper prints the sums as k <= j and l <= i; its normalisers and its prose need l <= j and k <= i. R has a
    row for each difference from -`max_distance` to `max_distance`; larger ones take the end rows, so that every
    row that a long instance uses was trained on short ones.
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
        shape = heads, 2 * max_distance + 1, self.head_dimension
        self.table = nn.Parameter(table_std * torch.randn(shape))

    def bias(
        self,
        q: Float[Tensor, "B H q d"],
        k: Float[Tensor, "B H k d"],
        hidden: Float[Tensor, "B q D"],
        visible: Bool[Tensor, "#B 1 q k"],
        cache: Cache | None,
    ) -> Float[Tensor, "B H q k"]:
        distances = by_distance(self.anchor(q, k, hidden, visible, cache))
        return rpe_square_queries(q, distances, self.table) @ all_rows(distances, cache).transpose(-1, -2)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        difference = (j - natural_anchor(tokens, j)) - (i - natural_anchor(tokens, i))
        return max(-self.max_distance, min(self.max_distance, difference))


def all_rows(distances: Float[Tensor, "B H q k"], cache: Cache | None) -> Float[Tensor, "B H k k"]:
    """The rows of the new positions under those kept from earlier ones, which `cache` is made to hold too."""
    if cache is not None:
        if "distances" in cache:
            earlier = F.pad(cache["distances"], (0, distances.shape[-1] - cache["distances"].shape[-1]))
            distances = torch.cat([earlier, distances], dim=-2)
        cache["distances"] = distances
    return distances

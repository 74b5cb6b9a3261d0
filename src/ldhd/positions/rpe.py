"""Relative position embedding (RPE), key-only."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ldhd.positions.context import Context, Keys, Queries
from ldhd.positions.relative import Relative
from ldhd.positions.tables import table_scores


class RPE(Relative):
    """q_j . (k_i + R_{j-i}), a row of R for each distance up to `max_distance`, the last row beyond.

    Shaw, Uszkoreit and Vaswani, Self-Attention with Relative Position Representations, 2018, without their term
    for values; R is learned for each head. The paper's Theorem 4 and Corollary 2 are about a linear attention
    with it.
    """

    name = "rpe"
    title = "RPE"
    color = "#D55E00"
    by_distance = True
    relation_options = ("max_distance",)
    distance_limits = ("max_distance",)

    def __init__(
        self, dimension: int, heads: int, layer: int = 0, *, max_distance: int = 1024, table_std: float = 0.02
    ):
        super().__init__(dimension, heads, layer)
        if max_distance < 0:
            raise ValueError(f"max_distance must be at least 0, got {max_distance}")
        self.max_distance = max_distance
        shape = heads, max_distance + 1, self.head_dimension
        self.table = nn.Parameter(table_std * torch.randn(shape))

    def bias(self, q: Queries, k: Keys, context: Context) -> Float[Tensor, "B H q k"]:
        return relative_scores(q, k.shape[-2], self.table)

    def bias_at(self, q: Queries, queries: Int[Tensor, "#B q"], keys: Int[Tensor, "#B k"]) -> Float[Tensor, "B H q k"]:
        distance = (queries[:, :, None] - keys[:, None, :]).clamp(0, self.max_distance)
        # whichever is smaller: the rows of all pairs, or all scores
        if keys.shape[1] * self.head_dimension < self.max_distance:
            return (self.table[:, distance].movedim(0, 1) @ q[..., None])[..., 0]
        scores = table_scores(q, self.table)
        return scores.gather(-1, distance[:, None].expand(*scores.shape[:-1], -1))

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        return min(j - i, self.max_distance)


def relative_scores(
    q: Float[Tensor, "B H q d"], keys: int, table: Float[Tensor, "m d"] | Float[Tensor, "H m d"]
) -> Float[Tensor, "B H q k"]:
    """Return q_j . R_{j-i} for i <= j, without meaning where i > j; `table` holds R_0 .. R_w, the last row beyond.

    The product with the rows k, k - 1, .. 0 has what belongs to one distance in one column. One column more than there
    are keys makes each row start one entry later when the same numbers are read as rows of k.
    """
    queries = q.shape[-2]
    distance = torch.arange(keys, -1, -1, device=table.device).clamp_(max=table.shape[-2] - 1)
    scores = table_scores(q, table.index_select(-2, distance))
    return scores.flatten(-2)[..., queries:].unflatten(-1, (queries, keys))

"""Contextual position encoding (CoPE)."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ldhd.positions.context import Context, Keys, Queries
from ldhd.positions.position import Position, Reading


class CoPE(Position):
    """q_j . (k_i + e[p_ji]) with p_ji = sum over i <= l <= j of sigmoid(q_j . k_l): which tokens count is learned.

    e has the rows 0 .. `max_position`, which larger counts share, and is interpolated between whole numbers. It starts
    at zero and is shared by the heads, as in the listing of the paper. Queries are divided by sqrt(d) throughout.
    Golovneva, Wang, Weston and Sukhbaatar, Contextual Position Encoding: Learning to Count What's Important, 2024.
    """

    name = "cope"
    title = "CoPE"
    color = "#E7298A"
    relation_options = ("max_position",)
    distance_limits = ("max_position",)
    enumerable = False  # gates can count any weighted choice of tokens
    additive = True
    some_queries = True

    def __init__(self, dimension: int, heads: int, layer: int = 0, *, max_position: int = 63):
        super().__init__(dimension, heads, layer)
        if max_position < 1:
            raise ValueError(f"max_position must be at least 1, got {max_position}")
        self.max_position = max_position
        self.table = nn.Parameter(torch.zeros(max_position + 1, self.head_dimension))

    def bias(self, q: Queries, k: Keys, context: Context) -> Float[Tensor, "B H q k"]:
        visible = context.visible[..., -q.shape[-2] :, :]
        gates = (q @ k.mT).float().sigmoid() * visible
        count = gates.flip(-1).cumsum(-1).flip(-1).clamp(max=self.max_position)
        below = count.floor().long()
        scores = q @ self.table.mT
        share = (count - below).to(q.dtype)
        above = (below + 1).clamp(max=self.max_position)
        return scores.gather(-1, below) * (1 - share) + scores.gather(-1, above) * share

    def relation(self, tokens: Sequence[str], j: int, i: int) -> tuple[int, int]:
        """Return the delimiters and all tokens that are counted from the key up to the query."""
        delimiters = sum(not token.isdigit() for token in tokens[i : j + 1])
        return min(delimiters, self.max_position), min(j + 1 - i, self.max_position)

    def readings(self) -> tuple[Reading, ...]:
        """A head counts some of the delimiters, or every token."""
        return Reading(", delimiters counted", 0, anchored=True), Reading(", every token counted", 1)

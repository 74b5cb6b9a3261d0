"""Forgetting attention (FoX): ALiBi whose slopes depend on the data."""

from collections.abc import Hashable, Sequence

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from ldhd.positions.cache import append
from ldhd.positions.context import Context, Keys, Queries
from ldhd.positions.position import Position


class Forgetting(Position):
    """softmax(q.k / sqrt(d) + sum over i < l <= j of log f_l), f_l = sigmoid(w_h . x_l + b_h), a forget gate per head.

    x are the hidden states that the attention reads. Padding forgets nothing. With f constant it is ALiBi with the
    slope -log f; with f = 1 it adds nothing.
    Lin et al., Forgetting Transformer: Softmax Attention with a Forget Gate, 2025. Their output gates and norms, which
    are no part of the position, are left out.
    """

    name = "fox"
    title = "Forgetting gate"
    color = "#A6761D"
    relation_options = ()
    enumerable = False  # a gate can be any function of the token, of which the finest is listed
    additive = True
    some_queries = True

    def __init__(self, dimension: int, heads: int, layer: int = 0):
        super().__init__(dimension, heads, layer)
        self.gate = nn.Linear(dimension, heads)

    def bias(self, q: Queries, k: Keys, context: Context) -> Float[Tensor, "B H q k"]:
        assert context.hidden is not None
        kept = F.logsigmoid(self.gate(context.hidden).float()) * context.valid[..., None]
        total, cache = kept.cumsum(1).mT, context.cache
        if cache is not None and "total" in cache:
            total = total + cache["total"][..., context.keys - context.new - 1, None]
        every = append(cache, "total", total, -1, context.keys)
        return (total[..., -q.shape[-2] :, None] - every[..., None, :]).clamp(max=0).to(q.dtype)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> Hashable:
        return self.relations(tokens, [j])[0][i]

    def relations(self, tokens: Sequence[str], queries: Sequence[int]) -> list[list[Hashable]]:
        """Return how often each type of token stands after the key, up to the query."""
        types = ["#" if token.isdigit() else token for token in tokens]
        kinds = sorted(set(types))
        found: list[list[Hashable]] = []
        for j in queries:
            counts = dict.fromkeys(kinds, 0)
            row: list[Hashable] = []
            for i in range(j, -1, -1):
                row.append(tuple((kind, count) for kind, count in counts.items() if count))
                counts[types[i]] += 1
            found.append(row[::-1])
        return found

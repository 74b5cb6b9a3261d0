"""T P^T for aligned P, only where i <= j: about a sixth of the multiplications of the full product.

P[i, c] is zero for c < k - 1 - i and [j, i] is wanted for i <= j only, so the keys of a block meet the queries from
that block on and the last columns alone. The q queries are the last of the k positions.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

QueryRows = Float[Tensor, "N q k"]
Rows = Float[Tensor, "N k k"]

ONE_BLOCK = 48
"""Up to this length the full product is faster than its parts."""


def _blocks(queries: int, keys: int) -> Iterator[tuple[int, int, int]]:
    """Yield the keys a .. b of each block and the first query that meets them.

    Smaller blocks waste less, larger ones multiply faster.
    """
    size = 32 if keys <= 512 else 96
    for start in range(0, keys, size):
        yield start, min(start + size, keys), max(0, start - (keys - queries))


def causal_product(t: QueryRows, p: Rows) -> QueryRows:
    """[j, i] = sum over c of t[j, c] p[i, c] for i <= j; elsewhere anything finite."""
    queries, keys = t.shape[-2:]
    if keys <= ONE_BLOCK or queries == 1:
        return torch.bmm(t, p.transpose(-1, -2))
    result = t.new_zeros(t.shape)
    for a, b, first in _blocks(queries, keys):
        result[:, first:, a:b] = torch.bmm(t[:, first:, keys - b :], p[:, a:b, keys - b :].transpose(-1, -2))
    return result


def causal_product_gradients(gradient: QueryRows, t: QueryRows, p: Rows) -> tuple[QueryRows, Rows]:
    """Those of t and p; `gradient` must be zero where i > j."""
    queries, keys = t.shape[-2:]
    if keys <= ONE_BLOCK:
        return torch.bmm(gradient, p), torch.bmm(gradient.transpose(-1, -2), t)
    to_t, to_p = torch.zeros_like(t), torch.zeros_like(p)
    for a, b, first in _blocks(queries, keys):
        part = gradient[:, first:, a:b]
        to_t[:, first:, keys - b :] += torch.bmm(part, p[:, a:b, keys - b :])
        to_p[:, a:b, keys - b :] = torch.bmm(part.transpose(-1, -2), t[:, first:, keys - b :])
    return to_t, to_p

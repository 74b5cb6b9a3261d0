"""T P^T for aligned P, only where i <= j: about a sixth of the multiplications of the full product.

P[i, c] is zero for c < n - 1 - i and [j, i] is wanted for i <= j only, so the keys of a block meet the queries from
that block on and the last columns alone.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

Rows = Float[Tensor, "N n n"]

ONE_BLOCK = 48
"""Up to this length the full product is faster than its parts."""


def _blocks(n: int) -> Iterator[tuple[int, int]]:
    """Smaller blocks waste less, larger ones multiply faster."""
    size = 32 if n <= 512 else 96
    for start in range(0, n, size):
        yield start, min(start + size, n)


def causal_product(t: Rows, p: Rows) -> Rows:
    """[j, i] = sum over c of t[j, c] p[i, c] for i <= j; elsewhere anything finite."""
    n = t.shape[-1]
    if n <= ONE_BLOCK:
        return torch.bmm(t, p.transpose(-1, -2))
    result = t.new_zeros(t.shape)
    for a, b in _blocks(n):
        result[:, a:, a:b] = torch.bmm(t[:, a:, n - b :], p[:, a:b, n - b :].transpose(-1, -2))
    return result


def causal_product_gradients(gradient: Rows, t: Rows, p: Rows) -> tuple[Rows, Rows]:
    """Those of t and p; `gradient` must be zero where i > j."""
    n = t.shape[-1]
    if n <= ONE_BLOCK:
        return torch.bmm(gradient, p), torch.bmm(gradient.transpose(-1, -2), t)
    to_t, to_p = torch.zeros_like(t), torch.zeros_like(p)
    for a, b in _blocks(n):
        part = gradient[:, a:, a:b]
        to_t[:, a:, n - b :] += torch.bmm(part, p[:, a:b, n - b :])
        to_p[:, a:b, n - b :] = torch.bmm(part.transpose(-1, -2), t[:, a:, n - b :])
    return to_t, to_p

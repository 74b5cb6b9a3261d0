"""The printed formulas, loop by loop: slow, plain, and the oracle of the fast versions."""

import torch
from torch import Tensor


def _row(table: Tensor, head: int, index: int) -> Tensor:
    """Row `index` of a shared or per-head table."""
    return table[index] if table.dim() == 2 else table[head, index]


def rpe_square_by_loops(q: Tensor, anchor: Tensor, table: Tensor) -> Tensor:
    """q_j . sum over l <= j, k <= i of anchor[j, l] anchor[i, k] R_{(j-l)-(i-k)}, zero where i > j."""
    batch, heads, n, _ = q.shape
    w = table.shape[-2] // 2
    result = torch.zeros(batch, heads, n, n, dtype=q.dtype)
    for b in range(batch):
        for h in range(heads):
            for j in range(n):
                for i in range(j + 1):
                    term = torch.zeros_like(q[0, 0, 0])
                    for l in range(j + 1):  # noqa: E741
                        for k in range(i + 1):
                            distance = max(-w, min(w, (j - l) - (i - k)))
                            term = term + anchor[b, h, j, l] * anchor[b, h, i, k] * _row(table, h, distance + w)
                    result[b, h, j, i] = q[b, h, j] @ term
    return result


def rpe_square_by_distances(q: Tensor, anchor: Tensor, table: Tensor) -> Tensor:
    """The same with P[j, d] = anchor[j, j - d] and one product for each difference of distances; for longer strings."""
    n, w = q.shape[-2], table.shape[-2] // 2
    place = torch.arange(n)
    apart = place[:, None] - place
    by_distance = anchor.gather(-1, apart.clamp(min=0).expand_as(anchor)).tril()
    result = torch.zeros_like(anchor)
    for m in range(1 - n, n):
        chance = by_distance @ ((apart == m).to(anchor) @ by_distance.transpose(-1, -2))
        row = table[..., max(-w, min(w, m)) + w, :]
        result = result + (q * row[..., None, :]).sum(-1)[..., None] * chance
    return result.tril()


def rpe_absolute_by_loops(q: Tensor, anchor: Tensor, table: Tensor) -> Tensor:
    """q_j . sum over k <= i of anchor[i, k] R_{i-k}, zero where i > j."""
    batch, heads, n, _ = q.shape
    w = table.shape[-2] - 1
    result = torch.zeros(batch, heads, n, n, dtype=q.dtype)
    for b in range(batch):
        for h in range(heads):
            for j in range(n):
                for i in range(j + 1):
                    term = torch.zeros_like(q[0, 0, 0])
                    for k in range(i + 1):
                        term = term + anchor[b, h, i, k] * _row(table, h, min(i - k, w))
                    result[b, h, j, i] = q[b, h, j] @ term
    return result


def random_anchor(batch: int, heads: int, n: int, dtype: torch.dtype) -> Tensor:
    """Causal weights whose rows sum to one."""
    scores = 3 * torch.randn(batch, heads, n, n, dtype=dtype)
    causal = torch.ones(n, n, dtype=torch.bool).tril()
    return scores.masked_fill(~causal, -torch.inf).softmax(-1)

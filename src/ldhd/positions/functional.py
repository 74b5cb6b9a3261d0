"""The paper's position terms as functions of queries, anchor weights and a table.

Letters: B batch, H heads, q queries, k keys (the q queries are the last of the k keys), d head dimension,
w the largest distance the table tells apart. `anchor[j, l]` is the weight with which position j measures its
distance from position l <= j; each row sums to one. Anchors may be the same for all heads (H = 1).
"""

import torch
from jaxtyping import Float
from torch import Tensor

from ldhd.positions.aligned import align, restore
from ldhd.positions.square import LARGEST_SHIFT, square

Queries = Float[Tensor, "B H q d"]
Weights = Float[Tensor, "B H q k"]
Anchors = Float[Tensor, "B #H k k"]
Table = Float[Tensor, "m d"] | Float[Tensor, "H m d"]


def rpe_square_bias(q: Queries, anchor: Anchors, table: Table) -> Weights:
    """[j, i] = q_j . sum over l <= j and k <= i of anchor[j, l] anchor[i, k] R_{(j-l)-(i-k)}, zero where i > j.

    `table` holds R_{-w} .. R_w; distances beyond w take the end rows, and w = n - 1 is the unclipped formula.
    """
    rows = align(full_precision(anchor).tril())
    return square(square_scores(q, table, anchor.shape[-1]), rows).tril().to(q.dtype)


def rpe_absolute_bias(q: Queries, anchor: Anchors, table: Table) -> Weights:
    """[j, i] = q_j . sum over k <= i of anchor[i, k] R_{i-k}, zero where i > j; `table` holds R_0 .. R_w, beyond w
    the last row."""
    return (q @ absolute_keys(align(anchor.tril()), table).transpose(-1, -2)).tril()


def rpe_bias(q: Queries, keys: int, table: Table) -> Weights:
    """[j, i] = q_j . R_{j-i}, zero where i > j; `table` holds R_0 .. R_w, beyond w the last row."""
    return restore(q @ aligned_table(table, keys).transpose(-1, -2)).tril(keys - q.shape[-2])


def square_scores(q: Queries, table: Table, keys: int) -> Float[Tensor, "B H q s"]:
    """q_j . R_m for the distances m that k positions can have, or more; at least m = -1, 0, 1."""
    rows = table.shape[-2]
    if rows % 2 == 0:
        raise ValueError(f"the table must hold R_-w .. R_w, an odd number of rows, got {rows}")
    w = rows // 2
    kept = w if w <= LARGEST_SHIFT else min(w, max(keys - 1, 1))
    scores = full_precision(q @ table[..., w - kept : w + kept + 1, :].transpose(-1, -2))
    return scores.expand(*scores.shape[:-1], 3) if kept == 0 else scores


def absolute_keys(rows: Float[Tensor, "B #H q k"], table: Table) -> Float[Tensor, "B H q d"]:
    """sum over distances e of P[i, e] R_e for aligned P: what RPE-Absolute adds to the key at i."""
    return rows.to(table.dtype) @ aligned_table(table, rows.shape[-1])


def aligned_table(table: Table, keys: int) -> Float[Tensor, "k d"] | Float[Tensor, "H k d"]:
    """R_{k-1} .. R_0, the order of aligned columns."""
    distance = torch.arange(keys - 1, -1, -1, device=table.device)
    return table.index_select(-2, distance.clamp_(max=table.shape[-2] - 1))


def full_precision(x: Tensor) -> Tensor:
    """float32 for half precision, which is too coarse to sum many weights in; else unchanged."""
    return x.to(torch.promote_types(x.dtype, torch.float32))

"""Weights over positions as weights over distances, at the cost of one copy.

Letters as in `functional`. In the aligned form of a causal matrix each row is moved to the right until its diagonal
stands in the last column, so that column c holds what belongs to distance k - 1 - c, in every row alike.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import Function

from ldhd.positions.kernels.precision import widest

Weights = Float[Tensor, "B H q k"]
Table = Float[Tensor, "m d"] | Float[Tensor, "H m d"]


def align(weights: Weights) -> Weights:
    """[j, k - 1 - e] = weights[j, j - e] for distances e <= j, zero beyond; `weights` must be zero where i > j."""
    return _Align.apply(weights)


def restore(rows: Weights) -> Weights:
    """[j, i] = rows[j, k - 1 - (j - i)] for i <= j, a view; where i > j its entries have no meaning nor gradient."""
    return _Restore.apply(rows)


def key_rows(scores: Float[Tensor, "B A k"], queries: int) -> Float[Tensor, "B A q k"]:
    """The aligned softmax over l <= j of `scores[l]`, in the last `queries` rows; a score of -inf has weight 0."""
    return _KeyRows.apply(scores, queries)


def absolute_keys(rows: Float[Tensor, "B #H q k"], table: Table) -> Float[Tensor, "B H q d"]:
    """Return the sums over distances e of rows[i, e] R_e, what RPE-Absolute adds to the key at i.

    `rows` are aligned; `table` holds R_0 .. R_w, and distances beyond w take the last row.
    """
    distance = torch.arange(rows.shape[-1] - 1, -1, -1, device=table.device)
    return rows.to(table.dtype) @ table.index_select(-2, distance.clamp_(max=table.shape[-2] - 1))


def _align(weights: Tensor) -> Tensor:
    # moving row r by q - 1 - r takes one entry less from each row than it has: its last, which is zero but in row q - 1
    queries, keys = weights.shape[-2:]
    flat = weights.new_empty(*weights.shape[:-2], queries * keys)
    flat[..., : queries - 1] = 0
    flat[..., queries - 1 : -1].unflatten(-1, (queries, keys - 1)).copy_(weights[..., :-1])
    flat[..., -1] = weights[..., -1, -1]
    return flat.unflatten(-1, (queries, keys))


def _restore(rows: Tensor) -> Tensor:
    # the next row starts one entry before the end of the row of distances
    queries, keys = rows.shape[-2:]
    return rows.flatten(-2)[..., queries - 1 :].unfold(-1, keys, max(keys - 1, 1))


def _log2_cumulative(scores: Tensor) -> Tensor:
    """Return the base-2 logarithms of the sums of 2^scores up to each place; 0 where there is nothing to sum."""
    logs = (widest(scores) * math.log(2)).logcumsumexp(-1).div_(math.log(2))
    return logs.masked_fill_(logs == -torch.inf, 0.0).to(scores.dtype)


class _Align(Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor) -> Tensor:
        return _align(weights)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        keys, queries = gradient.shape[-1], gradient.shape[-2]
        return _restore(gradient).tril(keys - queries)


class _Restore(Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        return _restore(rows)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return _align(gradient)


class _KeyRows(Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, queries: int) -> Tensor:
        keys = scores.shape[-1]
        # powers of two are several times faster than powers of e
        base2 = scores * math.log2(math.e)
        padded = F.pad(base2, (queries - 1, 0), value=-torch.inf)
        # `unfold`, but of any length in a graph that is exported
        windows = padded.as_strided((*scores.shape[:-1], queries, keys), (*padded.stride(), padded.stride(-1)))
        rows = torch.sub(windows, _log2_cumulative(base2)[..., keys - queries :, None]).exp2_()
        ctx.save_for_backward(rows)
        return rows

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (rows,) = ctx.saved_tensors
        # as a softmax's, which torch computes slowly where rows are short
        inner = gradient * rows
        inner.addcmul_(rows, inner.sum(-1, keepdim=True), value=-1)
        scores = _restore(inner).sum(-2)
        # in the last column all rows but the last read the first entry of the next row
        scores[..., -1] = inner[..., -1, -1]
        return scores, None

"""RPE-Square's term from aligned anchors, forward and backward, with no tensor larger than n x n a head.

For aligned P (`aligned`) and scores g_j(m) = q_j . R_m the term is T P^T with the query rows

    T[j, c] = sum over c' of P[j, c'] g_j(c - c'),

a convolution of each row with a kernel of its own: by shifts (`shifts`) where g_j is constant beyond a small w, by
Fourier transforms (`fourier`) elsewhere. Autograd would copy and keep every shift and every transform; the backward
passes are written by hand.
"""

from typing import Any

from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import Function

from ldhd.positions.kernels import fourier, shifts
from ldhd.positions.kernels.causal_product import causal_product, causal_product_gradients
from ldhd.positions.kernels.precision import full_precision, without_autocast
from ldhd.positions.tables import table_scores

Scores = Float[Tensor, "B H q m"]
Rows = Float[Tensor, "B #H q k"]
Table = Float[Tensor, "m d"] | Float[Tensor, "H m d"]

LARGEST_SHIFT = 8
"""Up to this w the convolution is done by shifts, beyond it by Fourier transforms."""

INDICES = 300_000
"""Table indices held at once when hard anchors are looked up."""


def square_scores(q: Float[Tensor, "B H q d"], table: Table, keys: int) -> Float[Tensor, "B H q s"]:
    """Return q_j . R_m for the distances m that k positions can have, or more, and at least for m = -1, 0, 1."""
    rows = table.shape[-2]
    if rows % 2 == 0:
        raise ValueError(f"the table must hold R_-w .. R_w, an odd number of rows, got {rows}")
    w = rows // 2
    kept = w if w <= LARGEST_SHIFT else min(w, max(keys - 1, 1))
    scores = full_precision(table_scores(q, table[..., w - kept : w + kept + 1, :]))
    return scores.expand(*scores.shape[:-1], 3) if kept == 0 else scores


def square(scores: Scores, rows: Float[Tensor, "B #H k k"]) -> Float[Tensor, "B H q k"]:
    """T P^T for i <= j, where the last q of k positions are queries; elsewhere without meaning or gradient.

    `scores` holds g(-w) .. g(w), an odd number of them and at least three, constant beyond.
    """
    with without_autocast(rows.device):
        return _Square.apply(scores.to(rows.dtype), rows)


def hard_square(
    scores: Scores, distances: Int[Tensor, "B #H k"], rows: Float[Tensor, "B #H k k"]
) -> Float[Tensor, "B H q k"]:
    """[j, i] = g_j(r_j - r_i) for anchors at distances r; its gradient is that of `square`, handed to soft `rows`."""
    with without_autocast(rows.device):
        return _HardSquare.apply(scores.to(rows.dtype), distances, rows)


def look_up(
    scores: Scores, distances: Int[Tensor, "B #H q"], key_distances: Int[Tensor, "B #H k"]
) -> Float[Tensor, "B H q k"]:
    """[j, i] = g_j(r_j - r_i), r_j of the queries and r_i of the keys."""
    w, (batch, heads, queries) = scores.shape[-1] // 2, scores.shape[:3]
    keys = key_distances.shape[-1]
    own = (distances + w).expand(batch, heads, queries)
    other = key_distances.expand(batch, heads, keys)
    if batch * heads * queries * keys <= INDICES:
        return _entries(scores, own, other)
    flat, own, other = scores.flatten(0, 1), own.flatten(0, 1), other.flatten(0, 1)
    result = scores.new_empty(batch * heads, queries, keys)
    size = max(1, INDICES // (queries * keys))
    for start in range(0, batch * heads, size):
        part = slice(start, start + size)
        result[part] = _entries(flat[part], own[part], other[part])
    return result.view(batch, heads, queries, keys)


def _entries(scores: Tensor, own: Tensor, other: Tensor) -> Tensor:
    return scores.gather(-1, (own[..., :, None] - other[..., None, :]).clamp_(0, scores.shape[-1] - 1))


def _convolution(scores: Tensor) -> Any:
    return shifts if scores.shape[-1] // 2 <= LARGEST_SHIFT else fourier


def _gradients(
    gradient: Tensor, scores: Tensor, rows: Tensor, t: Tensor, kept: tuple[Tensor, ...]
) -> tuple[Tensor, Tensor]:
    """Those of the scores and of the rows, which enter on both sides of the product."""
    to_t, to_rows = causal_product_gradients(gradient.flatten(0, 1), t.flatten(0, 1), _for_heads(rows, t))
    to_scores, by_queries = _convolution(scores).gradients(to_t.view_as(t), scores, kept)
    to_rows = to_rows.view(*t.shape[:2], *rows.shape[-2:])
    to_rows[..., -t.shape[-2] :, :].add_(by_queries)
    return to_scores, to_rows if rows.shape[1] == t.shape[1] else to_rows.sum(1, keepdim=True)


def _for_heads(rows: Tensor, t: Tensor) -> Tensor:
    return rows.expand(*t.shape[:2], -1, -1).flatten(0, 1)


class _Square(Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, rows: Tensor) -> Tensor:
        t, kept = _convolution(scores).convolve(scores, rows[..., -scores.shape[-2] :, :])
        ctx.save_for_backward(scores, rows, t, *kept)
        return causal_product(t.flatten(0, 1), _for_heads(rows, t)).view_as(t)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        scores, rows, t, *kept = ctx.saved_tensors
        return _gradients(gradient, scores, rows, t, tuple(kept))


class _HardSquare(Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, distances: Tensor, rows: Tensor) -> Tensor:
        ctx.save_for_backward(scores, distances)
        return look_up(scores, distances[..., -scores.shape[-2] :], distances)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, Tensor]:
        scores, distances = ctx.saved_tensors
        keys = distances.shape[-1]
        rows = scores.new_zeros(*distances.shape, keys).scatter_(-1, keys - 1 - distances[..., None], 1.0)
        t, kept = _convolution(scores).convolve(scores, rows[..., -scores.shape[-2] :, :])
        to_scores, to_rows = _gradients(gradient, scores, rows, t, kept)
        return to_scores, None, to_rows

"""RPE-Square's term for anchors that are scored by the key alone, in time and memory that grow as n^2.

Let p_j be the probability that position j is its own anchor: S[j, j - e] = p_{j-e} (1 - p_{j-e+1}) .. (1 - p_j). The
probability that position j stands at least as far from its anchor as i follows the diagonals:

    U[j, i] = (1 - p_j) (1 - p_i) U[j - 1, i - 1] + p_i.

"At least m farther" has the probability L_m[j] U[j - m, i], "at least -m farther" 1 - L_m[i] (1 - U[j, i - m]), with
L_m[j] = (1 - p_j) .. (1 - p_{j-m+1}), the probability that none of the last m positions is the anchor. The term is
their sum, weighted with the steps g_j(m) - g_j(m - 1) of the scores. Rows are taken in blocks that fit the processor's
cache; the backward pass computes them again from the rows that were kept before each block.
"""

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import Function

from ldhd.positions.kernels.precision import widest

Own = Float[Tensor, "B H k"]
Scores = Float[Tensor, "B H q m"]

LONG_FROM = 3_000_000
"""Pairs of positions, over all heads and strings, from which on this is faster than `square`."""

BLOCK = 150_000
"""Numbers in a block of rows."""

NO_SCORE = -1e4
"""The score of padding, which adds nothing to a sum; -inf would make gradients undefined."""


def is_long(scores: Scores, keys: int) -> bool:
    """Whether `long_square` is faster than `square` on so many keys."""
    batch, heads = scores.shape[:2]
    return batch * heads * keys**2 >= LONG_FROM and keys > scores.shape[-1]


def own_weights(scores: Own) -> Own:
    """Return the probability p_j of a softmax over l <= j of `scores[l]` that l = j; 0 where the score is -inf."""
    padding = scores == -torch.inf
    scores = scores.masked_fill(padding, NO_SCORE)
    return (scores - widest(scores).logcumsumexp(-1).to(scores.dtype)).exp().masked_fill(padding, 0.0)


def long_square(scores: Scores, own: Own) -> Float[Tensor, "B H q k"]:
    """Return what `square` returns, given the probabilities p that a position is its own anchor; w must be below k."""
    w, queries = scores.shape[-1] // 2, scores.shape[-2]
    steps, none = scores.diff(), none_of_last(own, w)
    farther = steps[..., w - 1 :] * none[..., -queries:, :]
    nearer = steps[..., : w - 1].flip(-1)
    return scores[..., w - 1, None] + _LongSquare.apply(own, farther, nearer, none[..., 1:w].mT.contiguous())


def none_of_last(own: Own, w: int) -> Float[Tensor, "B H k w1"]:
    """[j, m] = the probability that none of the m positions up to j is its own anchor, for m = 0 .. w."""
    no = 1 - own
    shifted = [F.pad(no, (m, 0))[..., : no.shape[-1]] for m in range(w)]
    return torch.stack([torch.ones_like(no), *shifted], dim=-1).cumprod(-1)


def last_rows(own: Own, count: int) -> Float[Tensor, "B H c k"]:
    """Return the last rows of U, oldest first, and zeros where there are fewer."""
    rows, no = own.new_zeros(*own.shape[:2], count, 0), 1 - own
    for a, b in _blocks(own):
        rows = _rows(rows, own, no, a, b)[..., -count:, :]
    return rows


def _blocks(own: Tensor) -> Iterator[tuple[int, int]]:
    keys = own.shape[-1]
    size = min(max(BLOCK // own.numel(), 8), 64)
    for start in range(0, keys, size):
        yield start, min(start + size, keys)


def _rows(before: Tensor, own: Tensor, no: Tensor, a: int, b: int) -> Float[Tensor, "B H _ _"]:
    """Compute the rows a .. b of U, behind the w rows before them, for the keys that any of them needs: i <= j + w."""
    w = before.shape[-2]
    reach = min(b + w, own.shape[-1])
    rows = F.pad(before, (0, reach - before.shape[-1], 0, b - a))
    rows[..., w:, 0] = own[..., :1]
    own, factor = own[..., 1:reach], no[..., 1:reach]
    for row in range(w, rows.shape[-2]):
        moved = torch.mul(rows[..., row - 1, :-1], factor, out=rows[..., row, 1:])
        torch.addcmul(own, moved, no[..., a + row - w, None], out=moved)
    return rows


class _LongSquare(Function):
    @staticmethod
    def forward(ctx: Any, own: Tensor, farther: Tensor, nearer: Tensor, none: Tensor) -> Tensor:
        keys, queries, w = own.shape[-1], farther.shape[-2], farther.shape[-1] - 1
        term = own.new_zeros(*own.shape[:2], queries, keys)
        before, kept, no = own.new_zeros(*own.shape[:2], w, 0), [], 1 - own
        for a, b in _blocks(own):
            kept.append(before)
            rows = _rows(before, own, no, a, b)
            first = max(a, keys - queries)  # the first position of the block that is a query
            if first < b:
                _add_terms(term, rows[..., first - a :, :], farther, nearer, none, first - (keys - queries))
            before = rows[..., b - a :, :].clone()
        ctx.save_for_backward(own, farther, nearer, none, *kept)
        return term

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:
        own, farther, nearer, none, *kept = ctx.saved_tensors
        keys, queries, w = own.shape[-1], farther.shape[-2], farther.shape[-1] - 1
        skipped, no = keys - queries, 1 - own
        to_own, to_farther = torch.zeros_like(own), torch.empty_like(farther)
        to_nearer, to_none = torch.empty_like(nearer), torch.zeros_like(none)
        below = torch.zeros_like(own)  # what the next row adds to the gradient of a row
        for (a, b), before in zip(reversed(list(_blocks(own))), reversed(kept), strict=True):
            rows = _rows(before, own, no, a, b)
            reach = rows.shape[-1]
            to_rows = _to_rows(gradient, farther, nearer, none, a, b, reach)
            factor = no[..., 1:reach]
            to_rows[..., -1, :] += below[..., :reach]
            below = torch.zeros_like(own[..., :reach])
            for row in range(b - a - 1, -1, -1):
                torch.mul(to_rows[..., row, 1:], factor, out=below[..., :-1]).mul_(no[..., a + row, None])
                if row:
                    to_rows[..., row - 1, :] += below
            product = to_rows[..., 1:] * rows[..., w - 1 : -1, :-1]
            to_own[..., :reach] += to_rows.sum(-2)
            to_own[..., 1:reach] -= (no[..., None, a:b] @ product)[..., 0, :]
            to_own[..., a:b] -= (product @ factor[..., None])[..., 0]
            first = max(a, skipped)
            if first < b:
                own_part = slice(first - skipped, b - skipped)
                part, seen = gradient[..., own_part, :reach], rows[..., first - a :, :]
                count = b - first
                for m in range(w + 1):
                    to_farther[..., own_part, m] = (part * seen[..., w - m : w - m + count, :]).sum(-1)
                for m in range(1, w):
                    absent = (1 - seen[..., w:, : reach - m]) * part[..., m:]
                    to_nearer[..., own_part, m - 1] = -(absent @ none[..., m - 1, m:reach, None])[..., 0]
                    to_none[..., m - 1, m:reach] -= (nearer[..., own_part, m - 1, None].mT @ absent)[..., 0, :]
        return to_own, to_farther, to_nearer, to_none


def _add_terms(term: Tensor, rows: Tensor, farther: Tensor, nearer: Tensor, none: Tensor, start: int) -> None:
    """Add the terms of the queries from `start` on, whose rows of U stand behind the w rows before them."""
    w, reach = farther.shape[-1] - 1, rows.shape[-1]
    count = rows.shape[-2] - w
    result, part = term[..., start : start + count, :reach], slice(start, start + count)
    for m in range(w + 1):
        result.addcmul_(farther[..., part, m, None], rows[..., w - m : w - m + count, :])
    for m in range(1, w):
        absent = (1 - rows[..., w:, : reach - m]).mul_(none[..., m - 1, None, m:reach])
        result[..., m:].addcmul_(nearer[..., part, m - 1, None], absent, value=-1)


def _to_rows(gradient: Tensor, farther: Tensor, nearer: Tensor, none: Tensor, a: int, b: int, reach: int) -> Tensor:
    """Return the gradient of the rows a .. b of U, and of so many keys, by the terms alone."""
    (queries, keys), w = gradient.shape[-2:], farther.shape[-1] - 1
    skipped = keys - queries
    result, gradient = gradient.new_zeros(*gradient.shape[:2], b - a, reach), gradient[..., :reach]
    for m in range(w + 1):
        # row j serves the query j + m
        first, last = max(a + m - skipped, 0), min(b + m - skipped, queries)
        if first < last:
            target = result[..., first + skipped - m - a : last + skipped - m - a, :]
            target.addcmul_(gradient[..., first:last, :], farther[..., first:last, m, None])
    first, last = max(a - skipped, 0), b - skipped
    for m in range(1, w):
        if first < last:
            moved = gradient[..., first:last, m:] * none[..., m - 1, None, m:reach]
            result[..., first + skipped - a :, : reach - m].addcmul_(moved, nearer[..., first:last, m - 1, None])
    return result

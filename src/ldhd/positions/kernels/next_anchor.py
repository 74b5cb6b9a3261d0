"""The anchor after a key: where it stands if anchors are hard, where it may stand if they are soft.

Letters as in `functional`. b(i) is the first anchor after i. A query at j knows it if b(i) <= j, and then b(i) <= a(j),
its own anchor. With probabilities g that a token is an anchor, b(i) = l and a(j) = a > l are events about different
tokens, so that

    P[b(i) = l and a(j) = a] = e^{C_j - C_i} u_l v_a,    C_l = sum up to l of log(1 - g),

with u_l = g_l e^{C_{l-1}} and v_a = g_a e^{-C_a}; for a = l the factor g_l counts once. The places of query and key
differ by m = (j - a) - (l - i) where l + a = i + j - m: on an anti-diagonal, whose sums from its middle outwards are
cumulative sums.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from ldhd.positions.kernels.precision import full_precision

UNKNOWN = 2**30
"""The distance to an anchor that has not come yet."""

NO_CHANCE = -1e9
"""In place of the logarithm of 0, whose gradient is not finite."""


def next_distances(distances: Int[Tensor, "B H k"]) -> Int[Tensor, "B H k"]:
    """Return the distance of each token to the first anchor after it, or `UNKNOWN`, given that to the last up to it."""
    index = torch.arange(distances.shape[-1], device=distances.device)
    anchors = torch.where(distances == 0, index, 2 * UNKNOWN)
    after = F.pad(anchors[..., 1:], (0, 1), value=2 * UNKNOWN)
    return (after.flip(-1).cummin(-1).values.flip(-1) - index).clamp(max=UNKNOWN)


def mirror(near: Float[Tensor, "B H q m"], scores: Float[Tensor, "B H k"]) -> Float[Tensor, "B H q k"]:
    """[j, i] = the sum over |m| <= w of near_j(m) times the probability that b(i) <= j and the places differ by m.

    Token l is an anchor with probability sigmoid(scores[l]), the first token, which has no b(i) before it, always; a
    score of -inf is padding.
    """
    queries, keys, w = near.shape[-2], scores.shape[-1], near.shape[-1] // 2
    padding = scores == -torch.inf
    scores = full_precision(scores).masked_fill(padding, 0.0)
    first = ~padding & (~padding).cumsum(-1).eq(1)
    steps = F.softplus(scores).masked_fill(padding | first, 0.0)
    none = -steps.cumsum(-1)
    own = F.logsigmoid(scores).masked_fill(padding | first, NO_CHANCE)
    sums = _from_the_middle(own + none + steps, own - none, none)
    j = torch.arange(keys - queries, keys, device=scores.device)[:, None]
    i = torch.arange(keys, device=scores.device)
    between = none[..., -queries:, None] - none[..., None, :]
    result = torch.zeros_like(between)
    for m in range(-w, w + 1):
        total = i + j - m
        steps_out = total // 2 - torch.maximum(i + 1, i - m)
        inside = (i < j) & (steps_out >= 0) & (total <= 2 * keys - 2)
        index = (total * sums.shape[-1] + steps_out).where(inside, 0)
        found = sums.flatten(-2).index_select(-1, index.flatten()).view_as(between)
        chance = (found + between).masked_fill(~inside, NO_CHANCE).exp()
        result = torch.addcmul(result, near[..., m + w, None], chance)
    return result


def _from_the_middle(
    left: Float[Tensor, "B H k"], right: Float[Tensor, "B H k"], none: Float[Tensor, "B H k"]
) -> Float[Tensor, "B H s c"]:
    """[s, c] = the logarithm of the sum of u_l v_{s-l} over l from s // 2 - c up to s // 2."""
    keys = left.shape[-1]
    total = torch.arange(2 * keys - 1, device=left.device)[:, None]
    low = total // 2 - torch.arange((keys + 1) // 2 + 1, device=left.device)
    high = total - low
    inside = (low >= 0) & (high < keys)
    low, high = low.where(inside, 0), high.where(inside, 0)
    logs = left[..., low] + torch.where(low == high, -none[..., low], right[..., high])
    return logs.masked_fill(~inside, NO_CHANCE).logcumsumexp(-1)

"""The anchor after a key: where it stands if anchors are hard, where it may stand if they are soft.

b(i) is the first anchor after i, and a(j) the last one up to j, as in `functional`. A query at j knows b(i) if
b(i) <= j, and then b(i) <= a(j).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from ldhd.positions.kernels.precision import full_precision

UNKNOWN = 2**30
"""The distance to an anchor that has not come yet."""


def next_distances(distances: Int[Tensor, "B H k"]) -> Int[Tensor, "B H k"]:
    """Return the distance of each token to the first anchor after it, or `UNKNOWN`, given that to the last up to it."""
    index = torch.arange(distances.shape[-1], device=distances.device)
    anchors = torch.where(distances == 0, index, 2 * UNKNOWN)
    after = F.pad(anchors[..., 1:], (0, 1), value=2 * UNKNOWN)
    return (after.flip(-1).cummin(-1).values.flip(-1) - index).clamp(max=UNKNOWN)


def mirror(near: Float[Tensor, "B H q m"], scores: Float[Tensor, "B H k"]) -> Float[Tensor, "B H q k"]:
    """[j, i] = the sum over |m| <= w of near_j(m) times P[b(i) <= j and (j - a(j)) - (b(i) - i) = m].

    Token l is an anchor with probability g_l = sigmoid(scores[l]), 0 where the score is -inf; the first token, which is
    one always, comes after none. With c = 1 - g these probabilities obey

        P_m[j, i] = c_j c_{i+1} P_m[j - 1, i + 1] + U_m[j, i]:

    either neither end of i + 1 .. j is an anchor, and then the same anchors count for j - 1 and i + 1; or b(i) = i + 1
    or a(j) = j, and then m tells where the other one is.
    """
    queries, keys, w = near.shape[-2], scores.shape[-1], near.shape[-1] // 2
    present = scores > -torch.inf
    chance = full_precision(scores).sigmoid().masked_fill(present.cumsum(-1) <= 1, 0.0)
    none = 1 - chance
    ends = _ends(chance, none, w)
    both = none[..., :, None] * F.pad(none[..., 1:], (0, 1))[..., None, :]
    rows = [torch.zeros_like(ends[..., 0, :])]
    for end, factor in zip(ends.unbind(-2), both[..., None, :, :].unbind(-2), strict=True):
        rows.append(torch.addcmul(end, F.pad(rows[-1][..., 1:], (0, 1)), factor))
    chances = torch.stack(rows[keys - queries + 1 :], dim=-2)
    return (near.mT[..., None] * chances).sum(-3)


def _ends(chance: Float[Tensor, "B H k"], none: Float[Tensor, "B H k"], w: int) -> Float[Tensor, "B H m k k"]:
    """Return U_m[j, i] for m = -w .. w."""
    keys = chance.shape[-1]
    j, i = torch.arange(keys, device=chance.device)[:, None], torch.arange(keys, device=chance.device)
    first = F.pad(chance[..., 1:], (0, 1))[..., None, :]  # b(i) = i + 1
    last = chance[..., :, None]  # a(j) = j
    behind, before = [last], [first]  # a(j) = j - d and b(i) = i + 1 + d, for d = 0, 1, ..
    passed, ahead = none[..., :, None], F.pad(none[..., 1:], (0, 1))[..., None, :]
    for _ in range(w + 1):
        behind.append(F.pad(behind[-1][..., :-1, :], (0, 0, 1, 0)) * passed)
        before.append(F.pad(before[-1][..., 1:], (0, 1)) * ahead)
    found = []
    for m in range(-w, w + 1):
        d = abs(m + 1)
        one, other = (behind[d], first) if m >= -1 else (before[d], last)
        apart = j - i - 1 - d  # how far a(j) is after b(i); one token may be both
        found.append(one * (other * (apart > 0) + (apart == 0)))
    return torch.stack(found, dim=-3)

"""RPE-Square's term of a new position in O(n), for anchors scored by the key alone.

With S[j, l] = a_l / Z_j, Z_j = a_0 + ... + a_j, the chance that position j stands at least as far from its anchor as i,

    U[j, i] = sum over l <= j and k <= i with j - l >= i - k of S[j, l] S[i, k],

follows the diagonals: U[j, i] = (1 - p_j) (1 - p_i) U[j - 1, i - 1] + p_i with p_j = a_j / Z_j. The chance of "at
least m farther" is U[j - m, i] Z_{j-m} / Z_j, and that of "at least -m" is 1 - (1 - U[j, i - m]) Z_{i-m} / Z_i; the
term is their sum, weighted with the steps g_j(m) - g_j(m - 1) of the scores. So w + 1 rows of U are all that a new
position needs of the earlier ones. All factors lie between 0 and 1: nothing overflows.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

Rows = Float[Tensor, "B #H k k"]
LastRows = Float[Tensor, "B #H w1 k"]


def first_rows(rows: Rows, w: int) -> LastRows:
    """U[j - m, i] for m = 0 .. w, j the last of all positions so far, from their aligned anchors; zero where j < m."""
    earlier = F.pad(rows, (0, 0, max(0, w + 1 - rows.shape[-2]), 0))[..., -w - 1 :, :]
    return earlier.flip(-2).cumsum(-1) @ rows.transpose(-1, -2)


def next_rows(before: Float[Tensor, "B #H w1 p"], newest: Float[Tensor, "B #H k"]) -> LastRows:
    """The same one position later; `newest` is p of all positions."""
    count, keys = before.shape[-2], newest.shape[-1]
    rest = 1 - newest
    own = rest[..., -1:] * rest * F.pad(before[..., 0, :], (1, 0)) + newest
    # rows j - 1 .. j - w, already there for the earlier keys, meet key j
    places = torch.arange(keys - 2, keys - 1 - count, -1, device=newest.device).clamp(min=0)
    meet = rest[..., places] * rest[..., -1:] * before[..., 1:, -1] + newest[..., -1:]
    others = torch.cat([before[..., :-1, :], meet[..., None]], dim=-1)
    return torch.cat([own[..., None, :], others], dim=-2)


def key_square_row(
    scores: Float[Tensor, "B H m"], farther: LastRows, remaining: Float[Tensor, "B #H w1 k"]
) -> Float[Tensor, "B H k"]:
    """The term of the last position. `scores` holds its g(-w) .. g(w), at least three, `farther` its rows of U, and
    `remaining[m]` Z_{i-m} / Z_i."""
    w, keys = scores.shape[-1] // 2, farther.shape[-1]
    steps = scores.diff()[..., None]
    term = scores[..., :1] + (steps[..., w - 1 :, :] * remaining[..., -1:] * farther).sum(-2)
    for m in range(1, w):
        nearer = 1 - remaining[..., m, m:] * (1 - farther[..., 0, : max(keys - m, 0)])
        term = term + steps[..., w - 1 - m, :] * F.pad(nearer, (min(m, keys), 0), value=1.0)
    return term


def key_shares(anchor_scores: Float[Tensor, "B #H k"], w: int) -> tuple[Float[Tensor, "B #H k"], LastRows]:
    """p_i, and Z_{i-m} / Z_i for m = 0 .. w. In float64, which has the range; leading padding is its own anchor."""
    wide = anchor_scores.double()
    top = wide.amax(-1, keepdim=True).clamp(min=torch.finfo(torch.float64).min)
    weights = (wide - top).exp()
    total = weights.cumsum(-1)
    safe = total.clamp(min=torch.finfo(torch.float64).tiny)
    newest = torch.where(total == 0, 1.0, weights / safe)
    remaining = torch.stack([F.pad(total, (m, 0))[..., : total.shape[-1]] / safe for m in range(w + 1)], dim=-2)
    return newest.to(anchor_scores.dtype), remaining.to(anchor_scores.dtype)

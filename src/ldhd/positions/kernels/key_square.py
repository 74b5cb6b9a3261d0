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

from ldhd.positions.cache import Cache, append

LastRows = Float[Tensor, "B #H w1 k"]


def keep(cache: Cache, rows: Float[Tensor, "B #H k k"], anchor_scores: Float[Tensor, "B #H k"], w: int) -> None:
    """Keep what later positions need of the first k, given by their aligned anchors and their scores log a."""
    keys = rows.shape[-1]
    newest = rows[..., -1]
    # Z_{i-m} / Z_i is the product of 1 - p over the last m positions up to i
    kept = [F.pad(1 - newest, (m, 0))[..., :keys] for m in range(w)]
    remaining = torch.stack([torch.ones_like(newest), *kept], dim=-2).cumprod(-2)
    cache["log_total"] = anchor_scores.logsumexp(-1)
    append(cache, "newest", newest, -1, keys)
    append(cache, "remaining", remaining, -1, keys)
    earlier = F.pad(rows, (0, 0, max(0, w + 1 - keys), 0))[..., -w - 1 :, :]
    cache["farther"] = earlier.flip(-2).cumsum(-1) @ rows.transpose(-1, -2)  # U[j - m, i] for m = 0 .. w


def key_square_row(
    cache: Cache, scores: Float[Tensor, "B H m"], anchor_score: Float[Tensor, "B #H"], keys: int
) -> Float[Tensor, "B H k"]:
    """The term of the next position, the `keys`-th in all.

    `scores` holds its g(-w) .. g(w), at least three, and `anchor_score` is log a.
    """
    w = scores.shape[-1] // 2
    cache["log_total"] = torch.logaddexp(cache["log_total"], anchor_score)
    newest = append(cache, "newest", (anchor_score - cache["log_total"]).exp()[..., None], -1, keys)
    recent = 1 - newest[..., -w - 1 :].flip(-1)  # 1 - p_j, 1 - p_{j-1} ..
    recent = F.pad(recent, (0, w + 1 - recent.shape[-1]))
    left = F.pad(recent[..., :w].cumprod(-1), (1, 0), value=1.0)  # Z_{j-m} / Z_j for m = 0 .. w
    remaining = append(cache, "remaining", left[..., None], -1, keys)
    cache["farther"] = farther = _next_rows(cache["farther"], newest, recent)
    steps = scores.diff()
    term = scores[..., :1] + ((steps[..., w - 1 :] * left)[..., None, :] @ farther)[..., 0, :]
    for m in range(1, w):
        term += steps[..., w - 1 - m, None]
        if m < keys:
            absent = remaining[..., m, m:] * (1 - farther[..., 0, : keys - m])
            term[..., m:].addcmul_(steps[..., w - 1 - m, None], absent, value=-1)
    return term


def _next_rows(
    before: Float[Tensor, "B #H w1 p"], newest: Float[Tensor, "B #H k"], recent: Float[Tensor, "B #H w1"]
) -> LastRows:
    """Rows j, j - 1, .. j - w of U: the first is new, the others, that were there, meet key j."""
    own = torch.addcmul(newest[..., 1:], (1 - newest[..., 1:]) * recent[..., :1], before[..., 0, :])
    own = torch.cat([newest[..., :1], own], dim=-1)
    meet = recent[..., 1:] * recent[..., :1] * before[..., 1:, -1] + newest[..., -1:]
    others = torch.cat([before[..., :-1, :], meet[..., None]], dim=-1)
    return torch.cat([own[..., None, :], others], dim=-2)

"""RPE-Square's term of a new position in O(n), for anchors scored by the key alone.

With the probabilities p and L_m of `long_square`, the probability that position j stands less far from its anchor than
i follows the diagonals too:

    V[j, i] = 1 - U[j, i] = (1 - p_i) (p_j + (1 - p_j) V[j - 1, i - 1]).

Of the earlier positions a new one needs the last w + 1 rows of V, which are kept in turn: row j in slot j mod (w + 1).
All factors lie between 0 and 1: nothing overflows.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from ldhd.positions.cache import Cache, append
from ldhd.positions.kernels.long_square import last_rows, none_of_last, own_weights


def keep(cache: Cache, anchor_scores: Float[Tensor, "B H k"], w: int) -> None:
    """Keep what later positions need of the first k, given by the scores log a of their anchors."""
    keys, own = anchor_scores.shape[-1], own_weights(anchor_scores)
    cache["log_total"] = anchor_scores.logsumexp(-1)
    append(cache, "no", 1 - own, -1, keys)
    append(cache, "none", none_of_last(own, w).mT, -1, keys)
    nearer = 1 - last_rows(own, w + 1)
    append(cache, "nearer", nearer.roll((keys - w - 1) % (w + 1), -2), -1, keys)


def keep_next(cache: Cache, anchor_score: Float[Tensor, "B #H"], w: int, keys: int) -> None:
    """Keep what is needed of the next position, the `keys`-th in all, whose log a is `anchor_score`."""
    slots = w + 1
    first, last = (keys - slots) % slots, (keys - 1) % slots  # of the oldest row and of the new one
    cache["log_total"] = torch.logaddexp(cache["log_total"], anchor_score)
    own = (anchor_score - cache["log_total"]).exp()[..., None]
    no = append(cache, "no", 1 - own, -1, keys)
    recent = no[..., -slots:] if keys >= slots else F.pad(no, (slots - keys, 0))
    left = F.pad(recent[..., 1:].flip(-1).cumprod(-1), (1, 0), value=1.0)  # L_m[j] for m = 0 .. w
    append(cache, "none", left[..., None], -1, keys)
    # the new key meets the rows, each of which continues the one before it, and the new row continues the last one
    recent, before = recent.roll(first, -1), cache["nearer"][..., keys - 2].roll(1, -1)
    column = torch.addcmul(1 - recent, recent, before) * no[..., -1:]
    nearer = append(cache, "nearer", column[..., None], -1, keys)
    row = nearer[..., last, 1 : keys - 1]
    torch.addcmul(own, no[..., -1:], nearer[..., last - 1, : keys - 2], out=row).mul_(no[..., 1 : keys - 1])
    nearer[..., last, :1] = no[..., :1]


def key_square_row(cache: Cache, scores: Float[Tensor, "B H m"], keys: int) -> Float[Tensor, "B H k"]:
    """Return the term of the last of the `keys` positions kept; `scores` holds its g(-w) .. g(w), at least three."""
    w, slots = scores.shape[-1] // 2, scores.shape[-1] // 2 + 1
    first, last = (keys - slots) % slots, (keys - 1) % slots
    nearer, none = cache["nearer"][..., :keys], cache["none"][..., :keys]
    steps = scores.diff()
    farther = steps[..., w - 1 :] * none[..., -1]
    constant = scores[..., w - 1 : w] + farther.sum(-1, keepdim=True)
    term = constant - (farther.flip(-1).roll(first, -1)[..., None, :] @ nearer)[..., 0, :]
    for m in range(1, min(w, keys)):
        passed = none[..., m, m:] * nearer[..., last, : keys - m]
        term[..., m:].addcmul_(steps[..., w - 1 - m, None], passed, value=-1)
    return term

"""A convolution whose kernels are constant beyond a small w: one shifted cumulative sum for each of their 2 w steps."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

Scores = Float[Tensor, "B H q m"]
Rows = Float[Tensor, "B #H q k"]


def convolve(scores: Scores, rows: Rows) -> tuple[Float[Tensor, "B H q k"], tuple[Tensor, ...]]:
    """[c] = sum over c' of rows[c'] g(c - c'), and what its gradients need.

    Summed by parts: g(-w) times the whole row, and for each m > -w the step g(m) - g(m - 1) times the row's sum up to
    column c - m.
    """
    w, keys = scores.shape[-1] // 2, rows.shape[-1]
    sums = F.pad(rows, (w, w - 1)).cumsum(-1)  # up to columns -w .. k + w - 2
    steps = scores.diff()
    result = torch.addcmul(scores[..., :1] * sums[..., -1:], steps[..., :1], sums[..., 2 * w - 1 :])
    for step in range(1, 2 * w):
        start = 2 * w - 1 - step
        result.addcmul_(steps[..., step, None], sums[..., start : start + keys])
    return result, (sums,)


def gradients(
    gradient: Float[Tensor, "B H q k"], scores: Scores, kept: tuple[Tensor, ...]
) -> tuple[Scores, Float[Tensor, "B H q k"]]:
    """Those of the scores and of the rows, the latter for each head."""
    (sums,) = kept
    w, keys = scores.shape[-1] // 2, gradient.shape[-1]
    steps, total = scores.diff(), gradient.sum(-1, keepdim=True)
    to_steps: list[Tensor] = []
    to_sums = F.pad(gradient * steps[..., :1], (2 * w - 1, 0))
    product = torch.empty_like(gradient)
    for step in range(2 * w):
        window = slice(2 * w - 1 - step, 2 * w - 1 - step + keys)
        to_steps.append(torch.mul(gradient, sums[..., window], out=product).sum(-1))
        if step > 0:
            to_sums[..., window].addcmul_(gradient, steps[..., step, None])
    to_scores = -F.pad(torch.stack(to_steps, dim=-1), (1, 1)).diff()
    to_scores[..., :1] += total * sums[..., -1:]
    to_rows = to_sums[..., w : w + keys]
    to_rows[..., -1] += to_sums[..., w + keys :].sum(-1)
    up_to = to_rows.cumsum(-1)
    from_here = up_to[..., -1:] + scores[..., :1] * total
    return to_scores, up_to.neg_().add_(to_rows).add_(from_here)

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
    sums = rows.new_empty(*rows.shape[:-1], keys + 2 * w - 1)  # up to columns -w .. k + w - 2
    sums[..., :w] = 0
    torch.cumsum(rows, -1, out=sums[..., w : w + keys])
    sums[..., w + keys :] = sums[..., w + keys - 1, None]
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
    to_steps = torch.empty_like(steps)
    to_sums = gradient.new_empty(*gradient.shape[:-1], keys + 2 * w - 1)
    to_sums[..., : 2 * w - 1] = 0
    torch.mul(gradient, steps[..., :1], out=to_sums[..., 2 * w - 1 :])
    product = torch.empty_like(gradient)
    for step in range(2 * w):
        window = slice(2 * w - 1 - step, 2 * w - 1 - step + keys)
        torch.sum(torch.mul(gradient, sums[..., window], out=product), -1, out=to_steps[..., step])
        if step > 0:
            to_sums[..., window].addcmul_(gradient, steps[..., step, None])
    to_scores = -F.pad(to_steps, (1, 1)).diff()
    to_scores[..., :1] += total * sums[..., -1:]
    to_rows = to_sums[..., w : w + keys]
    to_rows[..., -1] += to_sums[..., w + keys :].sum(-1)
    up_to = torch.cumsum(to_rows, -1, out=product)
    from_here = up_to[..., -1:] + scores[..., :1] * total
    return to_scores, up_to.neg_().add_(to_rows).add_(from_here)

"""A cost of anchors that are not unique, which needs no term in anybody's loss."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import Function

SAME = 1e-4
"""Scores of the same token differ by rounding alone."""

_share = ContextVar("share", default=1.0)


@contextmanager
def part_of_batch(share: float) -> Iterator[None]:
    """While a part of a batch is run whose gradient is added to those of others: the cost counts so much of one."""
    token = _share.set(share)
    try:
        yield
    finally:
        _share.reset(token)


def discourage_repeated(scores: Float[Tensor, "B A k"], weight: float) -> Float[Tensor, "B A k"]:
    """The scores unchanged; their gradient gains that of a cost of repeated tokens that are anchors.

    With g = sigmoid(score) the chance that a token is an anchor, the cost is `weight` times the mean over tokens of
    the sum over anchors of -log(1 - g) where the token is repeated, 0 where it is not. It is part of the gradient, not
    of the loss that is reported, and is meant for losses that are means. Padding counts among the tokens unless it is
    masked, which padding on the right does not need otherwise. Where gradients of several parts of a batch are added
    up, by accumulation or on several devices, each is run within `part_of_batch`. Tokens are taken for the same by
    their scores, so this is for a first layer without dropout before it; where the same token has many hidden states,
    nothing is repeated.
    """
    return _Discouraged.apply(scores, weight * _share.get())


def repeated(scores: Float[Tensor, "B A k"]) -> Bool[Tensor, "B 1 k"]:
    """Which tokens stand elsewhere in their sequence too: those with the same scores. What is -inf does not count."""
    differences = (scores[..., :, None] - scores[..., None, :]).abs().amax(1, keepdim=True)
    return (differences < SAME).sum(-1) > 1


class _Discouraged(Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, weight: float) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.weight = weight
        return scores.view_as(scores)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (scores,) = ctx.saved_tensors
        tokens = (scores[:, 0] > -torch.inf).sum()
        return gradient + ctx.weight / tokens * repeated(scores) * scores.sigmoid(), None

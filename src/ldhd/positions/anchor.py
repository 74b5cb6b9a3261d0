"""Anchors: the token from which a position measures its distance, found by content."""

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from ldhd.positions.position import Cache

TIE_BREAK = 1e-5
"""What a hard anchor's score gains for each position it stands later."""

Projections = Literal["separate", "shared", "key"]


class Anchor(nn.Module):
    """S[j, l] = softmax over l <= j of scale * score(x_j, x_l).

    The score is `(W_Q x_j) . (W_K x_l)` as the paper prints it, without 1/sqrt(d). `projections` says which
    W_Q and W_K: `separate` ones, the attention's own (`shared`), or a constant query (`key`), that is a linear
    score s(x_l) of the key's token alone. Each head has an anchor of its own, or groups of heads share `anchors` of
    them (not with `shared`). With `hard`, all weight goes to the largest score and the gradient is that of the softmax
    (straight-through).
    """

    def __init__(
        self,
        dimension: int,
        heads: int,
        projections: Projections,
        scale: float,
        hard: bool = False,
        anchors: int | None = None,
    ):
        super().__init__()
        if projections not in ("separate", "shared", "key"):
            raise ValueError(f"projections must be separate, shared or key, got {projections!r}")
        if scale <= 0:
            raise ValueError(f"anchor scale must be positive, got {scale}")
        self.heads, self.anchors = heads, heads if anchors is None else anchors
        if self.anchors < 1 or heads % self.anchors:
            raise ValueError(f"anchors must divide the {heads} heads, got {anchors}")
        if projections == "shared" and self.anchors != heads:
            raise ValueError(f"shared projections are those of each of the {heads} heads, not of {anchors} anchors")
        self.projections, self.scale, self.hard = projections, scale, hard
        if projections == "separate":
            self.query = nn.Linear(dimension, self.anchors * (dimension // heads), bias=False)
            self.key = nn.Linear(dimension, self.anchors * (dimension // heads), bias=False)
        elif projections == "key":
            self.key = nn.Linear(dimension, self.anchors, bias=False)

    def forward(
        self,
        q: Float[Tensor, "B H q d"],
        k: Float[Tensor, "B H k d"],
        hidden: Float[Tensor, "B q D"],
        visible: Bool[Tensor, "#B 1 q k"],
        cache: Cache | None,
    ) -> Float[Tensor, "B #H q k"]:
        """One anchor for all heads (of size 1 there), or one for each."""
        weights = self._weights(q, k, hidden, visible, cache)
        if self.anchors in (1, self.heads):
            return weights
        return weights.repeat_interleave(self.heads // self.anchors, dim=1)

    def _weights(self, q: Tensor, k: Tensor, hidden: Tensor, visible: Tensor, cache: Cache | None) -> Tensor:
        scores = self.scale * self._scores(q, k, hidden, cache)
        scores = scores.masked_fill(~visible, -torch.inf)
        weights = scores.softmax(-1)
        if not self.hard:
            return weights
        # equal tokens have equal scores up to rounding: of these the last is taken, whatever the rounding
        later = TIE_BREAK * torch.arange(weights.shape[-1], device=weights.device)
        chosen = torch.zeros_like(weights).scatter_(-1, (scores + later).argmax(-1, keepdim=True), 1.0)
        return chosen + (weights - weights.detach())

    def _scores(self, q: Tensor, k: Tensor, hidden: Tensor, cache: Cache | None) -> Tensor:
        if self.projections == "shared":
            return q @ k.transpose(-1, -2)
        keys = self._split(self.key(hidden))
        if cache is not None:
            keys = torch.cat([cache["anchor_keys"], keys], dim=-2) if "anchor_keys" in cache else keys
            cache["anchor_keys"] = keys
        if self.projections == "key":
            return keys.transpose(-1, -2)
        return self._split(self.query(hidden)) @ keys.transpose(-1, -2)

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.anchors, -1)).transpose(1, 2)


def natural_anchor(tokens: Sequence[str], j: int) -> int:
    """The anchor a position can find by content alone: the last token up to j that is no digit."""
    return next((index for index in range(j, -1, -1) if not tokens[index].isdigit()), 0)

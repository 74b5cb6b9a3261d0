"""Anchors: the token from which a position measures its distance, found by content."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ldhd.positions.cache import Cache, append
from ldhd.positions.kernels.aligned import align, key_rows, restore
from ldhd.positions.kernels.precision import full_precision
from ldhd.positions.unique import discourage_repeated

TIE_BREAK = 1e-5
"""What a hard anchor's score gains for each position it stands later."""

SHUT = -30.0
"""The score of what is no anchor, whatever it is."""

Hard = bool | Literal["test"]
Projections = Literal["separate", "shared", "key", "recent"]


@dataclass(frozen=True)
class Anchors:
    """The anchors of q positions among k, for each head or once for all: soft, hard, or the heaviest few."""

    queries: int
    keys: int
    key_scores: Float[Tensor, "B #H k"] | None = None
    """Logarithms of weights that depend on the key alone, -inf on padding."""
    pair_scores: Float[Tensor, "B #H q k"] | None = None
    """The same of weights that depend on the query too, -inf where it may not look."""
    distances: Int[Tensor, "B #H q t"] | None = None
    """Distances of the t anchors that are used, None if all are."""
    shares: Float[Tensor, "B #H q t"] | None = None
    """Their weights, None for hard anchors."""

    def rows(self) -> Float[Tensor, "B #H q k"]:
        """The soft weights, aligned."""
        if self.pair_scores is not None:
            return align(self.pair_scores.softmax(-1))
        assert self.key_scores is not None
        return key_rows(self.key_scores, self.queries)

    def used(self) -> Float[Tensor, "B #H q k"]:
        """The weights that are used, aligned; hard ones have the gradient of the soft ones."""
        if self.distances is None:
            return self.rows()
        shares = torch.ones(self.distances.shape, device=self.distances.device) if self.shares is None else self.shares
        empty = shares.new_zeros(*self.distances.shape[:-1], self.keys)
        chosen = empty.scatter_add(-1, self.keys - 1 - self.distances, shares)
        if self.shares is not None or not torch.is_grad_enabled():
            return chosen
        rows = self.rows()
        return chosen + (rows - rows.detach())

    def weights(self) -> Float[Tensor, "B #H q k"]:
        """S[j, l], by position: for pictures and tests."""
        return restore(self.used()).tril(self.keys - self.queries)


class Anchor(nn.Module):
    """S[j, l] = softmax over l <= j of scale * score(x_j, x_l).

    The score is `(W_Q x_j) . (W_K x_l)` as the paper prints it, without 1/sqrt(d). `projections` says which
    W_Q and W_K: `separate` ones, the attention's own (`shared`), or a constant query (`key`), that is a linear
    score s(x_l) of the key's token alone. With `recent`, s(x_l) says whether token l is an anchor at all, and the last
    one counts: see `recent_scores`. Each head has an anchor of its own, or groups of heads share `anchors` of them
    (not with `shared`). With `hard`, all weight goes to the largest score and the gradient is that of the softmax
    (straight-through); if it is hard in a `test` alone, training is soft. With `top`, the heaviest anchors alone are
    used, their weights made to sum to one.

    `unique` is the weight of a cost, in training, of anchors that are not the only token of their kind
    (`discourage_repeated`, for `recent`): what stands in many places marks none. The last `shut` heads of `recent`
    have the first token for their anchor, always.
    """

    def __init__(
        self,
        dimension: int,
        heads: int,
        projections: Projections,
        scale: float,
        hard: Hard = False,
        anchors: int | None = None,
        top: int | None = None,
        unique: float = 0.0,
        shut: int = 0,
    ):
        super().__init__()
        if projections not in get_args(Projections):
            raise ValueError(f"projections must be separate, shared, key or recent, got {projections!r}")
        if scale <= 0:
            raise ValueError(f"anchor scale must be positive, got {scale}")
        self.heads, self.anchors = heads, heads if anchors is None else anchors
        if self.anchors < 1 or heads % self.anchors:
            raise ValueError(f"anchors must divide the {heads} heads, got {anchors}")
        if projections == "shared" and self.anchors != heads:
            raise ValueError(f"shared projections are those of each of the {heads} heads, not of {anchors} anchors")
        if top is not None and top < 1:
            raise ValueError(f"top must be at least 1, got {top}")
        if hard and top is not None:
            raise ValueError("hard anchors are one each; top is for soft ones")
        if unique < 0:
            raise ValueError(f"unique must not be negative, got {unique}")
        if shut and (projections != "recent" or not 0 < shut <= heads or self.anchors != heads):
            raise ValueError(f"heads without anchors are some of the {heads} of 'recent', each its own, got {shut}")
        self.projections, self.scale, self.hard, self.top, self.unique = projections, scale, hard, top, unique
        self.shut = shut
        if projections == "separate":
            self.query = nn.Linear(dimension, self.anchors * (dimension // heads), bias=False)
            self.key = nn.Linear(dimension, self.anchors * (dimension // heads), bias=False)
        elif projections in ("key", "recent"):
            self.key = nn.Linear(dimension, self.anchors, bias=False)

    def forward(
        self,
        q: Float[Tensor, "B H q d"],
        k: Float[Tensor, "B H k d"],
        hidden: Float[Tensor, "B q D"],
        visible: Bool[Tensor, "#B 1 q k"],
        cache: Cache | None,
    ) -> Anchors:
        queries, keys = visible.shape[-2:]
        if self.projections in ("key", "recent"):
            scores, recent = self._key_scores(hidden, visible, cache), self.projections == "recent"
            if recent and self.training and self.unique:
                scores = discourage_repeated(scores, self.unique)
            anchors = Anchors(queries, keys, key_scores=self._per_head(recent_scores(scores) if recent else scores))
            ranks = recent_scores(scores, hard=True) if recent and self._hard() else scores
            best = self._per_head(_distances_up_to(ranks)[..., -queries:]) if self._hard() else None
        else:
            scores = self._per_head(self._pair_scores(q, k, hidden, visible, cache))
            anchors = Anchors(queries, keys, pair_scores=scores)
            best = _distances(scores) if self._hard() else None
        if best is not None:
            return replace(anchors, distances=best[..., None])
        if self.top is None:
            return anchors
        rows = anchors.rows()
        columns = _later(rows.detach().log()).topk(min(self.top, keys), -1).indices
        shares = rows.gather(-1, columns)
        shares = shares / shares.sum(-1, keepdim=True).clamp(min=torch.finfo(shares.dtype).tiny)
        # as many at every length, so that a cache can hold them
        missing = 0, self.top - shares.shape[-1]
        return replace(anchors, distances=F.pad(keys - 1 - columns, missing), shares=F.pad(shares, missing))

    def _key_scores(self, hidden: Tensor, visible: Tensor, cache: Cache | None) -> Float[Tensor, "B A k"]:
        scores = self.scale * full_precision(self.key(hidden)).transpose(1, 2)
        if self.shut:
            scores = torch.cat([scores[:, : -self.shut], torch.full_like(scores[:, -self.shut :], SHUT)], dim=1)
        scores = append(cache, "anchor_keys", scores, -1, visible.shape[-1])
        # padding aside, the last position sees all keys that any position sees
        return scores.masked_fill(~visible[:, :, -1], -torch.inf)

    def _pair_scores(
        self, q: Tensor, k: Tensor, hidden: Tensor, visible: Tensor, cache: Cache | None
    ) -> Float[Tensor, "B A q k"]:
        if self.projections == "separate":
            q, k = self._split(self.query(hidden)), self._split(self.key(hidden))
            k = append(cache, "anchor_keys", k, -2, visible.shape[-1])
        scores = full_precision((self.scale * q) @ k.transpose(-1, -2))
        return scores.masked_fill_(~visible, -torch.inf)

    def _hard(self) -> bool:
        return self.hard is True or (self.hard == "test" and not self.training)

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.anchors, -1)).transpose(1, 2)

    def _per_head(self, x: Tensor) -> Tensor:
        """One anchor for all heads stays one."""
        if self.anchors in (1, self.heads):
            return x
        return x.repeat_interleave(self.heads // self.anchors, dim=1)


def recent_scores(scores: Float[Tensor, "B A k"], hard: bool = False) -> Float[Tensor, "B A k"]:
    """Scores u_l of single tokens, -inf on padding, as key scores whose softmax finds the last anchor.

    Token l is an anchor with chance g_l = sigmoid(u_l), the first token always; S[j, l] = g_l (1 - g_{l+1}) ..
    (1 - g_j) is then the chance that l is the last one up to j. That is the softmax over l <= j of
    u_l + sum over m < l of softplus(u_m), with 0 for the first. The `hard` limit, relu for softplus, ranks the last
    token with u_l > 0 highest.
    """
    first = (scores > -torch.inf) & ((scores > -torch.inf).cumsum(-1) == 1)
    scores = scores.masked_fill(first, 0.0)
    steps = (scores.relu() if hard else F.softplus(scores)).masked_fill(first, 0.0)
    return scores + steps.cumsum(-1) - steps


def _later(scores: Tensor) -> Tensor:
    """Equal tokens have equal scores up to rounding: of these the last is taken, whatever the rounding."""
    return scores + TIE_BREAK * torch.arange(scores.shape[-1], device=scores.device)


def _distances_up_to(scores: Float[Tensor, "B A k"]) -> Int[Tensor, "B A k"]:
    """How far back from each position the best score up to it stands."""
    best = _later(scores).cummax(-1).indices
    return torch.arange(best.shape[-1], device=best.device) - best


def _distances(scores: Float[Tensor, "B A q k"]) -> Int[Tensor, "B A q"]:
    """How far back from each query the best of its scores stands."""
    queries, keys = scores.shape[-2:]
    return torch.arange(keys - queries, keys, device=scores.device) - _later(scores).argmax(-1)


def natural_distances(tokens: Sequence[str]) -> list[int]:
    """How far behind each position its natural anchor stands."""
    distances = [0]
    for token in tokens[1:]:
        distances.append(distances[-1] + 1 if token.isdigit() else 0)
    return distances


def natural_anchor(tokens: Sequence[str], j: int) -> int:
    """The anchor a position can find by content alone: the last token up to j that is no digit."""
    return next((index for index in range(j, -1, -1) if not tokens[index].isdigit()), 0)

"""Anchors: the token from which a position measures its distance, found by content.

S[j, l] is the weight with which position j measures from position l <= j, a softmax of scores over l. There is one
class for each kind of score; each head has anchors of its own.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ldhd.positions.cache import append
from ldhd.positions.context import Cache, Context, Keys, Queries
from ldhd.positions.kernels.aligned import align, key_rows, restore
from ldhd.positions.kernels.precision import full_precision

TIE_BREAK = 1e-5
"""What a hard anchor's score gains for each position it stands later."""

NEVER = -30.0
"""The score of a token that is no anchor, whatever it is."""

SAME_TOKEN = 1e-4
"""Scores of the same token differ by less than this, which is rounding alone."""

Hard = bool | Literal["test"]
Projections = Literal["separate", "shared", "key", "recent"]


@dataclass(frozen=True)
class Anchors:
    """The anchors of n new positions among k, for each head: soft ones, and hard ones where they are hard."""

    new: int
    keys: int
    key_scores: Float[Tensor, "B H k"] | None = None
    """Logarithms of weights that depend on the key alone, -inf on padding."""
    pair_scores: Float[Tensor, "B H n k"] | None = None
    """Logarithms of weights that depend on the position too, -inf where a key is not visible."""
    distances: Int[Tensor, "B H n"] | None = None
    """Distances to hard anchors; None for soft ones."""
    token_scores: Float[Tensor, "B H k"] | None = None
    """The scores of single tokens from which `key_scores` were computed, -inf on padding."""

    def rows(self) -> Float[Tensor, "B H n k"]:
        """Return the soft weights, aligned."""
        if self.pair_scores is not None:
            return align(self.pair_scores.softmax(-1))
        assert self.key_scores is not None
        return key_rows(self.key_scores, self.new)

    def used(self) -> Float[Tensor, "B H n k"]:
        """Return the weights that are used, aligned; hard ones have the gradient of the soft ones."""
        if self.distances is None:
            return self.rows()
        index = (self.keys - 1 - self.distances)[..., None]
        chosen = torch.zeros(*self.distances.shape, self.keys, device=index.device).scatter(-1, index, 1.0)
        if not torch.is_grad_enabled():
            return chosen
        rows = self.rows()
        return chosen + (rows - rows.detach())

    def weights(self) -> Float[Tensor, "B H n k"]:
        """Return S[j, l] by position, for figures and tests."""
        return restore(self.used()).tril(self.keys - self.new)


class Anchor(nn.Module, ABC):
    """Finds the anchors of every position.

    Scores are multiplied by `scale`. With `hard`, all weight goes to the largest score, and the gradient is that of the
    softmax (straight-through); with `hard="test"`, anchors are soft in the exploratory phase of training.
    """

    def __init__(self, dimension: int, heads: int, scale: float, hard: Hard = False):
        super().__init__()
        if scale <= 0:
            raise ValueError(f"anchor scale must be positive, got {scale}")
        self.heads, self.scale, self.hard = heads, scale, hard

    @abstractmethod
    def forward(self, q: Queries, k: Keys, context: Context) -> Anchors:
        """Return the anchors of all new tokens."""

    def is_hard(self, context: Context) -> bool:
        """Whether anchors are hard in this forward pass."""
        return self.hard is True or (self.hard == "test" and not context.exploring)


class PairScored(Anchor):
    """Anchors whose scores depend on the query and on the key."""

    @abstractmethod
    def scores(self, q: Queries, k: Keys, context: Context) -> Float[Tensor, "B H n k"]:
        """Return the scores of all pairs, visible or not."""

    def forward(self, q: Queries, k: Keys, context: Context) -> Anchors:
        scores = full_precision(self.scores(q, k, context)).masked_fill_(~context.every_row(), -torch.inf)
        distances = _distances(scores) if self.is_hard(context) else None
        return Anchors(context.new, context.keys, pair_scores=scores, distances=distances)


class SeparateAnchor(PairScored):
    """Scores (W_Q x_j) . (W_K x_l) with projections of their own, as the paper prints them, without 1/sqrt(d)."""

    def __init__(self, dimension: int, heads: int, scale: float, hard: Hard = False):
        super().__init__(dimension, heads, scale, hard)
        self.query = nn.Linear(dimension, dimension, bias=False)
        self.key = nn.Linear(dimension, dimension, bias=False)

    def scores(self, q: Queries, k: Keys, context: Context) -> Float[Tensor, "B H n k"]:
        assert context.hidden is not None
        queries, new = self._split(self.query(context.hidden)), self._split(self.key(context.hidden))
        keys = append(context.cache, "anchor_keys", new, -2, context.keys)
        return (self.scale * queries) @ keys.transpose(-1, -2)

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class SharedAnchor(PairScored):
    """Scores (W_Q x_j) . (W_K x_l) with the projections of the attention, without 1/sqrt(d)."""

    def scores(self, q: Queries, k: Keys, context: Context) -> Float[Tensor, "B H n k"]:
        # the paper's anchors are the one place where the query of the attention is not divided by sqrt(d)
        return (self.scale * math.sqrt(q.shape[-1]) * q) @ k.transpose(-1, -2)


class KeyScored(Anchor):
    """Anchors with a linear score s(x_l) of the key's token alone."""

    def __init__(self, dimension: int, heads: int, scale: float, hard: Hard = False):
        super().__init__(dimension, heads, scale, hard)
        self.key = nn.Linear(dimension, heads, bias=False)

    def forward(self, q: Queries, k: Keys, context: Context) -> Anchors:
        new, cache = context.new, context.cache
        scores = self.new_scores(context)
        distances = None
        if self.is_hard(context):
            distances = _distances_up_to(self.ranks(_present(scores, context), context), cache)
            if cache is not None:
                return Anchors(new, context.keys, distances=distances)
        scores = _present(append(cache, "anchor_keys", scores, -1, context.keys), context)
        key_scores = self.key_scores(scores, context)
        return Anchors(new, context.keys, key_scores=key_scores, distances=distances, token_scores=scores)

    def new_scores(self, context: Context) -> Float[Tensor, "B H n"]:
        """Return the scores of the new tokens, padding included."""
        assert context.hidden is not None
        return self.scale * full_precision(self.key(context.hidden)).transpose(1, 2)

    @abstractmethod
    def ranks(self, scores: Float[Tensor, "B H n"], context: Context) -> Float[Tensor, "B H n"] | Int[Tensor, "B H n"]:
        """Return numbers of the new tokens of which the largest up to a position is that of its hard anchor."""

    @abstractmethod
    def key_scores(self, scores: Float[Tensor, "B H k"], context: Context) -> Float[Tensor, "B H k"]:
        """Return the scores of all tokens whose softmax up to a position gives its soft anchor."""


class KeyAnchor(KeyScored):
    """The softmax over l <= j of s(x_l): every position ranks the tokens before it alike."""

    def ranks(self, scores: Float[Tensor, "B H n"], context: Context) -> Float[Tensor, "B H n"]:
        return _later(scores, context.keys - context.new)

    def key_scores(self, scores: Float[Tensor, "B H k"], context: Context) -> Float[Tensor, "B H k"]:
        return scores


class RecentAnchor(KeyScored):
    """The last token up to j that is an anchor, which s(x_l) decides for each token; see `recent_scores`.

    `unique` is the weight of a penalty on anchors that are not the only token of their kind (`repeated_penalty`), in
    the exploratory phase of training. The anchor of the last `first_token_heads` heads is always the first token.
    """

    def __init__(
        self,
        dimension: int,
        heads: int,
        scale: float,
        hard: Hard = False,
        *,
        unique: float = 0.0,
        first_token_heads: int = 0,
    ):
        super().__init__(dimension, heads, scale, hard)
        if unique < 0:
            raise ValueError(f"unique must not be negative, got {unique}")
        self.unique, self.first_token_heads = unique, first_token_heads

    def ranks(self, scores: Float[Tensor, "B H n"], context: Context) -> Int[Tensor, "B H n"]:
        anchors, earlier = scores > 0, context.keys - context.new
        if not earlier:
            anchors = anchors | _first(scores)
        index = torch.arange(earlier, context.keys, device=scores.device)
        return torch.where(anchors, index, -1)

    def key_scores(self, scores: Float[Tensor, "B H k"], context: Context) -> Float[Tensor, "B H k"]:
        if self.unique and context.exploring and context.penalties is not None:
            context.penalties.append(self.unique * repeated_penalty(scores))
        return recent_scores(scores)

    def new_scores(self, context: Context) -> Float[Tensor, "B H n"]:
        scores = super().new_scores(context)
        learned, fixed = scores.split([self.heads - self.first_token_heads, self.first_token_heads], dim=1)
        return torch.cat([learned, torch.full_like(fixed, NEVER)], dim=1)


ANCHORS: dict[str, type[Anchor]] = {
    "separate": SeparateAnchor,
    "shared": SharedAnchor,
    "key": KeyAnchor,
    "recent": RecentAnchor,
}
"""The kinds of anchors by the name that the option `projections` has for them."""


def recent_scores(scores: Float[Tensor, "B H k"]) -> Float[Tensor, "B H k"]:
    """Turn scores u_l of single tokens, -inf on padding, into key scores whose softmax finds the last anchor.

    Token l is an anchor with probability g_l = sigmoid(u_l), the first token always; S[j, l] = g_l (1 - g_{l+1}) ..
    (1 - g_j) is then the probability that l is the last one up to j. That is the softmax over l <= j of
    u_l + sum over m < l of softplus(u_m), with 0 for the first. In the hard limit it is the last token with u_l > 0.
    """
    first = _first(scores)
    scores = scores.masked_fill(first, 0.0)
    steps = F.softplus(scores).masked_fill(first, 0.0)
    return scores + steps.cumsum(-1) - steps


def _present(scores: Float[Tensor, "B H m"], context: Context) -> Float[Tensor, "B H m"]:
    """Return the scores of the last m tokens with -inf on padding; the last position sees all keys that any sees."""
    if context.all_visible:
        return scores
    return scores.masked_fill(~context.visible[:, :, -1, -scores.shape[-1] :], -torch.inf)


def _first(scores: Float[Tensor, "B H k"]) -> Bool[Tensor, "B H k"]:
    """Return which token is the first that is not padding."""
    present = scores > -torch.inf
    return present & (present.cumsum(-1) == 1)


def repeated_penalty(scores: Float[Tensor, "B H k"]) -> Float[Tensor, ""]:
    """Return the mean over tokens of the sum over heads of -log(1 - g) where the token is repeated in its sequence.

    g = sigmoid(score) is the probability that the token is an anchor: a token that stands in several places marks none.
    Padding counts among the tokens unless its score is -inf. Tokens are taken for the same by their scores, so this
    penalty works in a first layer without dropout before it; where the same token has many hidden states, none is
    repeated.
    """
    tokens = (scores[:, 0] > -torch.inf).sum()
    return (repeated(scores.detach()) * F.softplus(scores)).sum() / tokens


def repeated(scores: Float[Tensor, "B H k"]) -> Bool[Tensor, "B 1 k"]:
    """Return which tokens occur elsewhere in their sequence too, by equal scores; a score of -inf does not count."""
    differences = (scores[..., :, None] - scores[..., None, :]).abs().amax(1, keepdim=True)
    return (differences < SAME_TOKEN).sum(-1) > 1


def _later(scores: Tensor, first: int = 0) -> Tensor:
    """Prefer the last of several equal tokens, whose scores differ by rounding, whatever the rounding.

    `first` is the position of the first of them.
    """
    return scores + TIE_BREAK * torch.arange(first, first + scores.shape[-1], device=scores.device)


def _distances_up_to(ranks: Float[Tensor, "B H n"] | Int[Tensor, "B H n"], cache: Cache | None) -> Int[Tensor, "B H n"]:
    """Return how far back from each new position the best rank up to it stands; the cache knows the earlier best."""
    place = torch.arange(ranks.shape[-1], device=ranks.device)
    if cache is None or "best_rank" not in cache:
        best, index = ranks.cummax(-1)
        distances = place - index
    else:
        best, index = (part[..., 1:] for part in torch.cat([cache["best_rank"], ranks], dim=-1).cummax(-1))
        distances = torch.where(index == 0, cache["best_distance"] + place + 1, place + 1 - index)
    if cache is not None:
        cache["best_rank"], cache["best_distance"] = best[..., -1:], distances[..., -1:]
    return distances


def _distances(scores: Float[Tensor, "B H n k"]) -> Int[Tensor, "B H n"]:
    """Return how far back from each new token the best of its scores stands."""
    new, keys = scores.shape[-2:]
    return torch.arange(keys - new, keys, device=scores.device) - _later(scores).argmax(-1)


def natural_distances(tokens: Sequence[str]) -> list[int]:
    """Return how far behind each position its natural anchor stands."""
    distances = [0]
    for token in tokens[1:]:
        distances.append(distances[-1] + 1 if token.isdigit() else 0)
    return distances


def natural_anchor(tokens: Sequence[str], j: int) -> int:
    """Return the anchor that a position can find by content alone: the last token up to j that is no digit."""
    return next((index for index in range(j, -1, -1) if not tokens[index].isdigit()), 0)

"""Latent window: a head attends to the few keys whose latent place is near that of the query, at any length."""

from collections.abc import Hashable, Sequence
from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from ldhd.positions.anchor import RecentAnchor, natural_distances
from ldhd.positions.cache import append, append_rows
from ldhd.positions.context import Cache, Context, Keys, Nearby, Queries
from ldhd.positions.kernels.long_square import is_long, long_square, none_of_last, own_weights
from ldhd.positions.kernels.precision import full_precision
from ldhd.positions.kernels.square import look_up, square
from ldhd.positions.position import Position, Reading
from ldhd.positions.tables import table_scores

BEYOND = 20.0
"""How far the logits of keys outside the window are lowered in a test."""

OPEN = 2**62
"""The end of a segment that has not ended yet."""

ONE_PRODUCT = 32
"""Up to this length one product with every distance is faster than one with those inside the window."""

FAR = 512
"""From this length on, decoding gathers the keys inside the window instead of scoring all keys."""

OUTSIDE = "outside"


class LatentWindow(Position):
    """q_j . R_m for |m| <= `window`, nothing visible beyond, with m = (j - a(j)) - (i - a(i)) as in RPE-Square.

    a(j) is the last anchor up to j (`recent_scores`). With `absolute`, the second half of the heads take
    m = -(i - a(i)) as in RPE-Absolute: the place of the key alone. With `absolute="start"` these heads have the first
    token for their anchor and no other, m = -i: the place in the string. A token that is an anchor belongs to the
    format and is hidden as a key.

    RPE-Square clips: all keys beyond its last row share it, and the longer the instance the more of them there are.
    Here they are hidden. If the delimiters are the anchors, a query sees as many keys at every length, in the
    same classes, and what was learned on short instances is all there is to a long one.

    In a test anchors are hard, and keys outside the window are penalised by `BEYOND`; in decoding they are left out
    where that makes no difference, so that a token costs as much at any length. In the exploratory phase of
    training anchors are soft, and keys outside the window are penalised by a random amount from 0 to `BEYOND`, one for
    each sequence: if they were always hidden, they could not teach the anchors where to be; if they never were, the
    model would rely on them. Anchors that occur several times in their string are penalised with weight `unique`
    (`repeated_penalty`, a term of the loss): digits in that role would make what a head sees grow with the string.
    """

    name = "latent-window"
    title = "Latent window"
    color = "#332288"
    relation_options = ("window", "absolute")
    ignorable = False
    hidden = OUTSIDE
    reads_padding = True  # padding counts in the penalty
    additive = True
    some_queries = True

    def __init__(
        self,
        dimension: int,
        heads: int,
        layer: int = 0,
        *,
        window: int = 1,
        absolute: bool | Literal["start"] = False,
        unique: float = 0.1,
        anchor_scale: float = 4.0,
        table_std: float = 0.02,
    ):
        super().__init__(dimension, heads, layer)
        if window < 1:
            raise ValueError(f"window must be at least 1, got {window}")
        if absolute not in (False, True, "start"):
            raise ValueError(f"absolute must be true, false or start, got {absolute!r}")
        if absolute and heads % 2:
            raise ValueError(f"half of the heads are absolute: their number must be even, got {heads}")
        self.window, self.absolute = window, absolute
        self.anchor = RecentAnchor(
            dimension,
            heads,
            anchor_scale,
            hard="test",
            unique=unique,
            first_token_heads=heads // 2 if absolute == "start" else 0,
        )
        self.table = nn.Parameter(table_std * torch.randn(heads, 2 * window + 1, self.head_dimension))

    def bias(self, q: Queries, k: Keys, context: Context) -> Float[Tensor, "B H q k"] | Nearby:
        anchors, cache = self.anchor(q, k, context), context.cache
        scores = full_precision(table_scores(q, self.table))
        beyond = self._beyond(q, context)
        ends = beyond.expand_as(scores[..., :1])
        scores = torch.cat([ends, scores, ends], dim=-1)
        if anchors.distances is not None:
            every = append(cache, "distances", anchors.distances, -1, anchors.keys)
            own = anchors.distances[..., -q.shape[-2] :]
            if self.absolute:
                own = torch.cat([own[:, : self.heads // 2], torch.zeros_like(own[:, self.heads // 2 :])], dim=1)
            # up to `FAR` tokens to score all keys is faster; elsewhere, to count segments would wait for the device
            if cache is not None and anchors.keys > FAR and q.device.type == "cpu":
                starts, ends = _segments(cache, every, context)
                few = starts.shape[-1] * (2 * self.window + 1) < anchors.keys
                if few and context.negligible() <= BEYOND:
                    return self._nearby(scores[..., 1:-1].to(q.dtype), own, starts, ends.clamp(max=anchors.keys))
            format_keys = (every == 0)[..., None, :]
            return (look_up(scores, own, every) + beyond * format_keys).to(q.dtype)
        if cache is None and is_long(scores, anchors.keys):
            assert anchors.key_scores is not None
            own = own_weights(anchors.key_scores)
            return (self._long(scores, own) + beyond * own[..., None, :]).to(q.dtype)
        every = append_rows(cache, "rows", anchors.rows())
        return (self._soft(scores, every) + beyond * every[..., None, :, -1]).to(q.dtype)

    def _nearby(
        self, scores: Tensor, own: Int[Tensor, "B H 1"], starts: Int[Tensor, "B H s"], ends: Int[Tensor, "B H s"]
    ) -> Nearby:
        """Return the keys inside the window of one query: in each segment those whose place is near its own."""
        places = own + torch.arange(self.window, -self.window - 1, -1, device=own.device)
        index = starts[..., None] + places[..., None, :]
        hidden = (places[..., None, :] < 1) | (index >= ends[..., None])
        return Nearby(
            index.masked_fill(hidden, 0).flatten(-2),
            scores.expand(*index.shape).masked_fill(hidden, -torch.inf).flatten(-2)[..., None, :],
        )

    def _beyond(self, q: Queries, context: Context) -> Float[Tensor, "#B 1 1 1"]:
        """Return what is added to the logits of keys outside the window."""
        if not context.exploring:
            return torch.full((1, 1, 1, 1), -BEYOND, device=q.device)
        share = torch.rand(len(q), 1, 1, 1, generator=context.generator, device=q.device)
        return 1 - (1 + BEYOND) ** share

    def _soft(self, scores: Tensor, every: Float[Tensor, "B #H k k"]) -> Tensor:
        if not self.absolute:
            return square(scores, every)
        (scores, others), (every, seen) = (part.chunk(2, dim=1) for part in (scores, every))
        return torch.cat([square(scores, every), self._by_place(others, seen)], dim=1)

    def _long(self, scores: Tensor, own: Float[Tensor, "B H k"]) -> Tensor:
        """Return what `_soft` returns, in time and memory that grow as n^2."""
        if not self.absolute:
            return long_square(scores, own)
        (scores, others), (own, seen) = (part.chunk(2, dim=1) for part in (scores, own))
        shifted = [F.pad(seen, (m, 0))[..., : seen.shape[-1]] for m in range(self.window + 1)]
        places = torch.stack(shifted, dim=-1) * none_of_last(seen, self.window)  # [i, m]: the key's distance is m
        beyond = others[..., :1]
        near = others[..., 1 : self.window + 2].flip(-1) - beyond
        return torch.cat([long_square(scores, own), beyond + near @ places.mT], dim=1)

    def _by_place(self, scores: Tensor, seen: Float[Tensor, "B #H k k"]) -> Tensor:
        """[j, i] = the sum over distances m of seen[i, m] scores_j(-m); the last column of `seen` is distance 0."""
        keys = seen.shape[-1]
        if keys <= max(ONE_PRODUCT, self.window):
            distances = torch.arange(keys - 1, -1, -1, device=scores.device)
            by_distance = scores.index_select(-1, (self.window + 1 - distances).clamp(min=0))
            return by_distance @ seen.transpose(-1, -2)
        beyond = scores[..., :1]
        near = scores[..., 1 : self.window + 2] - beyond
        inside = near @ seen[..., -self.window - 1 :].transpose(-1, -2)
        return torch.addcmul(inside, beyond, seen.sum(-1)[..., None, :])

    def anchors(self) -> dict[int, nn.Module]:
        return {0: self.anchor}

    def relation(self, tokens: Sequence[str], j: int, i: int) -> Hashable:
        return self.relations(tokens, [j])[0][i]

    def relations(self, tokens: Sequence[str], queries: Sequence[int]) -> list[list[Hashable]]:
        own = natural_distances(tokens)
        places = range(len(tokens)) if self.absolute == "start" else own
        square = [[self._inside(own[j], own[i]) for i in range(j + 1)] for j in queries]
        if not self.absolute:
            return square
        return [[(m, self._inside(0, places[i])) for i, m in enumerate(row)] for row in square]

    def _inside(self, query: int, key: int) -> Hashable:
        """The class of a key, given both places; place 0 is an anchor's."""
        return query - key if key and abs(query - key) <= self.window else OUTSIDE

    def readings(self) -> tuple[Reading, ...]:
        """With `absolute`, a head is of one kind or of the other; those that count from the start have no anchors."""
        if not self.absolute:
            return (Reading(anchored=True),)
        other = Reading(" from the start", 1) if self.absolute == "start" else Reading(", of the key", 1, anchored=True)
        return Reading(component=0, anchored=True), other


def _segments(
    cache: Cache, every: Int[Tensor, "B H k"], context: Context
) -> tuple[Int[Tensor, "B H s"], Int[Tensor, "B H s"]]:
    """Return where the segments of each head start, which is at an anchor, and where they end, up to the new tokens.

    A head that has fewer segments than others has empty ones. `every` holds the distances of all tokens to their
    anchors; those of earlier tokens are read only the first time.
    """
    read = context.new if "starts" in cache else context.keys
    # the last query sees all keys that any sees, so what it does not see is padding
    new = (every[..., -read:] == 0) & context.visible[:, :, -1, -read:]
    count = int(new.sum(-1).amax())
    if count:
        places = torch.arange(context.keys - read, context.keys, device=every.device)
        starts = torch.where(new, places, OPEN).topk(count, largest=False, sorted=True).values
        ends = torch.cat([starts[..., 1:], torch.full_like(starts[..., :1], OPEN)], dim=-1)
        ends = torch.where(starts < OPEN, ends, 0)
        if "starts" in cache:
            before = torch.minimum(cache["ends"], starts[..., :1])
            starts, ends = torch.cat([cache["starts"], starts], dim=-1), torch.cat([before, ends], dim=-1)
        cache["starts"], cache["ends"] = starts, ends
    return cache["starts"], cache["ends"]

"""Latent window: a head attends to the few keys whose latent place is near that of the query, at any length."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from ldhd.positions.anchor import RecentAnchor, natural_distances
from ldhd.positions.cache import append, append_rows
from ldhd.positions.context import Cache, Context, Keys, Nearby, Queries
from ldhd.positions.kernels.long_square import is_long, long_square, none_of_last, own_weights
from ldhd.positions.kernels.next_anchor import mirror, next_distances
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

    With `ends`, the second half of the heads count the places of keys from the other end, m = (j - a(j)) - (b(i) - i)
    with b(i) the first anchor after i, and keys for which it has not come yet are hidden; with `absolute` too, they are
    the third quarter of the heads and the absolute ones the last. With `segments` = s > 0, a head also knows how many
    anchors c stand between: q_j . C_min(c, s - 1) is added, c being the number of anchors after i and up to j.

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
    relation_options = ("window", "absolute", "ends", "segments")
    added_options = ("ends", "segments")
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
        ends: bool = False,
        segments: int = 0,
        unique: float = 0.1,
        anchor_scale: float = 4.0,
        table_std: float = 0.02,
    ):
        super().__init__(dimension, heads, layer)
        if window < 1:
            raise ValueError(f"window must be at least 1, got {window}")
        if absolute not in (False, True, "start"):
            raise ValueError(f"absolute must be true, false or start, got {absolute!r}")
        if segments < 0:
            raise ValueError(f"segments must not be negative, got {segments}")
        if absolute and ends and heads % 4:
            raise ValueError(f"with absolute and ends, the number of heads must be a multiple of 4, got {heads}")
        if absolute and heads % 2:
            raise ValueError(f"half of the heads are absolute: their number must be even, got {heads}")
        if ends and heads % 2:
            raise ValueError(f"half of the heads count from the ends: their number must be even, got {heads}")
        self.window, self.absolute, self.ends, self.segments = window, absolute, ends, segments
        others = heads // 4 if absolute and ends else heads // 2
        from_ends, absolute_heads = others if ends else 0, others if absolute else 0
        self.kinds = (heads - from_ends - absolute_heads, from_ends, absolute_heads)
        """How many heads are of RPE-Square's kind, count from the ends and are absolute, in this order."""
        self.anchor = RecentAnchor(
            dimension,
            heads,
            anchor_scale,
            hard="test",
            unique=unique,
            first_token_heads=absolute_heads if absolute == "start" else 0,
        )
        self.table = nn.Parameter(table_std * torch.randn(heads, 2 * window + 1, self.head_dimension))
        self.segment_table = None
        if segments:
            self.segment_table = nn.Parameter(table_std * torch.randn(heads, segments, self.head_dimension))

    def bias(self, q: Queries, k: Keys, context: Context) -> Float[Tensor, "B H q k"] | Nearby:
        anchors, cache = self.anchor(q, k, context), context.cache
        scores = full_precision(table_scores(q, self.table))
        counts = None if self.segment_table is None else full_precision(table_scores(q, self.segment_table))
        beyond = self._beyond(q, context)
        ends = beyond.expand_as(scores[..., :1])
        scores = torch.cat([ends, scores, ends], dim=-1)
        if anchors.distances is not None:
            every = append(cache, "distances", anchors.distances, -1, anchors.keys)
            own = anchors.distances[..., -q.shape[-2] :]
            # up to `FAR` tokens to score all keys is faster; elsewhere, to count segments would wait for the device
            if cache is not None and anchors.keys > FAR and q.device.type == "cpu":
                starts, ends = _segments(cache, every, context)
                few = starts.shape[-1] * (2 * self.window + 1) < anchors.keys
                # what stands outside the window is lowered by `BEYOND` and raised by its segment
                raised = 0.0 if counts is None else float(counts.amax())
                if few and context.negligible() + raised <= BEYOND:
                    inside, places = scores[..., 1:-1].to(q.dtype), self._own(own)
                    return self._nearby(inside, counts, places, starts, ends, anchors.keys)
            term, is_anchor = self._hard(scores, own, every), every == 0
        else:
            assert anchors.key_scores is not None
            if cache is None and is_long(scores, anchors.keys):
                is_anchor = own_weights(anchors.key_scores)
                term = self._long(scores, is_anchor, anchors.token_scores)
            else:
                every = append_rows(cache, "rows", anchors.rows())
                term, is_anchor = self._soft(scores, every, anchors.token_scores), every[..., -1]
        term = term + beyond * is_anchor[..., None, :]
        if counts is not None:
            term = term + _by_segment(counts, is_anchor)
        return term.to(q.dtype)

    def _own(self, distances: Int[Tensor, "B H q"]) -> Int[Tensor, "B H q"]:
        """Return the places of queries, which are 0 in absolute heads."""
        if not self.absolute:
            return distances
        *others, absolute = distances.split(self.kinds, dim=1)
        return torch.cat([*others, torch.zeros_like(absolute)], dim=1)

    def _hard(
        self, scores: Float[Tensor, "B H q m"], distances: Int[Tensor, "B H q"], every: Int[Tensor, "B H k"]
    ) -> Float[Tensor, "B H q k"]:
        """Return the position term, given the distances of the queries and of all keys to their anchors."""
        if not self.ends:
            return look_up(scores, self._own(distances), every)
        behind, before, absolute = every.split(self.kinds, dim=1)
        term = look_up(scores, self._own(distances), torch.cat([behind, next_distances(before), absolute], dim=1))
        index = torch.arange(every.shape[-1], device=every.device)
        # the anchor after a key has come where the key stands before the anchor of the query
        anchors = index[-scores.shape[-2] :] - distances.split(self.kinds, dim=1)[1]
        to_come = index >= anchors[..., None]
        first, mirrored, last = term.split(self.kinds, dim=1)
        beyond = scores.split(self.kinds, dim=1)[1][..., :1]
        return torch.cat([first, mirrored.where(~to_come, beyond), last], dim=1)

    def _nearby(
        self,
        scores: Tensor,
        counts: Tensor | None,
        own: Int[Tensor, "B H 1"],
        starts: Int[Tensor, "B H s"],
        ends: Int[Tensor, "B H s"],
        keys: int,
    ) -> Nearby:
        """Return the keys inside the window of one query: in each segment those whose place is near its own."""
        places = (own + torch.arange(self.window, -self.window - 1, -1, device=own.device))[..., None, :]
        index = starts[..., None] + places
        hidden = (places < 1) | (index >= ends.clamp(max=keys)[..., None])
        if self.ends:
            kind = slice(self.kinds[0], self.kinds[0] + self.kinds[1])
            start, end = starts[:, kind, :, None], ends[:, kind, :, None]
            mirrored = end - places[:, kind]
            index[:, kind] = mirrored
            hidden[:, kind] = (places[:, kind] < 1) | (mirrored <= start) | (end == OPEN)
        if counts is not None:
            real = (starts < OPEN).long()
            between = (real.flip(-1).cumsum(-1).flip(-1) - real).clamp(max=self.segments - 1)
            scores = scores + counts[..., 0, :].gather(-1, between)[..., None].to(scores.dtype)
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

    def _soft(self, scores: Tensor, every: Float[Tensor, "B #H k k"], token_scores: Tensor | None) -> Tensor:
        if not (self.ends or self.absolute):
            return square(scores, every)
        (behind, before, absolute), rows = scores.split(self.kinds, dim=1), every.split(self.kinds, dim=1)
        parts = [square(behind, rows[0])]
        if self.ends:
            parts.append(self._mirror(before, token_scores))
        if self.absolute:
            parts.append(self._by_place(absolute, rows[2]))
        return torch.cat(parts, dim=1)

    def _long(self, scores: Tensor, own: Float[Tensor, "B H k"], token_scores: Tensor | None) -> Tensor:
        """Return what `_soft` returns, in time and memory that grow as n^2."""
        if not (self.ends or self.absolute):
            return long_square(scores, own)
        (behind, before, absolute), owns = scores.split(self.kinds, dim=1), own.split(self.kinds, dim=1)
        parts = [long_square(behind, owns[0])]
        if self.ends:
            parts.append(self._mirror(before, token_scores))
        if self.absolute:
            seen = owns[2]
            shifted = [F.pad(seen, (m, 0))[..., : seen.shape[-1]] for m in range(self.window + 1)]
            places = torch.stack(shifted, dim=-1) * none_of_last(seen, self.window)  # [i, m]: the key's distance is m
            beyond = absolute[..., :1]
            near = absolute[..., 1 : self.window + 2].flip(-1) - beyond
            parts.append(beyond + near @ places.mT)
        return torch.cat(parts, dim=1)

    def _mirror(self, scores: Tensor, token_scores: Tensor | None) -> Tensor:
        """Return the soft term of the heads that count from the ends, in time and memory that grow as n^2."""
        assert token_scores is not None
        beyond = scores[..., :1]
        return beyond + mirror(scores[..., 1:-1] - beyond, token_scores.split(self.kinds, dim=1)[1])

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
        anchors = list(accumulate(int(distance == 0) for distance in own))
        rows: list[list[Hashable]] = []
        for j in queries:
            between = [min(anchors[j] - anchors[i], self.segments - 1) for i in range(j + 1) if self.segments]
            components = [self._classes(own[j], own[: j + 1], between)]
            if self.ends:
                components.append(self._classes(own[j], _places_from_end(own[: j + 1]), between))
            if self.absolute == "start":  # these heads have one segment
                components.append([self._inside(0, i) for i in range(j + 1)])
            elif self.absolute:
                components.append(self._classes(0, own[: j + 1], between))
            rows.append(components[0] if len(components) == 1 else [*zip(*components, strict=True)])
        return rows

    def _classes(self, query: int, keys: Sequence[int], between: Sequence[int]) -> list[Hashable]:
        found = [self._inside(query, key) for key in keys]
        if not self.segments:
            return found
        return [m if m == OUTSIDE else (m, c) for m, c in zip(found, between, strict=True)]

    def _inside(self, query: int, key: int) -> Hashable:
        """The class of a key, given both places; place 0 is an anchor's."""
        return query - key if key and abs(query - key) <= self.window else OUTSIDE

    def readings(self) -> tuple[Reading, ...]:
        """A head is of one kind; those that count from the first token have no anchors."""
        found = [Reading(anchored=True)]
        if self.ends:
            found.append(Reading(" from the end", anchored=True))
        if self.absolute:
            found.append(
                Reading(" from the start") if self.absolute == "start" else Reading(", of the key", anchored=True)
            )
        if len(found) == 1:
            return tuple(found)
        return tuple(replace(reading, component=component) for component, reading in enumerate(found))


def _places_from_end(distances: Sequence[int]) -> list[int]:
    """Return the distance of each digit to the next anchor, 0 for anchors and where none has come; given `distances`
    to the last anchor."""
    found, after = [0] * len(distances), 0
    for i in reversed(range(len(distances))):
        if distances[i] == 0:
            after = i
        elif after:
            found[i] = after - i
    return found


def _by_segment(counts: Float[Tensor, "B H q s"], is_anchor: Tensor) -> Float[Tensor, "B H q k"]:
    """Return the score of the number of anchors after a key and up to a query, interpolated at its expected value."""
    anchors = is_anchor.to(counts.dtype).cumsum(-1)
    between = anchors[..., -counts.shape[-2] :, None] - anchors[..., None, :]
    steps = counts.diff()
    result = counts[..., :1] - steps @ torch.arange(steps.shape[-1], device=steps.device).to(steps)[:, None]
    for c, step in enumerate(steps.unbind(-1)):
        result = torch.addcmul(result, step[..., None], between.clamp(c, c + 1))
    return result.expand_as(between)


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

"""RPE-Square: the relative distance of relative distances (Section 5.2)."""

from collections.abc import Hashable, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from ldhd.positions.anchor import Anchors, PairScored, natural_anchor, natural_distances
from ldhd.positions.anchored import Anchored
from ldhd.positions.cache import append, append_rows
from ldhd.positions.context import Cache, Context, Keys, Queries
from ldhd.positions.kernels.key_square import keep, keep_next, key_square_row
from ldhd.positions.kernels.long_square import is_long, long_square, own_weights
from ldhd.positions.kernels.square import LARGEST_SHIFT, hard_square, look_up, square, square_scores


class RPESquare(Anchored):
    """q_j . (k_i + sum over l <= j, k <= i of S[j, l] S[i, k] R_{(j-l)-(i-k)}), S the weights of the anchors.

    The paper prints the sums as k <= j and l <= i; its normalisers and its prose need l <= j and k <= i. R has a
    row for each difference from -`max_distance` to `max_distance`; larger ones take the end rows, so that every
    row that a long instance uses was trained on short ones.
    """

    name = "rpe-square"
    title = "RPE-Square"
    color = "#0072B2"

    @staticmethod
    def rows(max_distance: int) -> int:
        return 2 * max_distance + 1

    @property
    def needs_pairs(self) -> bool:
        return isinstance(self.anchor, PairScored) or not (self.anchor.hard or self.max_distance <= LARGEST_SHIFT)

    def bias(self, q: Queries, k: Keys, context: Context) -> Float[Tensor, "B H q k"]:
        anchors, cache = self.anchor(q, k, context), context.cache
        scores = square_scores(q, self.table, k.shape[-2])
        if anchors.distances is not None:
            term = self._hard(scores, anchors, cache)
        elif cache is not None and self._by_recurrence(anchors):
            term = self._kept(scores, anchors, cache)
        else:
            term = self._at_once(scores, anchors, cache)
        return term.to(q.dtype)

    def _by_recurrence(self, anchors: Anchors) -> bool:
        """Whether the term follows the diagonals, as `long_square` describes."""
        return anchors.key_scores is not None and self.max_distance <= LARGEST_SHIFT

    def _at_once(self, scores: Tensor, anchors: Anchors, cache: Cache | None) -> Tensor:
        if self._by_recurrence(anchors) and is_long(scores, anchors.keys):
            assert anchors.key_scores is not None
            return long_square(scores, own_weights(anchors.key_scores))
        return square(scores, append_rows(cache, "rows", anchors.rows()))

    def _kept(self, scores: Tensor, anchors: Anchors, cache: Cache) -> Tensor:
        """Compute terms in decoding, where w + 1 rows are kept of the positions so far."""
        assert anchors.key_scores is not None
        new, keys, queries, w = anchors.new, anchors.keys, scores.shape[-2], scores.shape[-1] // 2
        if new == keys:
            keep(cache, anchors.key_scores, w)
            if queries > 1:
                return self._at_once(scores, anchors, None)
            return key_square_row(cache, scores[..., -1, :], keys)[..., None, :]
        terms = []
        for seen in range(keys - new + 1, keys + 1):
            keep_next(cache, anchors.key_scores[..., seen - 1], w, seen)
            if seen > keys - queries:
                row = key_square_row(cache, scores[..., seen - 1 - keys, :], seen)
                terms.append(F.pad(row, (0, keys - seen)) if seen < keys else row)
        return torch.stack(terms, dim=-2)

    def _hard(self, scores: Tensor, anchors: Anchors, cache: Cache | None) -> Tensor:
        assert anchors.distances is not None
        if torch.is_grad_enabled() and cache is None:
            return hard_square(scores, anchors.distances, anchors.rows())
        own = anchors.distances[..., -scores.shape[-2] :]
        return look_up(scores, own, append(cache, "distances", anchors.distances, -1, anchors.keys))

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        return self._clip((j - natural_anchor(tokens, j)) - (i - natural_anchor(tokens, i)))

    def relations(self, tokens: Sequence[str], queries: Sequence[int]) -> list[list[Hashable]]:
        own = natural_distances(tokens)
        return [[self._clip(own[j] - own[i]) for i in range(j + 1)] for j in queries]

    def _clip(self, difference: int) -> int:
        return max(-self.max_distance, min(self.max_distance, difference))

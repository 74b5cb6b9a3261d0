"""RPE-Square: the relative distance of relative distances (Section 5.2)."""

from collections.abc import Sequence

from jaxtyping import Bool, Float
from torch import Tensor

from ldhd.positions.anchor import natural_anchor
from ldhd.positions.anchored import Anchored, all_rows
from ldhd.positions.functional import by_distance, rpe_square_queries
from ldhd.positions.position import Cache


class RPESquare(Anchored):
    """q_j . (k_i + sum over l <= j, k <= i of S[j, l] S[i, k] R_{(j-l)-(i-k)}), S the weights of the anchors.

    The paper prints the sums as k <= j and l <= i; its normalisers and its prose need l <= j and k <= i. R has a
    row for each difference from -`max_distance` to `max_distance`; larger ones take the end rows, so that every
    row that a long instance uses was trained on short ones.
    """

    @staticmethod
    def rows(max_distance: int) -> int:
        return 2 * max_distance + 1

    def bias(
        self,
        q: Float[Tensor, "B H q d"],
        k: Float[Tensor, "B H k d"],
        hidden: Float[Tensor, "B q D"],
        visible: Bool[Tensor, "#B 1 q k"],
        cache: Cache | None,
    ) -> Float[Tensor, "B H q k"]:
        distances = by_distance(self.anchor(q, k, hidden, visible, cache))
        return rpe_square_queries(q, distances, self.table) @ all_rows(distances, cache).transpose(-1, -2)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        difference = (j - natural_anchor(tokens, j)) - (i - natural_anchor(tokens, i))
        return max(-self.max_distance, min(self.max_distance, difference))

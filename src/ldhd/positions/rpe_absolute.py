"""RPE-Absolute: the distance of a key to its anchor (Appendix E.2)."""

from collections.abc import Hashable, Sequence

from jaxtyping import Float
from torch import Tensor

from ldhd.positions.anchor import natural_anchor, natural_distances
from ldhd.positions.anchored import Anchored
from ldhd.positions.cache import append
from ldhd.positions.context import Context, Keys, Queries
from ldhd.positions.kernels.aligned import absolute_keys


class RPEAbsolute(Anchored):
    """q_j . (k_i + sum over k <= i of S[i, k] R_{i-k}), S the weights of the anchors.

    The term depends on the key's position only; the query enters through q_j. R has a row for each distance up
    to `max_distance`, the last row beyond.
    """

    name = "rpe-absolute"
    title = "RPE-Absolute"
    color = "#009E73"

    @staticmethod
    def rows(max_distance: int) -> int:
        return max_distance + 1

    def bias(self, q: Queries, k: Keys, context: Context) -> Float[Tensor, "B H q k"]:
        rows = self.anchor(q, k, context).used()
        keys = append(context.cache, "position_keys", absolute_keys(rows, self.table), -2, k.shape[-2])
        return q @ keys.transpose(-1, -2)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        return min(i - natural_anchor(tokens, i), self.max_distance)

    def relations(self, tokens: Sequence[str], queries: Sequence[int]) -> list[list[Hashable]]:
        keys = [min(distance, self.max_distance) for distance in natural_distances(tokens)]
        return [[*keys[: j + 1]] for j in queries]

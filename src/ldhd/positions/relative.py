"""What ALiBi, RPE and FIRE share: a term of the logits that needs only the positions of query and key."""

from abc import abstractmethod

from jaxtyping import Float, Int
from torch import Tensor

from ldhd.positions.context import Context, Keys, Queries, key_positions
from ldhd.positions.position import Position


class Relative(Position):
    """An embedding that can be asked for its term at any rising positions, not only at 0, 1, 2, ..."""

    additive = True
    some_queries = True

    @abstractmethod
    def bias_at(self, q: Queries, queries: Int[Tensor, "#B q"], keys: Int[Tensor, "#B k"]) -> Float[Tensor, "#B H q k"]:
        """Return `bias` for queries and keys at these positions; anything finite where a key stands later."""

    def bias(self, q: Queries, k: Keys, context: Context) -> Float[Tensor, "#B H q k"]:
        keys = key_positions(context.visible)
        return self.bias_at(q, keys[:, -q.shape[-2] :], keys)

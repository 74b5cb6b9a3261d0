"""What ALiBi, RPE and FIRE share: a term of the logits that needs the positions of query and key alone."""

from abc import abstractmethod

from jaxtyping import Bool, Float, Int
from torch import Tensor

from ldhd.positions.position import Cache, Position


class Relative(Position):
    """An embedding that can be asked for its term at any rising positions, not only at 0, 1, 2, ..."""

    additive = True

    @abstractmethod
    def bias_at(
        self, q: Float[Tensor, "B H q d"], queries: Int[Tensor, "#B q"], keys: Int[Tensor, "#B k"]
    ) -> Float[Tensor, "#B H q k"]:
        """`bias` where queries and keys stand at these positions; anything finite where a key stands later."""

    def bias(
        self,
        q: Float[Tensor, "B H q d"],
        k: Float[Tensor, "B H k d"],
        hidden: Float[Tensor, "B q D"],
        visible: Bool[Tensor, "#B 1 q k"],
        cache: Cache | None,
    ) -> Float[Tensor, "#B H q k"]:
        keys = key_positions(visible)
        return self.bias_at(q, keys[:, -q.shape[-2] :], keys)


def key_positions(visible: Bool[Tensor, "#B 1 q k"]) -> Int[Tensor, "#B k"]:
    """The position of each key, counted from 0 among the keys that are no padding."""
    return (visible[:, 0, -1].cumsum(-1) - 1).clamp(min=0)

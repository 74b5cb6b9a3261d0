"""What every position embedding can do: three hooks of the attention, and the class of a pair of positions."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import ClassVar

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ldhd.positions.cache import Cache


class Position(nn.Module, ABC):
    """One layer's position embedding. An embedding overrides the hooks it needs; the others change nothing.

    A model holds one for each layer and calls `embed` of the first. In incremental decoding the hooks see the
    new tokens only and keep what they need of the earlier ones in `cache`, a dict of their own.
    Valid tokens are contiguous in each row: padding stands on the left, on the right, or on both sides, so the
    difference of two indices is the distance of two valid tokens.
    """

    additive: ClassVar[bool] = False
    """Whether it only adds, to the logits or to the token embeddings, so that it can be one term of a sum."""

    falling: ClassVar[bool] = False
    """Whether its scores are fixed and fall as the relation grows, so that nothing about it is learned."""

    def __init__(self, dimension: int, heads: int, layer: int = 0):
        super().__init__()
        if heads < 1 or dimension % heads:
            raise ValueError(f"dimension {dimension} is not a multiple of heads {heads}")
        self.dimension, self.heads, self.layer = dimension, heads, layer
        self.head_dimension = dimension // heads

    def check_fits(self, tokens: Sequence[str], training: bool) -> None:
        """Raise a ValueError if it cannot place all tokens of this string, in training or in a test."""

    def embed(
        self,
        tokens: Int[Tensor, "B q"],
        positions: Int[Tensor, "B q"],
        valid: Bool[Tensor, "B q"],
        cache: Cache | None,
    ) -> Float[Tensor, "B q D"] | float:
        """What is added to the token embeddings. `positions` count valid tokens from 0."""
        return 0.0

    def rotate(
        self, q: Float[Tensor, "B H q d"], k: Float[Tensor, "B H q d"], positions: Int[Tensor, "B q"]
    ) -> tuple[Float[Tensor, "B H q d2"], Float[Tensor, "B H q d2"]]:
        """Queries and keys, transformed by their positions; the head dimension may grow."""
        return q, k

    def bias(
        self,
        q: Float[Tensor, "B H q d"],
        k: Float[Tensor, "B H k d"],
        hidden: Float[Tensor, "B q D"],
        visible: Bool[Tensor, "#B 1 q k"],
        cache: Cache | None,
    ) -> Float[Tensor, "#B H q k"] | float:
        """What is added to q.k before the division by the square root of the head dimension.

        `hidden` is what the attention's projections read; `k` holds the cached keys too. Entries that are not
        visible may hold anything finite.
        """
        return 0.0

    @abstractmethod
    def relation(self, tokens: Sequence[str], j: int, i: int) -> Hashable:
        """The class of query position j and key position i in a string: pairs it cannot tell apart share one."""

    def relations(self, tokens: Sequence[str], queries: Sequence[int]) -> list[list[Hashable]]:
        """The relation of each query to the keys up to it, all at once where that is faster."""
        return [[self.relation(tokens, j, i) for i in range(j + 1)] for j in queries]

    def training_relations(self, tokens: Sequence[str], j: int, i: int) -> tuple[Hashable, ...]:
        """The classes a pair has in training, one for each random choice made there, the same choice for all pairs."""
        return (self.relation(tokens, j, i),)

"""What every position embedding can do: three hooks of the attention, and the class of a pair of positions."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from jaxtyping import Float, Int
from torch import Tensor, nn

from ldhd.positions.context import Context, Keys, Nearby, Queries

TABLE_STD = 0.02
"""Standard deviation of the initial tables that are added to token embeddings, unless a model has one of its own."""


@dataclass(frozen=True)
class Reading:
    """One way in which an attention head can use the relation of an embedding."""

    suffix: str = ""
    """Appended to the name of the embedding's class when the reading is described."""
    component: int | None = None
    """The component of the relation that the head uses, None for the whole of it."""
    anchored: bool = False
    """Whether the head learns which delimiters are anchors, so that any of them may be none."""


class Position(nn.Module, ABC):
    """One layer's position embedding. An embedding overrides the hooks it needs; the others change nothing.

    A model holds one for each layer and calls `embed` of the first. Queries are divided by the square root of the head
    dimension before they reach the hooks, so that `bias` adds to the final logits. In incremental decoding the hooks
    see the new tokens only and keep what they need of the earlier ones in `context.cache`. Random numbers come from
    `context.generator`, and only while `context.exploring`. No hook looks at the values of a tensor to decide what to
    do, so that nothing waits for the device, except where `context.negligible` is asked for in decoding.
    Valid tokens are contiguous in each row: padding stands on the left, on the right, or on both sides, so the
    difference of two indices is the distance of two valid tokens.
    """

    name: ClassVar[str] = ""
    """The embedding's key in `POSITIONS`. Embeddings of users have none and need none."""

    title: ClassVar[str] = ""
    """The name under which its paper introduces it, for figures."""

    color: ClassVar[str] = "#7F7F7F"
    """Its color in every figure."""

    relation_options: ClassVar[tuple[str, ...] | None] = None
    """The options on which `relation` and `training_relations` depend, None for all of them."""

    distance_limits: ClassVar[tuple[str, ...]] = ()
    """Options that clip distances at their value, so that all values which no distance reaches are equivalent."""

    enumerable: ClassVar[bool] = True
    """Whether `relation` and `training_relations` list everything the embedding can do, so that predictions are
    exact."""

    ignorable: ClassVar[bool] = True
    """Whether a head can learn to ignore it; it cannot where scores are fixed (`falling`)."""

    additive: ClassVar[bool] = False
    """Whether it only adds, to the logits or to the token embeddings, so that it can be one term of a sum."""

    by_distance: ClassVar[bool] = False
    """Whether the relation depends on the distance of query and key alone; a class with another relation says so
    itself."""

    falling: ClassVar[bool] = False
    """Whether its scores are fixed and fall as the relation grows, so that nothing about it is learned."""

    hidden: ClassVar[Hashable] = None
    """The relation of keys that a query cannot see; None if it sees all of them."""

    reads_padding: bool = False
    """Whether training depends on how a batch is padded, as it does where padding counts among the random draws or in
    a penalty; such batches are not packed."""

    some_queries: bool = False
    """Whether `bias` takes the queries of the last new tokens alone, while the context describes all new tokens."""

    redraws: bool = False
    """Whether tests draw positions that depend on the length, so that decoding can keep nothing of earlier tokens."""

    added_options: ClassVar[tuple[str, ...]] = ()
    """Options that it did not have when the first runs were stored; they are left out of configs, and so of hashes,
    where they have their defaults."""

    removed_options: ClassVar[tuple[str, ...]] = ()
    """Options that it once had, with the value None in every stored config; they are part of the hash."""

    def initialise(self, std: float) -> None:
        """Give tables that are added to the token embeddings the standard deviation of a model's initial weights.

        A model calls it once for the embedding of its first layer. Without that call it is `TABLE_STD`.
        """

    @classmethod
    def current_options(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return stored options without those that were removed since, which are None wherever they are stored."""
        return {name: value for name, value in options.items() if name not in cls.removed_options or value is not None}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "relation" in vars(cls) and "by_distance" not in vars(cls):
            cls.by_distance = False

    def __init__(self, dimension: int, heads: int, layer: int = 0):
        super().__init__()
        if heads < 1 or dimension % heads:
            raise ValueError(f"dimension {dimension} is not a multiple of heads {heads}")
        self.dimension, self.heads, self.layer = dimension, heads, layer
        self.head_dimension = dimension // heads

    def check_fits(self, tokens: Sequence[str], training: bool) -> None:
        """Raise a ValueError if it cannot place all tokens of this string, in training or in a test."""

    @property
    def needs_pairs(self) -> bool:
        """Whether decoding keeps, or needs while it reads a prompt, a number for each pair of tokens."""
        return False

    def anchors(self) -> dict[int, nn.Module]:
        """Return the modules that find its anchors, by the term of a sum they belong to."""
        return {}

    def embed(self, tokens: Int[Tensor, "B q"], context: Context) -> Float[Tensor, "B q D"] | float:
        """Return what is added to the token embeddings."""
        return 0.0

    def rotate(
        self, q: Float[Tensor, "B H q d"], k: Float[Tensor, "B H q d"], context: Context
    ) -> tuple[Float[Tensor, "B H q d2"], Float[Tensor, "B H q d2"]]:
        """Return queries and keys of the new tokens, transformed by their positions; the head dimension may grow."""
        return q, k

    def bias(self, q: Queries, k: Keys, context: Context) -> Float[Tensor, "#B H q k"] | Nearby | float:
        """Return what is added to the logits q.k, where q is divided by the square root of the head dimension.

        `k` holds the cached keys too. Entries that are not visible may hold anything finite. An embedding that
        lowers all but a few of them by `context.negligible` may return these few alone.
        """
        return 0.0

    @abstractmethod
    def relation(self, tokens: Sequence[str], j: int, i: int) -> Hashable:
        """Return the class of query position j and key position i; pairs that it cannot tell apart share one."""

    def relations(self, tokens: Sequence[str], queries: Sequence[int]) -> list[list[Hashable]]:
        """Return the relation of each query to every key up to it; override it where that is faster all at once."""
        if self.by_distance:
            found = [self.relation(tokens, distance, 0) for distance in range(1 + max(queries, default=-1))]
            return [found[j::-1] for j in queries]
        return [[self.relation(tokens, j, i) for i in range(j + 1)] for j in queries]

    def training_relations(self, tokens: Sequence[str], j: int, i: int) -> tuple[Hashable, ...]:
        """Return the classes of a pair in training, one for each random choice that is made for a whole string."""
        return (self.relation(tokens, j, i),)

    def relations_in_training(self, tokens: Sequence[str], queries: Sequence[int]) -> list[list[list[Hashable]]]:
        """Return what `relations` does once for each random choice; override it where that is faster all at once."""
        rows = [[self.training_relations(tokens, j, i) for i in range(j + 1)] for j in queries]
        return [[[pair[k] for pair in row] for row in rows] for k in range(len(rows[0][0]))]

    def summands(self) -> Sequence["Position"]:
        """Return the embeddings of which this is the sum."""
        return (self,)

    def readings(self) -> tuple[Reading, ...]:
        """Return the ways in which one head can use the relation, the most informative first; none if it is None.

        A relation that is a pair describes the query and the key, and a head can use what describes the key alone.
        """
        sample = self.relation("b0", 1, 1)
        if sample is None:
            return ()
        if isinstance(sample, tuple) and len(sample) == 2:
            return Reading(), Reading(" of the key", component=1)
        return (Reading(),)

    @classmethod
    def relation_settings(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of the options on which the relations depend."""
        return {k: v for k, v in options.items() if cls.relation_options is None or k in cls.relation_options}

    @classmethod
    def equivalent_settings(cls, settings: Mapping[str, Any], length: int) -> dict[str, Any]:
        """Return one representative of all `relation_settings` with the same relations on so long a string."""
        return {k: min(v, length) if k in cls.distance_limits else v for k, v in settings.items()}

"""An embedding made to measure: it tells a few values of one distance within numbers apart, and nothing else."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ldhd.positions.cache import append
from ldhd.positions.context import Context, Keys, Queries
from ldhd.positions.position import Position
from ldhd.positions.tables import table_scores

TOKENS = "0123456789be=+*\\"
"""The token of each id. Other ids are padding, which is no digit."""
DIGITS = 10

OTHER = "other"
"""The class of all values that are not kept."""

BEYOND = 20.0
"""How far the logits of hidden keys are lowered."""


@dataclass(frozen=True)
class Measure:
    """The distance of a position to the delimiter before or after its number, where that is one of `tokens`."""

    tokens: str
    right: bool = False

    def values(self, text: str) -> list[int | None]:
        """Return the distance of each token; None where another delimiter is nearer on that side."""
        found: list[int | None] = []
        distance: int | None = None
        for token in reversed(text) if self.right else text:
            if not token.isdigit():
                distance = 0 if token in self.tokens else None
            elif distance is not None:
                distance += 1
            found.append(distance)
        return found[::-1] if self.right else found

    def nearest(self, tokens: Int[Tensor, "B k"]) -> tuple[Int[Tensor, "B k"], Bool[Tensor, "B k"]]:
        """Return the index of the nearest delimiter on that side, and whether it is one of `tokens`."""
        keys = tokens.shape[1]
        index = torch.arange(keys, device=tokens.device).expand_as(tokens)
        if self.right:
            found = index.where(tokens >= DIGITS, keys).flip(1).cummin(1).values.flip(1)
        else:
            found = index.where(tokens >= DIGITS, -1).cummax(1).values
        own = torch.tensor([TOKENS.index(token) for token in self.tokens], device=tokens.device)
        there = tokens.gather(1, found.clamp(0, keys - 1))
        return found, torch.isin(there, own) & (found >= 0) & (found < keys)

    def __str__(self) -> str:
        named = " or ".join(f"`{token}`" for token in self.tokens)
        return f"the distance to the {named} {'after' if self.right else 'before'} it"


@dataclass(frozen=True)
class Rule:
    """A relation that has a name: of the key alone, of query minus key, of their distance, or of nothing."""

    key: Measure | None = None
    query: Measure | None = None
    distance: bool = False

    def relations(self, text: str) -> list[Hashable]:
        """Return the value for the last token as the query and each token as the key."""
        if self.distance:
            return list(reversed(range(len(text))))
        if self.key is None:
            return [0] * len(text)
        keys = self.key.values(text)
        if self.query is None:
            return list(keys)
        own = self.query.values(text)[-1]
        return [None if own is None or key is None else own - key for key in keys]

    def values(
        self, tokens: Int[Tensor, "B k"], queries: int
    ) -> tuple[Int[Tensor, "#B #q k"], Bool[Tensor, "#B #q k"]]:
        """Return the value for each of the last `queries` tokens and each key, and whether there is one."""
        index = torch.arange(tokens.shape[1], device=tokens.device)
        query = index[-queries:, None]
        if self.distance or self.key is None:
            value = (query - index if self.distance else torch.zeros_like(index)[None])[None]
            return value, torch.ones_like(value, dtype=torch.bool)
        nearest, known = (found[:, None] for found in self.key.nearest(tokens))
        value, known = (index - nearest).abs(), known & (nearest <= query)
        if self.query is not None:
            own, own_known = (found[:, -queries:, None] for found in self.query.nearest(tokens))
            value, known = query - own - value, known & own_known
        return value, known

    def __str__(self) -> str:
        if self.distance:
            return "the distance of query and key"
        if self.key is None:
            return "content alone"
        if self.query is None:
            return f"{self.key}, of the key"
        return f"{self.query}, of the query, minus {self.key}, of the key"


class Measured(Position):
    """q_j . R_c, where c says which of the values in `kept` the `rule` has for query j and key i, or that it has none.

    R is learned for each head. A subclass names the rule and the values, as `ldhd design` does for a task that no other
    embedding carries. With `hides`, keys of any other value are hidden, as outside a window.
    """

    rule: ClassVar[Rule]
    kept: ClassVar[tuple[int, ...]]
    hides: ClassVar[bool] = False
    additive = True
    some_queries = True

    def __init__(self, dimension: int, heads: int, layer: int = 0):
        super().__init__(dimension, heads, layer)
        self.table = nn.Parameter(0.02 * torch.randn(heads, 1 + len(self.kept), self.head_dimension))

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.hides:
            cls.hidden, cls.ignorable = OTHER, False

    def bias(self, q: Queries, k: Keys, context: Context) -> Float[Tensor, "B H q k"]:
        if context.tokens is None:
            raise ValueError(f"{type(self).__name__} measures distances between tokens, which this model does not tell")
        tokens = append(context.cache, "tokens", context.tokens, 1, context.keys)
        value, known = self.rule.values(tokens, q.shape[-2])
        which = sum(
            (number * (value == kept).long() for number, kept in enumerate(self.kept, 1)), torch.zeros_like(value)
        )
        which = (which * known)[:, None].expand(len(q), self.heads, q.shape[-2], k.shape[-2])
        scores = table_scores(q, self.table)
        if self.hides:
            scores = torch.cat([torch.full_like(scores[..., :1], -BEYOND), scores[..., 1:]], dim=-1)
        return scores.gather(-1, which)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> Hashable:
        return self.relations(tokens, [j])[0][i]

    def relations(self, tokens: Sequence[str], queries: Sequence[int]) -> list[list[Hashable]]:
        # no distance may refer to a token after the query, which is not written yet
        rows = [self.rule.relations("".join(tokens[: j + 1])) for j in queries]
        return [[value if value in self.kept else OTHER for value in row] for row in rows]

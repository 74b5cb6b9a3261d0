"""Several embeddings at once, such as `rpe-square+rpe-absolute`."""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from jaxtyping import Float, Int
from torch import Tensor, nn

from ldhd.positions.context import Cache, Context, Keys, Nearby, Queries
from ldhd.positions.position import Position


class Sum(Position):
    """The sum of what its terms add to the logits and to the token embeddings; terms that rotate cannot be summed."""

    additive = True

    def __init__(self, terms: Sequence[Position]):
        super().__init__(terms[0].dimension, terms[0].heads, terms[0].layer)
        for term in terms:
            if not term.additive:
                raise ValueError(f"{type(term).__name__} does not only add and cannot be one term of a sum")
        self.terms = nn.ModuleList(terms)
        self.some_queries = all(term.some_queries for term in terms)
        self.redraws = any(term.redraws for term in terms)
        self.reads_padding = any(term.reads_padding for term in terms)

    @property
    def needs_pairs(self) -> bool:
        return any(term.needs_pairs for term, _ in self._each(None))

    def initialise(self, std: float) -> None:
        for term, _ in self._each(None):
            term.initialise(std)

    def check_fits(self, tokens: Sequence[str], training: bool) -> None:
        for term, _ in self._each(None):
            term.check_fits(tokens, training)

    def anchors(self) -> dict[int, nn.Module]:
        found = enumerate(term for term, _ in self._each(None))
        return {index: module for index, term in found for module in term.anchors().values()}

    def embed(self, tokens: Int[Tensor, "B q"], context: Context) -> Float[Tensor, "B q D"] | float:
        total: Tensor | float = 0.0
        for term, own in self._each(context.cache):
            total = total + term.embed(tokens, replace(context, cache=own))
        return total

    def bias(self, q: Queries, k: Keys, context: Context) -> Float[Tensor, "#B H q k"] | float:
        total: Tensor | float = 0.0
        for term, own in self._each(context.cache):
            found = term.bias(q, k, replace(context, cache=own, negligible=lambda: math.inf))
            assert not isinstance(found, Nearby)
            total = total + found
        return total

    def relation(self, tokens: Sequence[str], j: int, i: int) -> Hashable:
        return tuple(term.relation(tokens, j, i) for term, _ in self._each(None))

    def summands(self) -> list[Position]:
        return [term for term, _ in self._each(None)]

    def training_relations(self, tokens: Sequence[str], j: int, i: int) -> tuple[Hashable, ...]:
        """Each choice of a term that makes one, with every choice of the others."""
        return tuple(product(*(term.training_relations(tokens, j, i) for term, _ in self._each(None))))

    def _each(self, cache: Cache | None) -> Iterator[tuple[Position, Cache | None]]:
        """Each term with its own part of the cache, whose names start with the term's index."""
        for index, term in enumerate(self.terms):
            assert isinstance(term, Position)
            if cache is None:
                yield term, None
                continue
            own = {name.split(".", 1)[1]: value for name, value in cache.items() if name.startswith(f"{index}.")}
            yield term, own
            cache.update({f"{index}.{name}": value for name, value in own.items()})

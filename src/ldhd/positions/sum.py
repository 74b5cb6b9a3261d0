"""Several logit terms at once, such as `rpe-square+rpe-absolute`."""

from collections.abc import Hashable, Sequence

from jaxtyping import Bool, Float
from torch import Tensor, nn

from ldhd.positions.position import Cache, Position


class Sum(Position):
    """The sum of the terms' logits; only embeddings that do nothing but add to the logits can be summed."""

    additive = True

    def __init__(self, terms: Sequence[Position]):
        super().__init__(terms[0].dimension, terms[0].heads, terms[0].layer)
        for term in terms:
            if not term.additive:
                raise ValueError(f"{type(term).__name__} is no logit term and cannot be added to others")
        self.terms = nn.ModuleList(terms)

    def bias(
        self,
        q: Float[Tensor, "B H q d"],
        k: Float[Tensor, "B H k d"],
        hidden: Float[Tensor, "B q D"],
        visible: Bool[Tensor, "#B 1 q k"],
        cache: Cache | None,
    ) -> Float[Tensor, "#B H q k"] | float:
        total: Tensor | float = 0.0
        for index, term in enumerate(self.terms):
            assert isinstance(term, Position)
            total = total + _with_cache(term, index, q, k, hidden, visible, cache)
        return total

    def relation(self, tokens: Sequence[str], j: int, i: int) -> Hashable:
        return tuple(term.relation(tokens, j, i) for term in self.terms if isinstance(term, Position))


def _with_cache(
    term: Position, index: int, q: Tensor, k: Tensor, hidden: Tensor, visible: Tensor, cache: Cache | None
) -> Tensor | float:
    """The term's logits, its part of the shared cache told apart by its index."""
    if cache is None:
        return term.bias(q, k, hidden, visible, None)
    own = {name.split(".", 1)[1]: value for name, value in cache.items() if name.startswith(f"{index}.")}
    bias = term.bias(q, k, hidden, visible, own)
    cache.update({f"{index}.{name}": value for name, value in own.items()})
    return bias

"""What one attention head can know of two positions: the relation of an embedding, or a part of it.

A head can ignore a term of a sum, and position altogether, unless the embedding says otherwise (`Position.ignorable`):
the scores of ALiBi are fixed, and a latent window hides keys. It can use the parts of a relation that the embedding
lists (`Position.readings`), and where it learns its anchors, any choice of delimiters as anchors.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product

from ldhd.positions import Position


@dataclass(frozen=True)
class ViewPart:
    """A relation that a head can use: that of one term or a component of it, with some delimiters as anchors."""

    name: str
    term: Position
    masked: str = ""
    """Delimiters that are no anchors; the relation reads digits in their place."""
    component: int | None = None

    def classes(self, text: str, queries: Sequence[int], training: bool) -> list[list[list[Hashable]]]:
        """Return the class of each query with each key up to it, once for every random choice that training makes."""
        text = text.translate({ord(token): "0" for token in self.masked})
        if training and choices(self.term) > 1:
            found = self.term.relations_in_training(text, queries)
        else:
            found = [self.term.relations(text, queries)]
        k = self.component
        if k is None:
            return found
        return [
            [[value[k] if isinstance(value, tuple) and k < len(value) else value for value in row] for row in rows]
            for rows in found
        ]


View = tuple[ViewPart, ...]
"""The parts that one head uses together; without any, it attends by content alone."""


def views(position: Position, delimiters: Sequence[str]) -> list[View]:
    """Return all views that a head with this embedding can have, those with the most parts first."""
    parts = (_parts(term, delimiters) for term in position.summands())
    found = [tuple(part for part in chosen if part is not None) for chosen in product(*parts)]
    return sorted(found, key=len, reverse=True)


def choices(term: Position) -> int:
    """Return the number of random choices that training makes between."""
    return len(term.training_relations("b0", 1, 1))


def _parts(term: Position, delimiters: Sequence[str]) -> Iterator[ViewPart | None]:
    """Yield the parts of one term that a head can use; None where it can ignore the term."""
    readings, kind = term.readings(), type(term).__name__
    others = [token for token in delimiters if token != "b"]  # `b` stands first and is the anchor of what has no other
    for reading in readings:
        if not reading.anchored:
            yield ViewPart(f"{kind}{reading.suffix}", term, component=reading.component)
            continue
        for masked in chain.from_iterable(combinations(others, count) for count in range(len(others) + 1)):
            kept = " ".join(token for token in delimiters if token not in masked)
            yield ViewPart(f"{kind} from {kept}{reading.suffix}", term, "".join(masked), reading.component)
    if (term.ignorable and not term.falling) or not readings:
        yield None

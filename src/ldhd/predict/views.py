"""What one head can know of two positions: the relation of an embedding, or any part of it.

A head may ignore a term of a sum, or one of the two numbers of a class such as (j, i); it may ignore position
altogether. The anchors of RPE-Square, RPE-Absolute and the latent window are learned by each head, so it may choose
which delimiters are anchors; a window cannot be ignored, and a head of it is of one kind or the other. Scores that are
fixed (ALiBi) cannot be ignored.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from ldhd.positions import LatentWindow, Position, Sum
from ldhd.positions.anchored import Anchored


@dataclass(frozen=True)
class Part:
    """A relation within reach of a head: of one term, with some delimiters as anchors, perhaps one number of it."""

    name: str
    term: Position
    masked: str = ""
    """Delimiters that are no anchors, hidden from the relation as if they were digits."""
    component: int | None = None

    def classes(self, text: str, queries: Sequence[int], training: bool) -> list[list[list[Hashable]]]:
        """For each random choice of training, or once, the class of each query and each key up to it."""
        text = text.translate({ord(token): "0" for token in self.masked})
        if training and choices(self.term) > 1:
            rows = [[self.term.training_relations(text, j, i) for i in range(j + 1)] for j in queries]
            found = [[[pair[k] for pair in row] for row in rows] for k in range(choices(self.term))]
        else:
            found = [self.term.relations(text, queries)]
        if self.component is None:
            return found
        return [[[_component(c, self.component) for c in row] for row in rows] for rows in found]


@dataclass(frozen=True)
class View:
    """The parts one head uses together; none of them: content alone."""

    parts: tuple[Part, ...]

    @property
    def name(self) -> str:
        return " and ".join(part.name for part in self.parts) or "content alone"


def views(position: Position, delimiters: Sequence[str]) -> list[View]:
    """Everything a head with this embedding can know, the most first."""
    choices = [_choices(term, delimiters) for term in terms(position)]
    found = [View(tuple(part for part in chosen if part is not None)) for chosen in product(*choices)]
    return sorted(found, key=lambda view: -len(view.parts))


def choices(term: Position) -> int:
    """How many random choices training makes between."""
    return len(term.training_relations("b0", 1, 1))


def terms(position: Position) -> list[Position]:
    if not isinstance(position, Sum):
        return [position]
    return [term for term in position.terms if isinstance(term, Position)]


def _choices(term: Position, delimiters: Sequence[str]) -> list[Part | None]:
    name = type(term).__name__
    if term.falling:
        return [Part(name, term)]
    if isinstance(term, Anchored):
        return [*_anchored(term, name, delimiters), None]
    if isinstance(term, LatentWindow):
        return _window(term, name, delimiters)
    sample = term.relation("b0", 1, 1)
    if sample is None:
        return [None]
    if isinstance(sample, tuple) and len(sample) == 2:
        return [Part(name, term), Part(f"{name} of the key", term, component=1), None]
    return [Part(name, term), None]


def _window(term: LatentWindow, name: str, delimiters: Sequence[str]) -> list[Part | None]:
    parts = list(_anchored(term, name, delimiters))
    if not term.absolute:
        return [*parts]
    square = [replace(part, component=0) for part in parts]
    if term.absolute == "start":
        return [*square, Part(f"{name} from the start", term, component=1)]
    return [*square, *(replace(part, name=f"{part.name}, of the key", component=1) for part in parts)]


def _anchored(term: Position, name: str, delimiters: Sequence[str]) -> Iterator[Part]:
    """`b` stands first, so that what has no other anchor is measured from it in any case."""
    free = [token for token in delimiters if token != "b"]
    for hidden in range(len(free) + 1):
        for masked in combinations(free, hidden):
            kept = " ".join(token for token in delimiters if token not in masked)
            yield Part(f"{name} from {kept}", term, "".join(masked))


def _component(value: Hashable, index: int) -> Hashable:
    return value[index] if isinstance(value, tuple) and index < len(value) else value

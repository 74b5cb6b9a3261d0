"""What an embedding for a task must be able to tell apart: the coarsest relation that serves each slot, in words.

The relations tried are distances within numbers: the distance of a key to the delimiter before or after its number, the
same of a query, and their difference. Of the first relation that serves a slot, all values that are never needed are
merged into one class.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from ldhd.positions import Position
from ldhd.predict.analysis import Analysis, Head, Served
from ldhd.predict.cells import NEVER
from ldhd.predict.predictor import as_source
from ldhd.predict.queries import UNLISTED, Ints, Marks, Queries
from ldhd.predict.shapes import ShapeSource, StringShape, delimiters
from ldhd.predict.views import ViewPart, views
from ldhd.tasks import Task

OTHER = "other"


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

    def __str__(self) -> str:
        if self.distance:
            return "the distance of query and key"
        if self.key is None:
            return "content alone"
        if self.query is None:
            return f"{self.key}, of the key"
        return f"{self.query}, of the query, minus {self.key}, of the key"


class RulePosition(Position):
    """An embedding whose classes are the values of a rule, all but those in `kept` merged into one."""

    def __init__(self, rule: Rule, kept: frozenset[Hashable] | None = None):
        super().__init__(1, 1)
        self.rule, self.kept = rule, kept

    def relation(self, tokens: Sequence[str], j: int, i: int) -> Hashable:
        return self.relations(tokens, [j])[0][i]

    def relations(self, tokens: Sequence[str], queries: Sequence[int]) -> list[list[Hashable]]:
        # no distance may refer to a token after the query, which is not written yet
        rows = [self.rule.relations("".join(tokens[: j + 1])) for j in queries]
        kept = self.kept
        return rows if kept is None else [[value if value in kept else OTHER for value in row] for row in rows]


@dataclass(frozen=True)
class SlotDesign:
    """The coarsest relation found for a slot, and the head that serves the slot with it."""

    rule: Rule
    kept: frozenset[Hashable]
    values: int
    """The number of values that the rule has on these strings before merging."""
    head: Head

    @property
    def words(self) -> str:
        if self.rule == Rule():
            return "content alone"
        kept = " or ".join(str(value) for value in sorted(self.kept, key=str))
        return f"whether {self.rule}, is {kept}"


@dataclass(frozen=True)
class Design:
    """What an embedding must tell apart for each slot of a task, in a model of `layers` layers."""

    task: str
    layers: int
    train_scales: tuple[int, ...]
    test_scales: tuple[int, ...]
    slots: dict[str, SlotDesign | None]
    """The design for each slot, None if none of the relations tried serves it."""
    shapes: tuple[StringShape, ...]

    def refined_by(self, position: Position) -> bool:
        """Whether, for each slot, some view of an embedding tells apart all that has to be told apart."""
        designs = [slot for slot in self.slots.values() if slot is not None]
        if len(designs) < len(self.slots):
            return False
        queries = Queries((), self.shapes)
        seen = views(position, delimiters(self.shapes))
        parts = {part for view in seen for part in view}
        classes = {part: queries.classes(part)[0] for part in parts}
        types = queries.types("before" if self.layers > 1 else None)
        kinds = types[np.arange(len(types)), queries.query][:, None] * (1 + types.max()) + types
        return all(
            any(_refines(queries, [kinds, *(classes[part] for part in view)], slot) for view in seen)
            for slot in designs
        )


def design(
    task: Task | ShapeSource, train_scales: Sequence[int], test_scales: Sequence[int], layers: int = 1
) -> Design:
    """Find the coarsest relation for each slot among the distances within numbers, the simplest rules first."""
    train, test = tuple(sorted(train_scales)), tuple(sorted(test_scales))
    source = as_source(task, train, test)
    shapes = source.shapes(train), source.shapes(test)
    probe = Analysis(RulePosition(Rule()), *shapes, source.exchangeable)
    found: dict[str, SlotDesign | None] = dict.fromkeys(probe.slots)
    for _ in range(2):  # a slot that is served may excuse one that was tried before it
        served = {slot: known.head for slot, known in found.items() if known is not None}
        for slot in probe.slots:
            found[slot] = found[slot] or _design_slot(probe, slot, layers, served)
    return Design(source.name, layers, train, test, found, tuple(shapes[1]))


def rules(delimiters: Sequence[str], numbers: int) -> Iterator[Rule]:
    """Yield content alone, then the key's place, then the query's place minus the key's, then the plain distance.

    Slots that are read together are in `numbers` different numbers, each after a delimiter of its own.
    """
    yield Rule()
    behind = ["".join(tokens) for tokens in combinations(delimiters, min(numbers, len(delimiters)))]
    keys = [Measure(tokens, right) for right in (False, True) for tokens in behind]
    yield from (Rule(key) for key in keys)
    yield from (Rule(key, query) for key, query in product(keys, [Measure(token) for token in delimiters]))
    yield Rule(distance=True)


def _design_slot(probe: Analysis, slot: str, layers: int, served: Served) -> SlotDesign | None:
    groups = [*(tuple(group) for group in probe.exchangeable if slot in group), (slot,)]
    for group in groups:
        for rule in rules(probe.delimiters, len(group)):
            kept = _needed_values(rule, probe.train, group)
            if not _needed_values(rule, probe.test, group) <= kept or None in kept:
                continue
            analysis = Analysis(RulePosition(rule, kept), probe.train, probe.test, probe.exchangeable)
            view = (ViewPart(str(rule), analysis.position),)
            levels: tuple[Marks, ...] = (None, "before")
            for marks in levels[:layers]:
                head = Head(view, group, marks)
                if analysis.failures(head, served).softmax_at == NEVER:
                    values = {value for shape in probe.test for value in rule.relations(shape.text[:-1])}
                    return SlotDesign(rule, kept, len(values), head)
    return None


def _needed_values(rule: Rule, shapes: Sequence[StringShape], slots: Sequence[str]) -> frozenset[Hashable]:
    values: set[Hashable] = set()
    for shape in shapes:
        for query, row in enumerate(shape.needs, shape.start - 1):
            needed = [index for slot in slots if (index := row.get(slot)) is not None and index != query]
            if needed:
                relations = rule.relations(shape.text[: query + 1])
                values |= {relations[index] for index in needed}
    return frozenset(values)


def _refines(queries: Queries, known: Sequence[Ints], slot: SlotDesign) -> bool:
    """Whether keys that agree in all that is known have equal values of the rule, in rows that have its slots."""
    wanted, _ = queries.classes(ViewPart("rule", RulePosition(slot.rule, slot.kept)))
    listed = np.any([queries.needs(name) != UNLISTED for name in slot.head.slots], axis=0)
    mask = queries.visible & listed[:, None]
    mask[np.arange(len(mask)), queries.query] = False
    cells = np.unique(np.stack([array[mask] for array in known]), axis=1).shape[1]
    return cells == np.unique(np.stack([*(array[mask] for array in known), wanted[mask]]), axis=1).shape[1]

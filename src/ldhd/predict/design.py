"""What an embedding for a task must be able to tell apart: the coarsest relation that serves each slot, in words.

The relations tried are distances within numbers: the distance of a key to the delimiter before or after its number, the
same of a query, and their difference. Of the first relation that serves a slot, all values that are never needed are
merged into one class, and hidden where so many keys would otherwise dilute attention. A slot that nothing serves so may
be served by a head that subtracts what other heads read, or after a first layer that marks each token by the one right
before it. What is found can be written as a class (`module_text`).
"""

import json
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from ldhd.positions import Position, Sum
from ldhd.positions.measured import OTHER, Measure, Measured, Rule
from ldhd.predict.analysis import Analysis, Head, Served
from ldhd.predict.cells import NEVER, FailureScales
from ldhd.predict.predictor import as_source
from ldhd.predict.queries import UNLISTED, Ints, Marks, Queries
from ldhd.predict.shapes import ShapeSource, StringShape, delimiters
from ldhd.predict.views import ViewPart, views
from ldhd.tasks import Task

NEXT = Rule(distance=True)
"""With which a first layer finds the token right before each token, at the value 1."""


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


class Window(RulePosition):
    """The same with all keys hidden but those whose values are kept."""

    hidden = OTHER
    ignorable = False


@dataclass(frozen=True)
class SlotDesign:
    """The coarsest relation found for a slot, and the head that serves the slot with it."""

    rule: Rule
    kept: frozenset[Hashable]
    values: int
    """The number of values that the rule has on these strings before merging."""
    head: Head
    hides: bool = False
    """Whether all keys of other values have to be hidden."""

    @property
    def words(self) -> str:
        text = "content alone"
        if self.rule != Rule():
            kept = " or ".join(str(value) for value in sorted(self.kept, key=str))
            text = f"whether {self.rule}, is {kept}"
        text += "; all other keys hidden" * self.hides
        text += "; what other heads read is subtracted" * self.head.subtracts
        return text + "; after a first layer that marks tokens by the token right before" * self.marks_neighbours

    @property
    def marks_neighbours(self) -> bool:
        return self.head.marks == "neighbour"


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

    @property
    def relations(self) -> list[SlotDesign]:
        """The different relations that an embedding has to tell apart; none where content alone serves every slot."""
        wanted = [slot for slot in self.slots.values() if slot is not None and slot.rule != Rule()]
        found = {(slot.rule, slot.kept, slot.hides): slot for slot in wanted}
        if any(slot is not None and slot.marks_neighbours for slot in self.slots.values()):
            neighbour = Head((), ())
            found.setdefault((NEXT, frozenset({1}), False), SlotDesign(NEXT, frozenset({1}), 2, neighbour))
        return list(found.values())

    @property
    def complete(self) -> bool:
        """Whether every slot has a design, and some slot needs a relation."""
        return None not in self.slots.values() and bool(self.relations)

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
    usual: tuple[Marks, ...] = (None, "before") if layers > 1 else (None,)
    kinds: list[tuple[tuple[Marks, ...], bool]] = [(usual, False), (usual, True)]
    kinds += [(("neighbour",), False)] if layers > 1 else []
    for marks, subtracts in kinds:
        for _ in range(2):  # a slot that is served may excuse one that was tried before it
            served = {slot: known.head for slot, known in found.items() if known is not None}
            for slot in probe.slots:
                found[slot] = found[slot] or _design_slot(probe, slot, marks, subtracts, served)
    return Design(source.name, layers, train, test, found, tuple(shapes[1]))


def class_names(found: Design) -> list[str]:
    """Return a name for each relation of a design, such as `Mirror` where distances from two sides are compared."""
    names: list[str] = []
    for slot in found.relations:
        rule = slot.rule
        kind = "Near" if rule.key is None else "Place" if rule.query is None else "Aligned"
        if rule.key is not None and rule.key.right:
            kind = "PlaceFromEnd" if rule.query is None else "Mirror"
        names.append(next(name for n in range(1, 1000) if (name := f"{kind}{n if n > 1 else ''}") not in names))
    return names


def as_position(found: Design) -> Position:
    """Return the embedding of a design: the sum of a `Measured` for each of its relations."""
    terms = []
    for name, slot in zip(class_names(found), found.relations, strict=True):
        content = {"rule": slot.rule, "kept": _listed(slot), "hides": slot.hides}
        terms.append(type(name, (Measured,), content)(8, 8))
    return terms[0] if len(terms) == 1 else Sum(terms)


def module_text(found: Design) -> str:
    """Return the Python module that defines the embedding of a design, a class for each of its relations."""
    lines = [f'"""What an embedding for {found.task} has to tell apart, as `ldhd design` found it."""', ""]
    lines += ["from ldhd.positions.measured import Measure, Measured, Rule"]
    for name, slot in zip(class_names(found), found.relations, strict=True):
        lines += [
            "",
            "",
            f"class {name}(Measured):",
            f"    rule = {_written(slot.rule)}",
            f"    kept = {_listed(slot)}",
        ]
        lines += ["    hides = True"] * slot.hides
    return "\n".join(lines) + "\n"


def _listed(slot: SlotDesign) -> tuple[int, ...]:
    return tuple(sorted(value for value in slot.kept if isinstance(value, int)))


def _written(rule: Rule) -> str:
    """Return a rule as Python code, without what has its default."""

    def measure(one: Measure) -> str:
        return f"Measure({json.dumps(one.tokens)}{', right=True' * one.right})"

    parts = [f"{name}={measure(one)}" for name, one in (("key", rule.key), ("query", rule.query)) if one is not None]
    return f"Rule({', '.join([*parts, *['distance=True'] * rule.distance])})"


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


def _design_slot(
    probe: Analysis, slot: str, levels: Sequence[Marks], subtracts: bool, served: Served
) -> SlotDesign | None:
    groups = [] if subtracts else [tuple(group) for group in probe.exchangeable if slot in group]
    for group in (*groups, (slot,)):
        for rule in rules(probe.delimiters, len(group)):
            kept = _needed_values(rule, probe.train, group)
            if not _needed_values(rule, probe.test, group) <= kept or None in kept:
                continue
            for marks in levels:
                failures = _failures(probe, RulePosition(rule, kept), group, marks, subtracts, served)
                if failures.softmax_at < NEVER:
                    continue
                hides = failures.reliable_at < NEVER and rule != Rule()
                if hides:
                    hidden = _failures(probe, Window(rule, kept), group, marks, subtracts, served)
                    hides = hidden.reliable_at == NEVER
                values = {value for shape in probe.test for value in rule.relations(shape.text[:-1])}
                head = Head((ViewPart(str(rule), RulePosition(rule, kept)),), group, marks, subtracts=subtracts)
                return SlotDesign(rule, kept, len(values), head, hides)
    return None


def _failures(
    probe: Analysis, position: RulePosition, group: tuple[str, ...], marks: Marks, subtracts: bool, served: Served
) -> FailureScales:
    analysis = Analysis(position, probe.train, probe.test, probe.exchangeable)
    view = (ViewPart(str(position.rule), position),)
    return analysis.failures(Head(view, group, marks, subtracts=subtracts), served)


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

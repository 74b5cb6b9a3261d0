"""What an embedding for a task must be able to tell apart: the coarsest relation that serves each slot, in words.

The relations tried are distances within numbers: a key is measured from the delimiter that begins its number or to the
one that ends it, a query likewise, and the two are subtracted. The first that serves the slot is merged: every
value that is never needed becomes one class.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from ldhd.positions import Position
from ldhd.predict.cases import Case, Source, TaskSource, delimiters
from ldhd.predict.cells import NEVER
from ldhd.predict.rows import UNLISTED, Ints, Rows, Vocabulary
from ldhd.predict.trial import Served, Trial, Way
from ldhd.predict.views import Part, View, views
from ldhd.tasks import Task

OTHER = "other"


@dataclass(frozen=True)
class Measure:
    """The distance of a position to the delimiter before or after its number, where that is one of `tokens`."""

    tokens: str
    right: bool = False

    def values(self, text: str) -> list[int | None]:
        """None where another delimiter stands nearer on that side."""
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
    """A relation in words: of the key alone, of query minus key, of their distance, or of nothing."""

    key: Measure | None = None
    query: Measure | None = None
    distance: bool = False

    def relations(self, text: str, queries: Sequence[int]) -> list[list[Hashable]]:
        if self.distance:
            return [[j - i for i in range(j + 1)] for j in queries]
        keys = [0] * len(text) if self.key is None else self.key.values(text)
        own = [0] * len(text) if self.query is None else self.query.values(text)
        return [[_difference(own[j], keys[i], self.query is None) for i in range(j + 1)] for j in queries]

    def __str__(self) -> str:
        if self.distance:
            return "the distance of query and key"
        if self.key is None:
            return "content alone"
        if self.query is None:
            return f"{self.key}, of the key"
        return f"{self.query}, of the query, minus {self.key}, of the key"


class RulePosition(Position):
    """An embedding whose classes are the values of a rule, all but `kept` merged into one."""

    def __init__(self, rule: Rule, kept: frozenset[Hashable] | None = None):
        super().__init__(1, 1)
        self.rule, self.kept = rule, kept

    def relation(self, tokens: Sequence[str], j: int, i: int) -> Hashable:
        return self.relations(tokens, [j])[0][i]

    def relations(self, tokens: Sequence[str], queries: Sequence[int]) -> list[list[Hashable]]:
        # a query may not measure to what is not written yet; keys may, up to the query
        rows = [self.rule.relations("".join(tokens[: j + 1]), [j])[0] for j in queries]
        if self.kept is None:
            return rows
        return [[value if value in self.kept else OTHER for value in row] for row in rows]


@dataclass(frozen=True)
class SlotDesign:
    """The coarsest relation found for a slot; `rule` is None if none of those tried serves it."""

    slot: str
    rule: Rule | None
    kept: frozenset[Hashable]
    values: int
    """How many values the rule has on these strings before merging."""
    way: Way | None

    @property
    def words(self) -> str:
        if self.rule is None:
            return "none of the relations tried serves it"
        if self.rule == Rule():
            return "content alone"
        kept = " or ".join(str(value) for value in sorted(self.kept, key=str))
        return f"whether {self.rule}, is {kept}"


@dataclass(frozen=True)
class Design:
    """What each slot of a task needs told apart, at so many layers."""

    task: str
    layers: int
    train_scales: tuple[int, ...]
    test_scales: tuple[int, ...]
    slots: tuple[SlotDesign, ...]
    cases: tuple[Case, ...]

    def refined_by(self, position: Position) -> bool:
        """Whether some view of an embedding tells apart all that each slot needs told apart."""
        if any(slot.rule is None for slot in self.slots):
            return False
        rows = Rows(self.cases, False, 1)
        seen = views(position, delimiters(self.cases))
        classes = {part: rows.classes(part, Vocabulary()) for part in {part for view in seen for part in view.parts}}
        types, own = rows.types(Vocabulary(), self.layers > 1)
        kinds = own[:, None] * (1 + types.max()) + types
        return all(
            any(_refines(rows, [kinds, *(classes[part] for part in view.parts)], slot) for view in seen)
            for slot in self.slots
        )


def design(task: Task | Source, train_scales: Sequence[int], test_scales: Sequence[int], layers: int = 1) -> Design:
    """The coarsest relation for each slot among the distances within numbers, the simplest rules first."""
    train, test = tuple(sorted(train_scales)), tuple(sorted(test_scales))
    source = TaskSource(task, tuple(sorted({*train, *test}))) if isinstance(task, Task) else task
    cases = source.cases(train), source.cases(test)
    probe = Trial(RulePosition(Rule()), *cases, source.exchangeable)
    found: dict[str, SlotDesign] = {}
    for _ in range(2):  # a slot that is served may excuse one that was tried before it
        served = {slot: known.way for slot, known in found.items() if known.way is not None}
        for slot in probe.slots:
            if slot not in served:
                found[slot] = _design_slot(probe, slot, layers, served)
    return Design(source.name, layers, train, test, tuple(found[slot] for slot in probe.slots), tuple(cases[1]))


def rules(delimiters: Sequence[str], numbers: int) -> Iterator[Rule]:
    """Content alone, then the key's place, then the query's place minus the key's, then the plain distance.

    Slots that are read together stand in so many numbers, each behind a delimiter of its own.
    """
    yield Rule()
    behind = ["".join(tokens) for tokens in combinations(delimiters, min(numbers, len(delimiters)))]
    keys = [Measure(tokens, right) for right in (False, True) for tokens in behind]
    yield from (Rule(key) for key in keys)
    yield from (Rule(key, query) for key, query in product(keys, [Measure(token) for token in delimiters]))
    yield Rule(distance=True)


def _design_slot(probe: Trial, slot: str, layers: int, served: Served) -> SlotDesign:
    groups = [*(tuple(group) for group in probe.exchangeable if slot in group), (slot,)]
    for group in groups:
        for rule in rules(probe.delimiters, len(group)):
            kept = _needed_values(rule, probe.train, group)
            if not _needed_values(rule, probe.test, group) <= kept or None in kept:
                continue
            trial = Trial(RulePosition(rule, kept), probe.train, probe.test, probe.exchangeable)
            view = View((Part(str(rule), trial.position),))
            for marked in (False, True)[:layers]:
                way = Way(view, group, marked)
                if trial.judge(way, served).softmax_at == NEVER:
                    return SlotDesign(slot, rule, kept, _count(rule, probe.test), way)
    return SlotDesign(slot, None, frozenset(), 0, None)


def _needed_values(rule: Rule, cases: Sequence[Case], slots: Sequence[str]) -> frozenset[Hashable]:
    position = RulePosition(rule)
    values: set[Hashable] = set()
    for case in cases:
        for t, row in enumerate(case.needs):
            j = case.start + t - 1
            needed = [index for slot in slots if (index := row.get(slot)) is not None and index != j]
            if needed:
                relations = position.relations(case.text, [j])[0]
                values |= {relations[index] for index in needed}
    return frozenset(values)


def _count(rule: Rule, cases: Sequence[Case]) -> int:
    position = RulePosition(rule)
    last = [position.relations(case.text, [len(case.text) - 2])[0] for case in cases]
    return len({value for row in last for value in row})


def _refines(rows: Rows, known: Sequence[Ints], slot: SlotDesign) -> bool:
    """Whether keys alike in all that is known have equal values of the rule, where its slots are looked for."""
    assert slot.rule is not None
    assert slot.way is not None
    wanted = rows.classes(Part("rule", RulePosition(slot.rule, slot.kept)), Vocabulary())
    listed = np.any([rows.needs(name) != UNLISTED for name in slot.way.slots], axis=0)
    mask = rows.visible & listed[:, None]
    mask[np.arange(len(mask)), rows.query] = False
    cells = np.unique(np.stack([array[mask] for array in known]), axis=1).shape[1]
    return cells == np.unique(np.stack([*(array[mask] for array in known), wanted[mask]]), axis=1).shape[1]


def _difference(own: int | None, key: int | None, alone: bool) -> Hashable:
    if key is None or own is None:
        return None
    return key if alone else own - key

"""The heads that could serve the slots of a task, and where each of them fails."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial

import numpy as np

from ldhd.positions import Position
from ldhd.predict.cells import (
    CellTable,
    FailureScales,
    HeadTable,
    ScoreOrder,
    distinct,
    find_failures,
    unseen_share,
)
from ldhd.predict.queries import ABSENT, Bools, Ints, Marks, QueryTables, query_tables
from ldhd.predict.reliability import find_crowd, find_noise
from ldhd.predict.shapes import StringShape, delimiters
from ldhd.predict.views import View, choices, views

MOST_CELLS = 40_000_000
"""The largest number of cells in memory: an embedding has many views, and tables of long strings are large."""

MARKED = {"before": "the delimiters before them", "neighbour": "the token right before them"}


@dataclass(frozen=True)
class Head:
    """A candidate: a head with a view of the positions, and the slots it serves."""

    view: View
    slots: tuple[str, ...]
    marks: Marks = None
    """With what a first layer marks each token, if it does."""
    relay: str | None = None
    """A token, the only one of its kind, that reads the slot in the first layer and is read in the second."""
    subtracts: bool = False
    """Whether slots that other heads serve are subtracted where this head cannot tell them from its own."""

    def __str__(self) -> str:
        text = " and ".join(part.name for part in self.view) or "content alone"
        if len(self.slots) > 1:
            text += f"; {' and '.join(self.slots)} read together"
        if self.marks is not None:
            text += f"; tokens marked in the first layer by {MARKED[self.marks]}"
        if self.relay is not None:
            text += f"; read by {self.relay!r} in the first layer"
        if self.subtracts:
            text += "; what other heads read is subtracted"
        return text


Served = Mapping[str, Head]
"""The slots that are served, each with its head."""


class Analysis:
    """One embedding on the training and test strings of a task, with everything computed so far."""

    def __init__(
        self,
        position: Position,
        train: Sequence[StringShape],
        test: Sequence[StringShape],
        exchangeable: Sequence[Sequence[str]] = (),
        queries: QueryTables | None = None,
    ):
        self.position, self.train, self.test, self.exchangeable = position, train, test, exchangeable
        self.delimiters = delimiters(test)
        self.slots = list(dict.fromkeys(slot for shape in (*train, *test) for row in shape.needs for slot in row))
        self._choices = max(choices(term) for term in position.summands())
        tables = queries or query_tables(train, test)
        self._queries = partial(tables, self._choices)
        self._classes = cache(lambda part, relay: self._queries(relay).classes(part))
        self._cells = lru_cache(max(12, MOST_CELLS // self._queries(None).visible.size))(self._number_cells)
        self._failures: dict[tuple[Head, bytes, bytes], FailureScales] = {}
        self._judged: dict[tuple[Head, frozenset[str], frozenset[str]], FailureScales] = {}
        self._candidates = cache(self._list_heads)

    def heads(self, slot: str, layers: int, served: Served) -> list[Head]:
        """Return the candidates for a slot, the simplest first: one layer before two, one slot before several.

        Heads that subtract come last, and only where some other slot is read by itself. Of a slot that training never
        needs one candidate is enough, since none serves it.
        """
        return self._candidates(slot, min(layers, 2), bool(_read_alone(served)))

    def _list_heads(self, slot: str, layers: int, subtracting: bool) -> list[Head]:
        return list(self._find_heads(slot, layers, subtracting))

    def _find_heads(self, slot: str, layers: int, subtracting: bool) -> Iterator[Head]:
        groups = [(slot,), *(tuple(group) for group in self.exchangeable if slot in group)]
        seen = self._views
        if not any(self._is_needed_in_training(group) for group in groups):
            yield Head(seen[0], (slot,))
            return
        marks = self._marks(layers)
        yield from (Head(view, group, mark) for mark in marks for group in groups for view in seen)
        if layers > 1:
            relays = [token for token in self.delimiters if self._can_relay(slot, token)]
            yield from (Head(view, (slot,), relay=relay) for relay in relays for view in seen)
        if subtracting:
            yield from (Head(view, (slot,), mark, subtracts=True) for mark in marks for view in seen)

    def _marks(self, layers: int) -> list[Marks]:
        if layers == 1:
            return [None]
        return [None, "before", "neighbour"] if self._tells_neighbours else [None, "before"]

    @cached_property
    def _views(self) -> list[View]:
        return views(self.position, self.delimiters)

    @cached_property
    def _tells_neighbours(self) -> bool:
        """Whether the token right before the query has a relation of its own, the same in every string."""
        texts = [max((shape.text for shape in shapes), key=len) for shapes in (self.train, self.test) if shapes]
        nearest, others = set(), set()
        for text in texts:
            for row in self.position.relations(text, range(1, len(text))):
                nearest.add(row[-2])
                others.update([*row[:-2], row[-1]])
        return len(nearest) == 1 and not nearest & others

    def _is_needed_in_training(self, group: Sequence[str]) -> bool:
        return any(row.get(slot) is not None for slot in group for shape in self.train for row in shape.needs)

    def failures(self, head: Head, served: Served) -> FailureScales:
        """Return where a head fails, given the slots that other heads serve; failing in training decides."""
        others = head, frozenset(served), frozenset(_read_alone(served) if head.subtracts else ())
        if others not in self._judged:
            self._judged[others] = self._judge(head, served)
        return self._judged[others]

    def _judge(self, head: Head, served: Served) -> FailureScales:
        table = self.table(head, served)
        key = head, table.excused.tobytes(), table.subtractable.tobytes() if head.subtracts else b""
        if key not in self._failures:
            found = find_failures(table)
            if found.softmax_at > 0:
                whole = self.whole_table(head, served)
                found = replace(found, noisy_at=find_noise(whole), crowded_at=find_crowd(whole))
            self._failures[key] = found
        return self._failures[key]

    def risk(self, head: Head) -> float:
        """Return the share of cells, unneeded at test scales, that never occur in training."""
        return unseen_share(self.table(head, {}))

    def table(self, head: Head, served: Served) -> HeadTable:
        """Return what a head has to do, given the slots that other heads serve."""
        table = self._cells(head.view, head.marks, head.relay)
        return self._head_table(head, table, served)

    def _head_table(self, head: Head, table: CellTable, served: Served) -> HeadTable:
        needs = np.stack([table.queries.searched(slot) for slot in head.slots])
        return HeadTable(table, needs, _excused(head, table, served), _subtractable(head, table, served))

    def whole_table(self, head: Head, served: Served) -> HeadTable:
        """Return the table of a head by all that the embedding adds to its scores.

        Training shows a head how to ignore a term of the embedding only at the relations that occur in it.
        """
        used = {part.term for part in head.view}
        terms = [term for term in self.position.summands() if term not in used]
        ignored = (next((part for view in self._views for part in view if part.term is term), None) for term in terms)
        whole = (*head.view, *(part for part in ignored if part is not None))
        return self._head_table(head, self._cells(whole, head.marks, head.relay), served)

    @cached_property
    def searched_slots(self) -> list[str]:
        """The slots whose token is not always the query itself."""
        return [slot for slot in self.slots if (self._queries(None).searched(slot) >= 0).any()]

    def telling_relations(self, slots: Sequence[str]) -> int | None:
        """Return with how few relations a layer can read these slots one by one in training; None if it cannot.

        It cannot where another key has the same relation, or where training changes relations at random.
        """
        counts = [self._count_relations(view, slots) for view in self._views if view and self._choices == 1]
        return min((count for count in counts if count is not None), default=None)

    def _count_relations(self, view: View, slots: Sequence[str]) -> int | None:
        queries, cells = self._queries(None), self._cells(view, None, None).cells
        found: set[tuple[int, ...]] = set()
        for slot in slots:
            needs = queries.searched(slot)
            rows = np.flatnonzero((needs >= 0) & queries.trained)
            alike = cells[rows, :-1] == cells[rows, needs[rows]][:, None]
            if ((alike & queries.visible[rows]).sum(1) > 1).any():
                return None
            classes = [self._classes(part, None)[0][rows, needs[rows]].tolist() for part in view]
            found.update(zip(*classes, strict=True))
        return len(found)

    def _can_relay(self, slot: str, token: str) -> bool:
        """Whether a token is the only one of its kind in every string and stands after all tokens of the slot."""
        for shape in (*self.train, *self.test):
            where = shape.text.find(token)
            needed = [index for row in shape.needs if (index := row.get(slot)) is not None]
            if shape.text.count(token) != 1 or any(index >= where for index in needed):
                return False
        return True

    def _number_cells(self, view: View, marks: Marks, relay: str | None) -> CellTable:
        """Number the cells of one view: its classes and the types of query and key, as digits of one code."""
        queries = self._queries(relay)
        types = queries.types(marks)
        own, size = types[np.arange(len(types)), queries.query], 1 + int(types.max())
        kinds = own[:, None] * size + types
        parts = sorted(view, key=lambda part: part.term.falling)
        classes = np.zeros_like(kinds)
        hidden = np.zeros(kinds.shape, np.bool_)
        values: list[Hashable] = []
        for part in parts:
            numbers, values = self._classes(part, relay)
            classes = classes * len(values) + numbers
            if part.term.hidden in values:
                hidden |= numbers == values.index(part.term.hidden)
        codes = classes * size * size + kinds
        known = distinct(codes[queries.visible])
        cells = np.searchsorted(known, codes).clip(max=len(known) - 1)
        with_null = np.column_stack([cells, len(known) + own])
        falling = bool(parts) and parts[-1].term.falling
        fixed = _falling_order(known, size * size, values) if falling else {}
        return CellTable(queries, with_null, kinds if falling else cells, fixed, hidden)


def _read_alone(served: Served) -> list[str]:
    """Return the slots that a head reads by itself; of slots that are read together only the sum is known."""
    return [slot for slot, head in served.items() if head.slots == (slot,)]


def _subtractable(head: Head, table: CellTable, served: Served) -> Bools:
    """Return the keys that other heads read by themselves, if the head subtracts."""
    mask = np.zeros_like(table.queries.visible)
    for slot in _read_alone(served) if head.subtracts else ():
        need = table.queries.needs(slot)
        present = np.flatnonzero(need >= 0)
        mask[present, need[present]] = True
    return mask


def _excused(head: Head, table: CellTable, served: Iterable[str]) -> Bools:
    """Return the rows in which another slot shows that those of the head are absent.

    The other slot is absent there too, and for this type of query it never is when one of the head's is present.
    """
    present = np.max([table.queries.needs(slot) for slot in head.slots], axis=0) >= 0
    null, excused = table.cells[:, -1], np.zeros_like(present)
    for other in (slot for slot in served if slot not in head.slots):
        missing = table.queries.needs(other) == ABSENT
        excused |= missing & ~np.isin(null, null[present & missing])
    return excused


def _falling_order(known: Ints, kinds: int, distances: Sequence[Hashable]) -> ScoreOrder:
    """Of cells that differ in the distance alone, the nearer beats the farther at every scale."""
    values = np.array(distances, np.int64)
    distance, rest = values[known // kinds % len(values)], (known // kinds // len(values), known % kinds)
    order = np.lexsort((distance, *rest))
    same = np.all([column[order[:-1]] == column[order[1:]] for column in rest], axis=0)
    return dict.fromkeys(zip(order[:-1][same].tolist(), order[1:][same].tolist(), strict=True), 0)

"""The heads that could serve the slots of a task, and where each of them fails."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial

import numpy as np

from ldhd.positions import Position
from ldhd.predict.cells import CellTable, FailureScales, HeadTable, ScoreOrder, find_failures, unseen_share
from ldhd.predict.queries import ABSENT, Bools, Ints, Queries
from ldhd.predict.shapes import StringShape, delimiters
from ldhd.predict.views import View, choices, views

MOST_TABLES = 12
"""The largest number of tables in memory: an embedding has many views, and tables of long strings are large."""


@dataclass(frozen=True)
class Head:
    """A candidate: a head with a view of the positions, and the slots it serves."""

    view: View
    slots: tuple[str, ...]
    marked: bool = False
    """Whether a first layer marks each token with the delimiters before it."""
    relay: str | None = None
    """A token, the only one of its kind, that reads the slot in the first layer and is read in the second."""
    subtracts: bool = False
    """Whether slots that other heads serve are subtracted where this head cannot tell them from its own."""

    def __str__(self) -> str:
        text = " and ".join(part.name for part in self.view) or "content alone"
        if len(self.slots) > 1:
            text += f"; {' and '.join(self.slots)} read together"
        if self.marked:
            text += "; tokens marked in the first layer by the delimiters before them"
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
    ):
        self.position, self.train, self.test, self.exchangeable = position, train, test, exchangeable
        self.delimiters = delimiters(test)
        self.slots = list(dict.fromkeys(slot for shape in (*train, *test) for row in shape.needs for slot in row))
        self._queries = cache(partial(Queries, train, test, max(choices(term) for term in position.summands())))
        self._classes = cache(lambda part, relay: self._queries(relay).classes(part))
        self._cells = lru_cache(MOST_TABLES)(self._number_cells)
        self._failures: dict[tuple[Head, frozenset[tuple[str, Head]]], FailureScales] = {}
        self._training = Analysis(position, train, ()) if test else None

    def heads(self, slot: str, layers: int, served: Served) -> Iterator[Head]:
        """Yield the candidates for a slot, the simplest first: one layer before two, one slot before several.

        Heads that subtract come last, and only where some other slot is read by itself.
        """
        groups = [(slot,), *(tuple(group) for group in self.exchangeable if slot in group)]
        seen = views(self.position, self.delimiters)
        marks = (False, True)[:layers]
        yield from (Head(view, group, marked) for marked in marks for group in groups for view in seen)
        if layers > 1:
            relays = [token for token in self.delimiters if self._can_relay(slot, token)]
            yield from (Head(view, (slot,), relay=relay) for relay in relays for view in seen)
        if _read_alone(served):
            yield from (Head(view, (slot,), marked, subtracts=True) for marked in marks for view in seen)

    def failures(self, head: Head, served: Served) -> FailureScales:
        """Return where a head fails, given the slots that other heads serve; failing in training decides."""
        key = head, frozenset(served.items())
        if key not in self._failures:
            found = self._training.failures(head, served) if self._training else None
            if found is None or found.conflict_at or found.mixed_at:
                found = find_failures(self.table(head, served))
            self._failures[key] = found
        return self._failures[key]

    def risk(self, head: Head) -> float:
        """Return the share of cells, unneeded at test scales, that never occur in training."""
        return unseen_share(self.table(head, {}))

    def table(self, head: Head, served: Served) -> HeadTable:
        """Return what a head has to do, given the slots that other heads serve."""
        table = self._cells(head.view, head.marked, head.relay)
        needs = np.stack([table.queries.searched(slot) for slot in head.slots])
        return HeadTable(table, needs, _excused(head, table, served), _subtractable(head, table, served))

    def _can_relay(self, slot: str, token: str) -> bool:
        """Whether a token is the only one of its kind in every string and stands after all tokens of the slot."""
        for shape in (*self.train, *self.test):
            where = shape.text.find(token)
            needed = [index for row in shape.needs if (index := row.get(slot)) is not None]
            if shape.text.count(token) != 1 or any(index >= where for index in needed):
                return False
        return True

    def _number_cells(self, view: View, marked: bool, relay: str | None) -> CellTable:
        """Number the cells of one view: its classes and the types of query and key, as digits of one code."""
        queries = self._queries(relay)
        types = queries.types(marked)
        own, size = types[np.arange(len(types)), queries.query], 1 + int(types.max())
        kinds = own[:, None] * size + types
        parts = sorted(view, key=lambda part: part.term.falling)
        classes = np.zeros_like(kinds)
        values: list[Hashable] = []
        for part in parts:
            numbers, values = self._classes(part, relay)
            classes = classes * len(values) + numbers
        codes = classes * size * size + kinds
        known = np.unique(codes[queries.visible])
        cells = np.searchsorted(known, codes).clip(max=len(known) - 1)
        with_null = np.column_stack([cells, len(known) + own])
        falling = bool(parts) and parts[-1].term.falling
        fixed = _falling_order(known, size * size, values) if falling else {}
        return CellTable(queries, with_null, kinds if falling else cells, fixed)


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

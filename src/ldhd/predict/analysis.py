"""The heads that could serve the slots of a task, and where each of them fails."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ldhd.positions import Position
from ldhd.predict.cells import CellTable, FailureScales, HeadTable, ScoreOrder, find_failures, unseen_share
from ldhd.predict.prediction import Constraint
from ldhd.predict.queries import ABSENT, Bools, Ints, Numbering, Queries, token_types
from ldhd.predict.shapes import StringShape, delimiters
from ldhd.predict.views import View, ViewPart, choices, views

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
        text = self.view.name
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


@dataclass
class Analysis:
    """One embedding on the training and test strings of a task, with everything computed so far."""

    position: Position
    train: Sequence[StringShape]
    test: Sequence[StringShape]
    exchangeable: Sequence[Sequence[str]] = ()
    _queries: dict[str | None, list[Queries]] = field(default_factory=dict)
    _numberings: dict[tuple[ViewPart, str | None], Numbering] = field(default_factory=dict)
    _classes: dict[tuple[ViewPart, str | None, bool], Ints] = field(default_factory=dict)
    _tables: dict[tuple[View, bool, str | None, bool], tuple[list[CellTable], ScoreOrder]] = field(default_factory=dict)
    _failures: dict[tuple[Head, frozenset[tuple[str, Head]]], FailureScales] = field(default_factory=dict)

    @property
    def delimiters(self) -> list[str]:
        return delimiters(self.test)

    @property
    def slots(self) -> list[str]:
        return list(dict.fromkeys(slot for shape in (*self.train, *self.test) for row in shape.needs for slot in row))

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
        """Return where a head fails, given the slots that other heads serve."""
        key = head, frozenset(served.items())
        if key not in self._failures:
            found = find_failures(*self.tables(head, served, training_only=True))
            if found.conflict_at or found.mixed_at:
                found = find_failures(*self.tables(head, served))
            self._failures[key] = found
        return self._failures[key]

    def risk(self, head: Head) -> float:
        """Return the share of cells, unneeded at test scales, that never occur in training."""
        return unseen_share(*self.tables(head, {})[0])

    def tables(self, head: Head, served: Served, training_only: bool = False) -> tuple[list[HeadTable], ScoreOrder]:
        """Return the tables of the training and the test queries, and the order that fixed scores impose on cells."""
        tables, fixed = self._cell_tables(head.view, head.marked, head.relay, training_only)
        needs = [[table.queries.searched(slot) for slot in head.slots] for table in tables]
        masks = self._excused(head, tables, served), self._subtractable(head, tables, served)
        return [HeadTable(*row) for row in zip(tables, needs, *masks, strict=True)], fixed

    def describe(self, head: Head, constraint: Constraint, key: int) -> str:
        """Describe the cell of a key, as in `RPE 6 from # to #`."""
        query, text = constraint.query, constraint.text[: constraint.query + 1]
        found = [f"{part.name} {part.classes(text, [query], False)[0][0][key]}" for part in head.view.parts]
        types = token_types(text, head.marked)
        return f"{', '.join(found) or 'any place'} from {_type_name(types[query])} to {_type_name(types[key])}"

    def _can_relay(self, slot: str, token: str) -> bool:
        """Whether a token is the only one of its kind in every string and stands after all tokens of the slot."""
        for shape in (*self.train, *self.test):
            where = shape.text.find(token)
            needed = [index for row in shape.needs if (index := row.get(slot)) is not None]
            if shape.text.count(token) != 1 or any(index >= where for index in needed):
                return False
        return True

    def _cell_tables(
        self, view: View, marked: bool, relay: str | None, training_only: bool
    ) -> tuple[list[CellTable], ScoreOrder]:
        key = view, marked, relay, training_only
        if key not in self._tables:
            if len(self._tables) >= MOST_TABLES:
                self._tables.clear()
            self._tables[key] = self._number_cells(*key)
        return self._tables[key]

    def _number_cells(
        self, view: View, marked: bool, relay: str | None, training_only: bool
    ) -> tuple[list[CellTable], ScoreOrder]:
        """Number the cells of one view: its classes and the types of query and key, as digits of one code."""
        groups = self._queries_of(relay)[: 1 if training_only else 2]
        types = Numbering()
        typed = [queries.types(types, marked) for queries in groups]
        size = len(types)
        classes = [np.zeros(queries.visible.shape, np.int64) for queries in groups]
        parts = sorted(view.parts, key=lambda part: part.term.falling)
        for part in parts:
            arrays = [self._numbered_classes(part, queries) for queries in groups]
            count = len(self._numberings[part, relay])
            classes = [before * count + array for before, array in zip(classes, arrays, strict=True)]
        kinds = [own[:, None] * size + keys for keys, own in typed]
        codes = [array * size * size + kind for array, kind in zip(classes, kinds, strict=True)]
        known = np.unique(np.concatenate([code[q.visible] for code, q in zip(codes, groups, strict=True)]))
        falling = bool(parts) and parts[-1].term.falling
        tables = []
        for code, kind, (_, own), queries in zip(codes, kinds, typed, groups, strict=True):
            cells = np.searchsorted(known, code).clip(max=len(known) - 1)
            since = np.zeros_like(queries.scale) if queries.training else queries.scale
            tables.append(CellTable(queries, cells, kind if falling else cells, len(known) + own, since))
        return tables, _falling_order(known, size * size, self._numberings[parts[-1], relay]) if falling else {}

    def _queries_of(self, relay: str | None) -> list[Queries]:
        if relay not in self._queries:
            most = max(choices(term) for term in self.position.summands())
            self._queries[relay] = [Queries(self.train, True, most, relay), Queries(self.test, False, 1, relay)]
        return self._queries[relay]

    def _numbered_classes(self, part: ViewPart, queries: Queries) -> Ints:
        key = part, queries.relay, queries.training
        if key not in self._classes:
            numbering = self._numberings.setdefault((part, queries.relay), Numbering())
            self._classes[key] = queries.classes(part, numbering)
        return self._classes[key]

    def _subtractable(self, head: Head, tables: Sequence[CellTable], served: Served) -> list[Bools]:
        """Return the keys that other heads read by themselves, if the head subtracts."""
        masks = [np.zeros_like(table.queries.visible) for table in tables]
        for slot in _read_alone(served) if head.subtracts else ():
            for table, mask in zip(tables, masks, strict=True):
                need = table.queries.needs(slot)
                present = np.flatnonzero(need >= 0)
                mask[present, need[present]] = True
        return masks

    def _excused(self, head: Head, tables: Sequence[CellTable], served: Iterable[str]) -> list[Bools]:
        """Return the rows in which another slot shows that those of the head are absent.

        The other slot is absent there too, and for this type of query it never is when one of the head's is present.
        """
        present = [np.stack([table.queries.needs(slot) for slot in head.slots]).max(0) >= 0 for table in tables]
        excused = [np.zeros(len(table.queries), bool) for table in tables]
        for other in (slot for slot in served if slot not in head.slots):
            missing = [table.queries.needs(other) == ABSENT for table in tables]
            both = [table.null[a & b] for table, a, b in zip(tables, present, missing, strict=True)]
            ambiguous = np.unique(np.concatenate(both))
            for table, mask, absent in zip(tables, excused, missing, strict=True):
                mask |= absent & ~np.isin(table.null, ambiguous)
        return excused


def _read_alone(served: Served) -> list[str]:
    """Return the slots that a head reads by itself; of slots that are read together only the sum is known."""
    return [slot for slot, head in served.items() if head.slots == (slot,)]


def _type_name(kind: object) -> str:
    """Return `#` or, for a marked token, `# after b=`."""
    return f"{kind[0]} after {kind[1]}" if isinstance(kind, tuple) else str(kind)


def _falling_order(known: Ints, kinds: int, distances: Numbering) -> ScoreOrder:
    """Of cells that differ in the distance alone, the nearer beats the farther at every scale."""
    values = np.array(list(distances), np.int64)
    distance, rest = values[known // kinds % len(values)], (known // kinds // len(values), known % kinds)
    order = np.lexsort((distance, *rest))
    same = np.all([column[order[:-1]] == column[order[1:]] for column in rest], axis=0)
    return dict.fromkeys(zip(order[:-1][same].tolist(), order[1:][same].tolist(), strict=True), 0)

"""All ways in which one model could serve the slots of a task, tried one after the other."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ldhd.positions import Position
from ldhd.predict.cases import Case, delimiters
from ldhd.predict.cells import Order, Outcome, Table, absent_rows, examine, unseen_share
from ldhd.predict.prediction import Step
from ldhd.predict.rows import ABSENT, Bools, Ints, Rows, Vocabulary, token_types
from ldhd.predict.views import Part, View, choices, views

KEPT = 12
"""Tables kept at once: an embedding with many views has many, and those of long strings are large."""


@dataclass(frozen=True)
class Way:
    """One head: what it knows of positions, whether tokens are marked by a first layer, and which slots it serves."""

    view: View
    slots: tuple[str, ...]
    marked: bool = False
    hop: str | None = None
    """A token, the only one of its kind, that reads the slot in the first layer and is read in the second."""
    subtracts: bool = False
    """Whether slots that other heads serve are taken off where this head cannot tell them from its own."""

    def __str__(self) -> str:
        text = self.view.name
        if len(self.slots) > 1:
            text += f"; {' and '.join(self.slots)} read together"
        if self.marked:
            text += "; tokens marked in the first layer by the delimiters before them"
        if self.hop is not None:
            text += f"; read by {self.hop!r} in the first layer"
        if self.subtracts:
            text += "; what other heads read is subtracted"
        return text


Served = Mapping[str, Way]
"""The slots that are served, each with the way it is."""


@dataclass
class Trial:
    """The training and the test strings of a prediction, and what was computed of them so far."""

    position: Position
    train: Sequence[Case]
    test: Sequence[Case]
    exchangeable: Sequence[Sequence[str]] = ()
    _rows: dict[str | None, list[Rows]] = field(default_factory=dict)
    _vocabularies: dict[tuple[Part, str | None], Vocabulary] = field(default_factory=dict)
    _classes: dict[tuple[Part, str | None, bool], Ints] = field(default_factory=dict)
    _tables: dict[tuple[View, bool, str | None, bool], tuple[list[Table], Order]] = field(default_factory=dict)
    _judged: dict[tuple[Way, frozenset[tuple[str, Way]]], Outcome] = field(default_factory=dict)

    @property
    def delimiters(self) -> list[str]:
        return delimiters(self.test)

    @property
    def slots(self) -> list[str]:
        return list(dict.fromkeys(slot for case in (*self.train, *self.test) for row in case.needs for slot in row))

    def ways(self, slot: str, layers: int, served: Served) -> Iterator[Way]:
        """The simplest model first: one layer, the slot by itself; then with what it can be exchanged for.

        What needs no subtraction comes before what does; where no other slot is known, nothing can be subtracted.
        """
        groups = [(slot,), *(tuple(group) for group in self.exchangeable if slot in group)]
        seen = views(self.position, self.delimiters)
        for marked in (False, True)[:layers]:
            for group in groups:
                for view in seen:
                    yield Way(view, group, marked)
        if layers > 1:
            for hop in self.delimiters:
                if self._can_hop(slot, hop):
                    for view in seen:
                        yield Way(view, (slot,), hop=hop)
        if _known(served):
            for marked in (False, True)[:layers]:
                for view in seen:
                    yield Way(view, (slot,), marked, subtracts=True)

    def judge(self, way: Way, served: Served) -> Outcome:
        """How far a way carries, where the slots in `served` are known to be served."""
        key = way, frozenset(served.items())
        if key not in self._judged:
            training = self._examine(way, served, True)
            settled = training.conflict_at == training.mixed_at == 0
            self._judged[key] = training if settled else self._examine(way, served, False)
        return self._judged[key]

    def _examine(self, way: Way, served: Served, training_only: bool) -> Outcome:
        tables, fixed = self.tables(way, training_only)
        excused, known = self.excused(way, served, training_only), self.known(way, served, training_only)
        return examine(tables, way.slots, excused, known, fixed)

    def risk(self, way: Way) -> float:
        return unseen_share(self.tables(way)[0], way.slots)

    def tables(self, way: Way, training_only: bool = False) -> tuple[list[Table], Order]:
        """Training and test rows with their cells, and the order that fixed scores impose on cells."""
        key = way.view, way.marked, way.hop, training_only
        if key not in self._tables:
            if len(self._tables) >= KEPT:
                self._tables.clear()
            self._tables[key] = self._make_tables(*key)
        return self._tables[key]

    def describe(self, way: Way, step: Step, key: int) -> str:
        """The cell of a key in words, such as `RPE 6 from # to #`."""
        query, text = step.query, step.text[: step.query + 1]
        found = [f"{part.name} {part.classes(text, [query], False)[0][0][key]}" for part in way.view.parts]
        types = token_types(text, way.marked)
        return f"{', '.join(found) or 'any place'} from {_type_name(types[query])} to {_type_name(types[key])}"

    def rows(self, hop: str | None) -> list[Rows]:
        if hop not in self._rows:
            most = max(choices(term) for term in self.position.summands())
            self._rows[hop] = [Rows(self.train, True, most, hop), Rows(self.test, False, 1, hop)]
        return self._rows[hop]

    def _make_tables(self, view: View, marked: bool, hop: str | None, training_only: bool) -> tuple[list[Table], Order]:
        rows = self.rows(hop)[: 1 if training_only else 2]
        types = Vocabulary()
        typed = [table.types(types, marked) for table in rows]
        size = len(types)
        classes = [np.zeros(table.visible.shape, np.int64) for table in rows]
        parts = sorted(view.parts, key=lambda part: part.term.falling)
        for part in parts:
            arrays = [self._numbered(part, table) for table in rows]
            vocabulary = self._vocabularies[part, hop]
            classes = [before * len(vocabulary) + array for before, array in zip(classes, arrays, strict=True)]
        falling = bool(parts) and parts[-1].term.falling
        last = self._vocabularies[parts[-1], hop] if falling else Vocabulary()
        kinds = [queries[:, None] * size + keys for keys, queries in typed]
        codes = [array * size * size + kind for array, kind in zip(classes, kinds, strict=True)]
        known = np.unique(np.concatenate([code[t.visible] for code, t in zip(codes, rows, strict=True)]))
        tables = []
        for code, kind, (_, queries), table in zip(codes, kinds, typed, rows, strict=True):
            cells = np.searchsorted(known, code).clip(max=len(known) - 1)
            since = np.zeros_like(table.scale) if table.training else table.scale
            tables.append(Table(table, cells, kind if falling else cells, len(known) + queries, since))
        return tables, _falling_order(known, size * size, last) if falling else {}

    def _numbered(self, part: Part, rows: Rows) -> Ints:
        key = part, rows.hop, rows.training
        if key not in self._classes:
            vocabulary = self._vocabularies.setdefault((part, rows.hop), Vocabulary())
            self._classes[key] = rows.classes(part, vocabulary)
        return self._classes[key]

    def _can_hop(self, slot: str, hop: str) -> bool:
        """Whether the token is the only one of its kind in every string and stands after all that the slot needs."""
        for case in (*self.train, *self.test):
            needed = [row[slot] for row in case.needs if row.get(slot) is not None]
            where = case.text.find(hop)
            if case.text.count(hop) != 1 or any(index is not None and index >= where for index in needed):
                return False
        return True

    def known(self, way: Way, served: Served, training_only: bool = False) -> list[Bools]:
        """Keys of each row that can be subtracted."""
        tables = self.tables(way, training_only)[0]
        masks = [np.zeros_like(table.rows.visible) for table in tables]
        for slot in _known(served) if way.subtracts else ():
            for table, mask in zip(tables, masks, strict=True):
                need = table.rows.needs(slot)
                present = np.flatnonzero(need >= 0)
                mask[present, need[present]] = True
        return masks

    def excused(self, way: Way, served: Iterable[str], training_only: bool = False) -> list[Bools]:
        """Rows where absence shows elsewhere: another slot is absent that never is, for this type of query, when
        one of these is present."""
        tables, slots = self.tables(way, training_only)[0], way.slots
        needs = [[table.rows.needs(slot) for slot in slots] for table in tables]
        excused = [np.zeros(len(table.null), bool) for table in tables]
        for other in (slot for slot in served if slot not in slots):
            absent = [table.rows.needs(other) == ABSENT for table in tables]
            ambiguous: set[int] = set()
            for table, need, missing in zip(tables, needs, absent, strict=True):
                present = (np.stack(need) >= 0).any(0)
                ambiguous |= set(np.unique(table.null[present & missing]).tolist())
            for table, mask, missing in zip(tables, excused, absent, strict=True):
                mask |= missing & ~np.isin(table.null, list(ambiguous))
        return [mask & absent_rows(need) for mask, need in zip(excused, needs, strict=True)]


def _known(served: Served) -> list[str]:
    """Slots that are known each by itself: of those that are read together the sum alone is."""
    return [slot for slot, way in served.items() if way.slots == (slot,)]


def _type_name(kind: object) -> str:
    """`#` or, of a marked token, `# after b=`."""
    return f"{kind[0]} after {kind[1]}" if isinstance(kind, tuple) else str(kind)


def _falling_order(known: Ints, kinds: int, distances: Vocabulary) -> Order:
    """Among cells that differ in the distance alone, the nearer beats the farther from the start."""
    values = np.array(list(distances.numbers), np.int64)
    distance, rest = values[known // kinds % len(values)], (known // kinds // len(values), known % kinds)
    order = np.lexsort((distance, *rest))
    edges = {}
    for nearer, farther in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        if rest[0][nearer] == rest[0][farther] and rest[1][nearer] == rest[1][farther]:
            edges[nearer, farther] = 0
    return edges

"""The two conditions on cells: coverage, and a score that puts what is needed above everything else.

A cell is (class of query and key, type of the query, type of the key): all that a head knows about a key without its
content. Cells are numbered from 0; the null key of each type of query has a number of its own. Letters in shapes: R
rows and n keys, as in `queries`.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldhd.predict.queries import UNLISTED, Bools, Ints, Queries
from ldhd.predict.ranking import has_cycle

NEVER = np.iinfo(np.int64).max

LARGEST_SMALL = 20_000_000
"""Up to this number codes are marked in an array; larger ones are sorted."""

ScoreOrder = dict[tuple[int, int], int]
"""(winner, loser) -> the scale from which the first cell must have a higher score than the second."""


@dataclass(frozen=True)
class CellTable:
    """The cell of every key of some queries."""

    queries: Queries
    cells: Ints
    """(R, n + 1): the keys, and last the null key."""
    covering: Ints
    """(R, n), the cells that coverage is about: `cells`, or their types alone where scores are fixed."""
    fixed: ScoreOrder
    """The order that the embedding itself imposes on cells."""
    hidden: Bools
    """(R, n), keys that the embedding hides from the query."""

    @cached_property
    def size(self) -> int:
        """The number of cells."""
        return 1 + int(self.cells.max())

    @cached_property
    def fixed_edges(self) -> Ints:
        """The pairs of `fixed` as rows."""
        return np.array(list(self.fixed), np.int64).reshape(-1, 2)


@dataclass(frozen=True)
class HeadTable:
    """What a head that serves some slots has to do for each query of a table."""

    table: CellTable
    needs: Ints
    """For each slot, where its token is, as `Queries.searched` gives it: (slots, R)."""
    excused: Bools
    """(R,), rows in which the head need not notice that its slots are absent."""
    subtractable: Bools
    """(R, n), keys that other heads read, so that this head may read them along with its own."""

    @cached_property
    def needed(self) -> tuple[Ints, Ints]:
        """Every row in which a slot is present and the index of its token there, a slot after the other."""
        slots, rows = np.nonzero(self.needs >= 0)
        return rows, self.needs[slots, rows]

    @cached_property
    def listed(self) -> Bools:
        """(R,), rows that have one of the slots."""
        return (self.needs != UNLISTED).any(0)

    @cached_property
    def absent(self) -> Bools:
        """(R,), rows that have one of the slots, none of them present."""
        return self.listed & (self.needs < 0).all(0)

    @cached_property
    def unneeded(self) -> Bools:
        """(R, n), visible keys that no slot needs; the query is not among them, since its token is known."""
        mask = self.table.queries.visible.copy()
        mask[np.arange(len(mask)), self.table.queries.query] = False
        mask[self.needed] = False
        return mask

    @cached_property
    def demands(self) -> tuple[Ints, Ints, Bools]:
        """Rows; in each a key that must win; and the keys that must have a lower score: (rows, n + 1).

        What is needed must beat the null key too. Where all slots are absent, the null key must win, except against
        what other heads read: where that is all that is left, subtracting it shows that nothing else was there.
        """
        return self.demands_among(np.ones_like(self.table.queries.trained))

    def demands_among(self, among: Bools) -> tuple[Ints, Ints, Bools]:
        """Return `demands` of some rows alone."""
        cells, query = self.table.cells, self.table.queries.query
        present, needed = (indices[among[self.needed[0]]] for indices in self.needed)
        absent = np.flatnonzero(self.absent & ~self.excused & among)
        rows = np.concatenate([present, absent])
        winners = np.concatenate([needed, np.full_like(absent, cells.shape[1] - 1)])
        alike = cells[rows, :-1] == cells[rows, winners][:, None]
        missing = (np.arange(len(rows)) >= len(present))[:, None]
        losers = self.unneeded[rows] & ~(self.subtractable[rows] & (alike | missing))
        count = np.arange(len(present))
        losers[count, query[present]] = ~alike[count, query[present]]
        return rows, winners, np.column_stack([losers, np.arange(len(rows)) < len(present)])


@dataclass(frozen=True)
class FailureScales:
    """The scales at which one head first fails, by reason; NEVER if it does not."""

    uncovered_at: int
    """A cell is needed that training does not teach."""
    conflict_at: int
    """Softmax attention: no score puts what is needed first. 0 if that is so at the training scales."""
    mixed_at: int
    """Linear attention: a cell is needed in one place and not in another. 0 if that is so at the training scales."""

    noisy_at: int = NEVER
    """Too many keys are visible in cells that training has not shown."""
    crowded_at: int = NEVER
    """Too many more keys are visible than in training."""

    @property
    def softmax_at(self) -> int:
        return min(self.uncovered_at, self.conflict_at)

    @property
    def reliable_at(self) -> int:
        return min(self.softmax_at, self.noisy_at, self.crowded_at)

    @property
    def linear_at(self) -> int:
        return min(self.uncovered_at, self.mixed_at)


def find_failures(head: HeadTable) -> FailureScales:
    """Judge one head by the table of its training and test queries; failing in training decides."""
    rows, _, untaught = _untaught(head)
    queries = head.table.queries
    uncovered_at = int(queries.scale[rows][untaught].min(initial=NEVER))
    of_training = queries.sample, queries.trained
    if any(_contradicted(head, among) for among in of_training):
        mixed_in_training = any(_first_mixed(head, among) == 0 for among in of_training)
        return FailureScales(uncovered_at, 0, 0 if mixed_in_training else _first_mixed(head))
    return FailureScales(uncovered_at, _first_cycle(head), _first_mixed(head))


def uncovered(head: HeadTable) -> list[tuple[int, int]]:
    """List (row, index) of every need of the test queries that training does not teach to read.

    Training teaches a cell that it needs with contents that differ. Where the content is always the same, it teaches
    that content alone.
    """
    rows, keys, untaught = _untaught(head)
    return list(zip(rows[untaught].tolist(), keys[untaught].tolist(), strict=True))


def _untaught(head: HeadTable) -> tuple[Ints, Ints, Bools]:
    """Return row and index of every need of the test queries, and whether training does not teach to read it."""
    taught = trained_contents(head)
    taught = np.where(taught & (taught - 1) > 0, -1, taught)
    rows, keys, cells, bits = _needs_with_contents(head, trained=False)
    return rows, keys, (bits & ~taught[cells]) != 0


def trained_contents(head: HeadTable) -> Ints:
    """Return for each cell a bit for every content with which training needs it."""
    _, _, cells, bits = _needs_with_contents(head, trained=True)
    seen = np.zeros(1 + int(head.table.covering.max()), np.int64)
    np.bitwise_or.at(seen, cells, bits)
    return seen


def unseen_share(head: HeadTable) -> float:
    """Return the share of cells, unneeded at test scales, that never occur in training."""
    queries, covering = head.table.queries, head.table.covering
    seen = distinct(covering[queries.visible & queries.trained[:, None]])
    unneeded = distinct(covering[head.unneeded & ~queries.trained[:, None]])
    return float(np.mean(~np.isin(unneeded, seen))) if len(unneeded) else 0.0


def score_order(head: HeadTable) -> ScoreOrder:
    """Return all pairs of cells in a fixed or demanded order, with the first scale that demands it: training first."""
    fixed, size = head.table.fixed, head.table.size
    codes, scales = _earliest(*_demanded(head, head.demands))
    found = zip(codes.tolist(), scales.tolist(), strict=True)
    demanded = {divmod(code, size): scale for code, scale in sorted(found, key=lambda item: item[1] > 0)}
    return {**fixed, **demanded, **fixed}


def _contradicted(head: HeadTable, among: Bools) -> bool:
    """Whether the order that some rows demand has a cycle."""
    codes, _ = _demanded(head, head.demands_among(among))
    return has_cycle(np.concatenate([_edges(distinct(codes), head), head.table.fixed_edges]))


def _first_cycle(head: HeadTable) -> int:
    """Return the smallest scale at which the demands up to it have a cycle, by bisection."""
    codes, since = _earliest(*_demanded(head, head.demands))
    fixed = head.table.fixed_edges
    edges = np.concatenate([_edges(codes, head), fixed])
    if not has_cycle(edges):
        return NEVER
    since = np.concatenate([since, np.zeros(len(fixed), np.int64)])
    scales = np.unique(since).tolist()
    return int(scales[bisect_left(scales, True, key=lambda most: has_cycle(edges[since <= most]))])


def _demanded(head: HeadTable, demands: tuple[Ints, Ints, Bools]) -> tuple[Ints, Ints]:
    """Return each demand as one number, winner * (number of cells) + loser, and the scale from which it counts."""
    cells = head.table.cells
    rows, winners, losers = demands
    codes = (head.table.size * cells[rows, winners][:, None] + cells[rows])[losers]
    return codes, np.repeat(head.table.queries.since[rows], losers.sum(1))


def _edges(codes: Ints, head: HeadTable) -> Ints:
    """Return demands, each as one number, as rows (winner, loser)."""
    return np.stack(np.divmod(codes, head.table.size), axis=1)


def edges_up_to(order: ScoreOrder, most: int) -> list[tuple[int, int]]:
    """Return the pairs of an order that are demanded at scales up to `most`."""
    return [edge for edge, scale in order.items() if scale <= most]


def _needs_with_contents(head: HeadTable, trained: bool) -> tuple[Ints, Ints, Ints, Ints]:
    """Return row, index, cell and content bits of everything that training strings, or test strings, need."""
    rows, keys = head.needed
    chosen = head.table.queries.trained[rows] == trained
    rows, keys = rows[chosen], keys[chosen]
    return rows, keys, head.table.covering[rows, keys], head.table.queries.content[rows, keys]


def _first_mixed(head: HeadTable, among: Bools | None = None) -> int:
    """Return the first scale at which a cell is both needed and unneeded, in all rows or in some."""
    queries, covering = head.table.queries, head.table.covering
    chosen = np.ones_like(queries.trained) if among is None else among
    rows, keys = (indices[chosen[head.needed[0]]] for indices in head.needed)
    wanted, wanted_since = _earliest(covering[rows, keys], queries.since[rows])
    looked_for = head.listed & ~(head.absent & head.excused) & chosen
    mask = head.unneeded & ~head.subtractable & looked_for[:, None]
    unwanted, unwanted_since = _earliest(covering[mask], np.repeat(queries.since, mask.sum(1)))
    _, first, second = np.intersect1d(wanted, unwanted, assume_unique=True, return_indices=True)
    return int(np.maximum(wanted_since[first], unwanted_since[second]).min(initial=NEVER))


def _earliest(codes: Ints, scales: Ints) -> tuple[Ints, Ints]:
    """Return each code once, in rising order, with the smallest scale it occurs with."""
    size = int(scales.max(initial=0)) + 1
    found = distinct(codes * size + scales)
    unique, first = np.unique(found // size, return_index=True)
    return unique, found[first] % size


def distinct(codes: Ints) -> Ints:
    """Return the different codes in rising order, as `np.unique` does: faster where there are many equal small ones."""
    if codes.max(initial=0) > LARGEST_SMALL or codes.size == 0:
        return np.unique(codes)
    found = np.zeros(int(codes.max()) + 1, np.bool_)
    found[codes] = True
    return np.flatnonzero(found)

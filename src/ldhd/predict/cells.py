"""The two conditions on cells: coverage, and a score that puts what is needed above everything else.

A cell is (class of query and key, type of the query, type of the key): all that a head knows about a key without its
content. Cells are numbered from 0; the null key of each type of query has a number of its own. Letters in shapes: R
rows and n keys, as in `queries`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldhd.predict.queries import UNLISTED, Bools, Ints, Queries
from ldhd.predict.ranking import find_cycle, has_cycle

NEVER = np.iinfo(np.int64).max

ScoreOrder = dict[tuple[int, int], int]
"""(winner, loser) -> the scale from which the first cell must have a higher score than the second."""


@dataclass(frozen=True)
class CellTable:
    """The cell of every key of some queries."""

    queries: Queries
    cells: Ints
    """(R, n)"""
    covering: Ints
    """(R, n), the cells that coverage is about: `cells`, or their types alone where scores are fixed."""
    null: Ints
    """(R,), the cell of the null key."""
    since: Ints
    """(R,), the scale from which a row counts: 0 in training."""


@dataclass(frozen=True)
class HeadTable:
    """What a head that serves some slots has to do for each query of a table."""

    table: CellTable
    needs: Sequence[Ints]
    """For each slot, where its token is: shape (R,), as `Queries.searched` gives it."""
    excused: Bools
    """(R,), rows in which the head need not notice that its slots are absent."""
    subtractable: Bools
    """(R, n), keys that other heads read, so that this head may read them along with its own."""

    @cached_property
    def absent(self) -> Bools:
        """(R,), rows that have one of the slots, none of them present."""
        stacked = np.stack(self.needs)
        return (stacked != UNLISTED).any(0) & (stacked < 0).all(0)

    @cached_property
    def unneeded(self) -> Bools:
        """(R, n), visible keys that no slot needs; the query is not among them, since its token is known."""
        queries = self.table.queries
        mask = queries.visible.copy()
        mask[np.arange(len(mask)), queries.query] = False
        for need in self.needs:
            present = np.flatnonzero(need >= 0)
            mask[present, need[present]] = False
        return mask

    def needed(self) -> Iterator[tuple[Ints, Ints]]:
        """Yield, for each slot, the rows in which it is present and the index of its token there."""
        for need in self.needs:
            rows = np.flatnonzero(need >= 0)
            yield rows, need[rows]

    def demands(self) -> Iterator["Demands"]:
        """Yield everything that must have a higher score than something else, a slot at a time."""
        cells, query = self.table.cells, self.table.queries.query
        for rows, keys in self.needed():
            winners = cells[rows, keys]
            losers = self.unneeded[rows] & ~(self.subtractable[rows] & (cells[rows] == winners[:, None]))
            losers[np.arange(len(rows)), query[rows]] = cells[rows, query[rows]] != winners
            yield Demands(rows, keys, winners, losers)
        rows = np.flatnonzero(self.absent & ~self.excused)
        yield Demands(rows, None, self.table.null[rows], self.unneeded[rows])


@dataclass(frozen=True)
class Demands:
    """In each of these rows, the winner must have a higher score than every loser.

    The winner is a key, and the null key is among the losers; or, without `keys`, the winner is the null key.
    """

    rows: Ints
    keys: Ints | None
    winners: Ints
    """The cells of the winners: one for each of the rows."""
    losers: Bools
    """The keys that lose: (rows, n)."""


@dataclass(frozen=True)
class FailureScales:
    """The scales at which one head first fails, by reason; NEVER if it does not."""

    uncovered_at: int
    """A cell is needed that training does not teach."""
    conflict_at: int
    """Softmax attention: no score puts what is needed first. 0 if that is so at the training scales."""
    mixed_at: int
    """Linear attention: a cell is needed in one place and not in another. 0 if that is so at the training scales."""
    order: ScoreOrder
    training_only: bool = False
    """Whether the training strings decided, so that only their cells are numbered in `order`."""

    @property
    def softmax_at(self) -> int:
        return min(self.uncovered_at, self.conflict_at)

    @property
    def linear_at(self) -> int:
        return min(self.uncovered_at, self.mixed_at)

    def cycle(self) -> list[int]:
        """Return cells that contradict each other at the scale of the conflict: each must beat the next."""
        found = find_cycle(edge for edge, scale in self.order.items() if scale <= self.conflict_at)
        assert found is not None
        return found


def find_failures(tables: Sequence[HeadTable], fixed: ScoreOrder) -> FailureScales:
    """Judge one head by the tables of its training and test queries, or of its training queries alone.

    `fixed` is the order that the embedding itself imposes on cells.
    """
    order = dict(fixed)
    for table in tables:
        for edge, scale in _score_order(table).items():
            order[edge] = min(scale, order.get(edge, NEVER))
    return FailureScales(
        uncovered_at=_first_uncovered(*tables) if len(tables) > 1 else NEVER,
        conflict_at=_first_cycle(order),
        mixed_at=_first_mixed(tables),
        order=order,
        training_only=len(tables) == 1,
    )


def uncovered(train: HeadTable, test: HeadTable) -> list[tuple[int, int]]:
    """List (row, index) of every need of the test queries that training does not teach to read.

    Training teaches a cell that it needs with contents that differ. Where the content is always the same, it teaches
    that content alone.
    """
    taught = {cell: -1 if bits & (bits - 1) else bits for cell, bits in needed_contents(train).items()}
    found = []
    for rows, keys in test.needed():
        cells, contents = test.table.covering[rows, keys], test.table.queries.content[rows, keys]
        for row, key, cell, bits in zip(*(array.tolist() for array in (rows, keys, cells, contents)), strict=True):
            if bits & ~taught.get(cell, 0):
                found.append((row, key))
    return found


def needed_contents(head: HeadTable) -> dict[int, int]:
    """Return the needed cells, each with a bit for every content it is needed with."""
    seen: dict[int, int] = {}
    for rows, keys in head.needed():
        cells, contents = head.table.covering[rows, keys], head.table.queries.content[rows, keys]
        for cell, bits in set(zip(cells.tolist(), contents.tolist(), strict=True)):
            seen[cell] = seen.get(cell, 0) | bits
    return seen


def unseen_share(train: HeadTable, test: HeadTable) -> float:
    """Return the share of cells, unneeded at test scales, that never occur in training."""
    seen = np.unique(train.table.covering[train.table.queries.visible])
    unneeded = np.unique(test.table.covering[test.unneeded])
    return float(np.mean(~np.isin(unneeded, seen))) if len(unneeded) else 0.0


def _first_uncovered(train: HeadTable, test: HeadTable) -> int:
    scale = test.table.queries.scale
    return min((int(scale[row]) for row, _ in uncovered(train, test)), default=NEVER)


def _score_order(head: HeadTable) -> ScoreOrder:
    """Return every pair of cells that some row demands an order of, with the first scale at which it does."""
    table = head.table
    size = 1 + max(int(table.cells.max()), int(table.null.max()))
    codes, scales = [], []
    for demands in head.demands():
        rows, first = demands.rows, demands.winners * size
        codes.append((first[:, None] + table.cells[rows])[demands.losers])
        scales.append(_repeat(table.since[rows], demands.losers))
        if demands.keys is not None:
            codes.append(first + table.null[rows])
            scales.append(table.since[rows])
    found = _earliest(np.concatenate(codes), np.concatenate(scales))
    return {divmod(code, size): scale for code, scale in found.items()}


def _first_mixed(tables: Sequence[HeadTable]) -> int:
    """Return the first scale at which a cell is both needed and unneeded."""
    wanted, unwanted = [], []
    for head in tables:
        covering, since = head.table.covering, head.table.since
        wanted += [(covering[rows, keys], since[rows]) for rows, keys in head.needed()]
        listed = (np.stack(head.needs) != UNLISTED).any(0) & ~(head.absent & head.excused)
        mask = head.unneeded & ~head.subtractable & listed[:, None]
        unwanted.append((covering[mask], _repeat(since, mask)))
    first, other = (
        _earliest(*(np.concatenate(column) for column in zip(*pairs, strict=True))) for pairs in (wanted, unwanted)
    )
    return min((max(scale, other[cell]) for cell, scale in first.items() if cell in other), default=NEVER)


def _repeat(values: Ints, mask: Bools) -> Ints:
    """Repeat each row's value for every key that the mask selects in it."""
    return np.repeat(values, mask.sum(1))


def _earliest(codes: Ints, scales: Ints) -> dict[int, int]:
    """Return each code once, with the smallest scale it occurs with."""
    size = int(scales.max(initial=0)) + 1
    found = np.unique(codes * size + scales)
    unique, first = np.unique(found // size, return_index=True)
    return dict(zip(unique.tolist(), (found[first] % size).tolist(), strict=True))


def _first_cycle(order: ScoreOrder) -> int:
    """Return the smallest scale at which the demands up to it have a cycle, by bisection."""
    if not has_cycle(order):
        return NEVER
    scales = sorted(set(order.values()))
    low, high = 0, len(scales) - 1
    while low < high:
        middle = (low + high) // 2
        if has_cycle(edge for edge, scale in order.items() if scale <= scales[middle]):
            high = middle
        else:
            low = middle + 1
    return scales[low]

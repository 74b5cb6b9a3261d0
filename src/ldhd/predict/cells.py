"""The two conditions on cells: coverage, and a score that puts what is needed above everything else.

A cell is (class of query and key, type of the query, type of the key): all that a head knows about a key without its
content. Cells are numbered from 0; the null key of each type of query has a number of its own. Letters in shapes: R
rows and n keys, as in `queries`.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldhd.predict.queries import UNLISTED, Bools, Ints, Queries
from ldhd.predict.ranking import has_cycle

NEVER = np.iinfo(np.int64).max

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

        What is needed must beat the null key too; where all slots are absent, the null key must win.
        """
        cells, query = self.table.cells, self.table.queries.query
        present, needed = self.needed
        absent = np.flatnonzero(self.absent & ~self.excused)
        rows = np.concatenate([present, absent])
        winners = np.concatenate([needed, np.full_like(absent, cells.shape[1] - 1)])
        alike = cells[rows, :-1] == cells[rows, winners][:, None]
        losers = self.unneeded[rows] & ~(self.subtractable[rows] & alike)
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

    @property
    def softmax_at(self) -> int:
        return min(self.uncovered_at, self.conflict_at)

    @property
    def linear_at(self) -> int:
        return min(self.uncovered_at, self.mixed_at)


def find_failures(head: HeadTable) -> FailureScales:
    """Judge one head by the table of its training and test queries."""
    scale = head.table.queries.scale
    return FailureScales(
        uncovered_at=min((int(scale[row]) for row, _ in uncovered(head)), default=NEVER),
        conflict_at=_first_cycle(score_order(head)),
        mixed_at=_first_mixed(head),
    )


def uncovered(head: HeadTable) -> list[tuple[int, int]]:
    """List (row, index) of every need of the test queries that training does not teach to read.

    Training teaches a cell that it needs with contents that differ. Where the content is always the same, it teaches
    that content alone.
    """
    taught = {cell: -1 if bits & (bits - 1) else bits for cell, bits in trained_contents(head).items()}
    needs = _needs_with_contents(head, trained=False)
    return [(row, key) for row, key, cell, bits in needs if bits & ~taught.get(cell, 0)]


def trained_contents(head: HeadTable) -> dict[int, int]:
    """Return the cells that training needs, each with a bit for every content it is needed with."""
    seen: dict[int, int] = {}
    for _, _, cell, bits in _needs_with_contents(head, trained=True):
        seen[cell] = seen.get(cell, 0) | bits
    return seen


def unseen_share(head: HeadTable) -> float:
    """Return the share of cells, unneeded at test scales, that never occur in training."""
    queries, covering = head.table.queries, head.table.covering
    seen = np.unique(covering[queries.visible & queries.trained[:, None]])
    unneeded = np.unique(covering[head.unneeded & ~queries.trained[:, None]])
    return float(np.mean(~np.isin(unneeded, seen))) if len(unneeded) else 0.0


def score_order(head: HeadTable) -> ScoreOrder:
    """Return all pairs of cells in a fixed or demanded order, with the first scale that demands it: training first."""
    cells, fixed = head.table.cells, head.table.fixed
    size = 1 + int(cells.max())
    rows, winners, losers = head.demands
    codes = (size * cells[rows, winners][:, None] + cells[rows])[losers]
    found = _earliest(codes, np.repeat(head.table.queries.since[rows], losers.sum(1)))
    demanded = {divmod(code, size): scale for code, scale in sorted(found.items(), key=lambda item: item[1] > 0)}
    return {**fixed, **demanded, **fixed}


def edges_up_to(order: ScoreOrder, most: int) -> list[tuple[int, int]]:
    """Return the pairs of an order that are demanded at scales up to `most`."""
    return [edge for edge, scale in order.items() if scale <= most]


def _needs_with_contents(head: HeadTable, trained: bool) -> Iterator[tuple[int, int, int, int]]:
    """Yield row, index, cell and content bits of everything that training strings, or test strings, need."""
    rows, keys = head.needed
    chosen = head.table.queries.trained[rows] == trained
    rows, keys = rows[chosen], keys[chosen]
    arrays = rows, keys, head.table.covering[rows, keys], head.table.queries.content[rows, keys]
    return zip(*(array.tolist() for array in arrays), strict=True)


def _first_mixed(head: HeadTable) -> int:
    """Return the first scale at which a cell is both needed and unneeded."""
    covering, since = head.table.covering, head.table.queries.since
    wanted = _earliest(covering[head.needed], since[head.needed[0]])
    looked_for = head.listed & ~(head.absent & head.excused)
    mask = head.unneeded & ~head.subtractable & looked_for[:, None]
    unwanted = _earliest(covering[mask], np.repeat(since, mask.sum(1)))
    return min((max(scale, unwanted[cell]) for cell, scale in wanted.items() if cell in unwanted), default=NEVER)


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
    return scales[bisect_left(scales, True, key=lambda most: has_cycle(edges_up_to(order, most)))]

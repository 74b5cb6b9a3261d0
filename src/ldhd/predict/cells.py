"""The two criteria on cells: coverage, and a score that puts what is needed first.

A cell is (class of query and key, type of the query, type of the key): all that a head can know of a key without its
content. `train` and `test` hold the cell of every key of every row, numbered from 0; the null key of a query type has
a number of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ldhd.predict.ranking import find_cycle, has_cycle
from ldhd.predict.rows import UNLISTED, Bools, Ints, Rows

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Table:
    """Rows with their cells, and the needs of the slots that one head serves together."""

    rows: Rows
    cells: Ints
    """(R, n)"""
    covering: Ints
    """(R, n), what coverage is counted in: `cells`, or their types alone where scores are fixed."""
    null: Ints
    """(R,), the null key of each row's query type."""
    since: Ints
    """(R,), the scale from which a row counts: 0 in training."""

    def unneeded(self, needs: Sequence[Ints]) -> Bools:
        """Visible keys that are none of these needs; the query itself is not among them, whose token is known."""
        mask = self.rows.visible.copy()
        mask[np.arange(len(mask)), self.rows.query] = False
        for need in needs:
            present = np.flatnonzero(need >= 0)
            mask[present, need[present]] = False
        return mask


@dataclass(frozen=True)
class Outcome:
    """How far one way to serve a slot carries. Scales are those at which something first goes wrong."""

    uncovered_at: int
    conflict_at: int
    """Softmax attention: no score has what is needed on top. 0: not even at the training scales."""
    mixed_at: int
    """Linear attention: a cell is needed and not needed. 0: at the training scales already."""
    edges: "Order"
    training_only: bool = False
    """Whether the training strings settled it, so that only their cells are numbered here."""

    @property
    def softmax_at(self) -> int:
        return min(self.uncovered_at, self.conflict_at)

    @property
    def linear_at(self) -> int:
        return min(self.uncovered_at, self.mixed_at)

    def cycle(self) -> list[int]:
        """Cells that force each other above themselves at the scale of the conflict."""
        found = find_cycle(edge for edge, scale in self.edges.items() if scale <= self.conflict_at)
        assert found is not None
        return found


Order = dict[tuple[int, int], int]
"""(winner, loser) -> the scale from which the one must beat the other."""


def examine(
    tables: Sequence[Table], slots: Sequence[str], excused: Sequence[Bools], known: Sequence[Bools], fixed: Order
) -> Outcome:
    """Judge one head that serves `slots` together; `tables` are the training rows and the test rows.

    Of the training rows alone it finds what goes wrong in training. Keys that are `known` can be subtracted where this
    head cannot tell them from what it looks for.
    """
    needs = [[table.rows.looked_for(slot) for slot in slots] for table in tables]
    edges = dict(fixed)
    wanted: list[tuple[Ints, Ints]] = []
    unwanted: list[tuple[Ints, Ints]] = []
    for table, need, excuse, elsewhere in zip(tables, needs, excused, known, strict=True):
        wanted.append(_wanted(table, need))
        unwanted.append(_unwanted(table, need, excuse, elsewhere))
        for edge, scale in _edges(table, need, excuse, elsewhere).items():
            edges[edge] = min(scale, edges.get(edge, NEVER))
    return Outcome(
        uncovered_at=_first_uncovered(tables, needs) if len(tables) > 1 else NEVER,
        conflict_at=_first_cycle(edges),
        mixed_at=_first_mixed(_merge(wanted), _merge(unwanted)),
        edges=edges,
        training_only=len(tables) == 1,
    )


def needed_contents(table: Table, needs: Sequence[Ints]) -> dict[int, int]:
    """The cells needed in training, each with a bit for every content it was needed with."""
    seen: dict[int, int] = {}
    for need in needs:
        rows = np.flatnonzero(need >= 0)
        cells, contents = table.covering[rows, need[rows]], table.rows.content[rows, need[rows]]
        for cell, bits in set(zip(cells.tolist(), contents.tolist(), strict=True)):
            seen[cell] = seen.get(cell, 0) | bits
    return seen


def uncovered_rows(tables: Sequence[Table], needs: Sequence[Sequence[Ints]]) -> list[tuple[int, int]]:
    """(test row, needed index) of every need with a content that training does not teach to read.

    It teaches a cell that it needed with contents that differed; of one whose content was always the same it teaches
    that content alone.
    """
    train, test = tables
    seen = needed_contents(train, needs[0])
    taught = {cell: -1 if bits & (bits - 1) else bits for cell, bits in seen.items()}
    found = []
    for need in needs[1]:
        rows = np.flatnonzero(need >= 0)
        cells, contents = test.covering[rows, need[rows]], test.rows.content[rows, need[rows]]
        news = [bits & ~taught.get(cell, 0) for cell, bits in zip(cells.tolist(), contents.tolist(), strict=True)]
        found += [(int(row), int(need[row])) for row, new in zip(rows, news, strict=True) if new]
    return found


def absent_rows(needs: Sequence[Ints]) -> Bools:
    """Rows that list a slot of these and have none of them."""
    stacked = np.stack(needs)
    return (stacked != UNLISTED).any(0) & (stacked < 0).all(0)


def _first_uncovered(tables: Sequence[Table], needs: Sequence[Sequence[Ints]]) -> int:
    scale = tables[1].rows.scale
    return min((int(scale[row]) for row, _ in uncovered_rows(tables, needs)), default=NEVER)


def _edges(table: Table, needs: Sequence[Ints], excused: Bools, known: Bools) -> Order:
    """(winner, loser) -> the scale from which the needs of some row demand it."""
    unneeded = table.unneeded(needs)
    size = 1 + max(int(table.cells.max()), int(table.null.max()))
    codes, scales = [], []
    for need in needs:
        rows = np.flatnonzero(need >= 0)
        winners = table.cells[rows, need[rows]]
        pairs = winners[:, None] * size + table.cells[rows]
        own = table.cells[rows, table.rows.query[rows]]
        apart = own != winners
        losing = unneeded[rows] & ~(known[rows] & (table.cells[rows] == winners[:, None]))
        codes += [pairs[losing], (winners * size + own)[apart], winners * size + table.null[rows]]
        scales += [_repeat(table.since[rows], losing), table.since[rows][apart], table.since[rows]]
    rows = np.flatnonzero(absent_rows(needs) & ~excused)
    pairs = table.null[rows, None] * size + table.cells[rows]
    codes.append(pairs[unneeded[rows]])
    scales.append(_repeat(table.since[rows], unneeded[rows]))
    found = _earliest(np.concatenate(codes), np.concatenate(scales))
    return {divmod(code, size): scale for code, scale in zip(*map(np.ndarray.tolist, found), strict=True)}


def _repeat(values: Ints, mask: Bools) -> Ints:
    return np.repeat(values, mask.sum(1))


def _earliest(codes: Ints, scales: Ints) -> tuple[Ints, Ints]:
    """Each code once, with the smallest scale it comes with."""
    size = int(scales.max(initial=0)) + 1
    found = np.unique(codes * size + scales)
    unique, first = np.unique(found // size, return_index=True)
    return unique, found[first] % size


def _wanted(table: Table, needs: Sequence[Ints]) -> tuple[Ints, Ints]:
    present = [np.flatnonzero(need >= 0) for need in needs]
    cells = [table.covering[rows, need[rows]] for rows, need in zip(present, needs, strict=True)]
    return np.concatenate(cells), np.concatenate([table.since[rows] for rows in present])


def _unwanted(table: Table, needs: Sequence[Ints], excused: Bools, known: Bools) -> tuple[Ints, Ints]:
    """Keys that must not count: all but the needed and the known ones, in rows that list the slots."""
    listed = (np.stack(needs) != UNLISTED).any(0) & ~(absent_rows(needs) & excused)
    rows = np.flatnonzero(listed)
    mask = (table.unneeded(needs) & ~known)[rows]
    return table.covering[rows][mask], _repeat(table.since[rows], mask)


def _merge(pairs: Sequence[tuple[Ints, Ints]]) -> dict[int, int]:
    codes, scales = (np.concatenate(column) for column in zip(*pairs, strict=True))
    return dict(zip(*map(np.ndarray.tolist, _earliest(codes, scales)), strict=True))


def _first_mixed(wanted: dict[int, int], unwanted: dict[int, int]) -> int:
    return min((max(scale, unwanted[cell]) for cell, scale in wanted.items() if cell in unwanted), default=NEVER)


def _first_cycle(edges: Order) -> int:
    """The smallest scale at which the edges up to it have a cycle, by bisection."""
    if not has_cycle(edges):
        return NEVER
    scales = sorted(set(edges.values()))
    low, high = 0, len(scales) - 1
    while low < high:
        middle = (low + high) // 2
        if has_cycle(edge for edge, scale in edges.items() if scale <= scales[middle]):
            high = middle
        else:
            low = middle + 1
    return scales[low]


def unseen_share(tables: Sequence[Table], slots: Sequence[str]) -> float:
    """The share of cells unneeded at test scales that training never showed."""
    train, test = tables
    seen = np.unique(train.covering[train.rows.visible])
    unneeded = np.unique(test.covering[test.unneeded([test.rows.looked_for(slot) for slot in slots])])
    return float(np.mean(~np.isin(unneeded, seen))) if len(unneeded) else 0.0

"""The smallest strings that show why a head does not serve a slot."""

import numpy as np

from ldhd.predict.analysis import Analysis, Head, Served
from ldhd.predict.cells import FailureScales, HeadTable, needed_contents, uncovered
from ldhd.predict.prediction import Constraint, Witness


def find_witness(analysis: Analysis, slot: str, head: Head, failures: FailureScales, served: Served) -> Witness:
    """Show why a head fails where it first does: a need that training does not teach, or demands that form a cycle."""
    tables, _ = analysis.tables(head, served, failures.training_only)
    if failures.uncovered_at <= failures.conflict_at and len(tables) > 1:
        return _uncovered(analysis, slot, head, *tables)
    return _conflict(analysis, slot, head, failures, tables)


def _uncovered(analysis: Analysis, slot: str, head: Head, train: HeadTable, test: HeadTable) -> Witness:
    row, needed = min(uncovered(train, test), key=lambda found: (*_size(test, found[0]), found[1]))
    example = _constraint(test, row, needed, None)
    taught = int(test.table.covering[row, needed]) in needed_contents(train)
    reason = "with one content only" if taught else "nowhere"
    place = analysis.describe(head, example, needed)
    words = f"at scale {example.scale} {slot} is at {place}; training needs that {reason}"
    return Witness("uncovered", slot, str(head), words, (example,))


def _conflict(analysis: Analysis, slot: str, head: Head, failures: FailureScales, tables: list[HeadTable]) -> Witness:
    cycle = failures.cycle()
    found = [_forced(tables, winner, loser) for winner, loser in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
    constraints = [constraint for constraint in found if constraint is not None]
    parts = []
    for constraint in constraints:
        winner, loser = (
            "the null key" if key is None else f"index {key} ({analysis.describe(head, constraint, key)})"
            for key in (constraint.winner, constraint.loser)
        )
        parts.append(f"in {constraint.text[: constraint.query + 1]!r} {winner} must beat {loser}")
    if None in found:
        parts.append("the nearer of two equal tokens always beats the farther")
    return Witness("conflict", slot, str(head), "; but ".join(parts), tuple(constraints))


def _forced(tables: list[HeadTable], winner: int, loser: int) -> Constraint | None:
    """Return the smallest string, of training if there is one, in which one cell must beat the other."""
    for head in tables:
        found: list[tuple[int, int | None, int | None]] = []
        for demands in head.demands():
            rows, wins = demands.rows, demands.winners == winner
            keys = [None] * len(rows) if demands.keys is None else demands.keys.tolist()
            losing = demands.losers & (head.table.cells[rows] == loser) & wins[:, None]
            found += [(int(rows[k]), keys[k], int(losing[k].argmax())) for k in np.flatnonzero(losing.any(1))]
            if demands.keys is not None:
                found += [
                    (int(rows[k]), keys[k], None) for k in np.flatnonzero(wins & (head.table.null[rows] == loser))
                ]
        if found:
            return _constraint(head, *min(found, key=lambda item: _size(head, item[0])))
    return None


def _size(head: HeadTable, row: int) -> tuple[int, int, int]:
    shape = head.table.queries.shape(row)
    return shape.scale, len(shape.text), int(head.table.queries.token[row])


def _constraint(head: HeadTable, row: int, winner: int | None, loser: int | None) -> Constraint:
    queries = head.table.queries
    shape = queries.shape(row)
    return Constraint(shape.text, shape.scale, int(queries.query[row]), winner, loser, queries.training)

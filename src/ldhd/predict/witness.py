"""The smallest strings that show why a head does not serve a slot."""

import numpy as np

from ldhd.predict.analysis import Analysis, Head, Served
from ldhd.predict.cells import FailureScales, HeadTable, edges_up_to, score_order, trained_contents, uncovered
from ldhd.predict.prediction import Constraint, Witness
from ldhd.predict.queries import token_types
from ldhd.predict.ranking import find_cycle
from ldhd.predict.reliability import unseen_keys


def find_witness(analysis: Analysis, slot: str, head: Head, failures: FailureScales, served: Served) -> Witness:
    """Show why a head fails where it first does: a need that training does not teach, or demands that form a cycle."""
    table = analysis.table(head, served)
    if failures.reliable_at < failures.softmax_at:
        return _unreliable(analysis, slot, head, failures, served)
    if failures.uncovered_at <= failures.conflict_at:
        row, needed = min(uncovered(table), key=lambda found: (*_size(table, found[0]), found[1]))
        example = _constraint(table, row, needed, None)
        taught = trained_contents(table)[table.table.covering[row, needed]] > 0
        reason = "with one content only" if taught else "nowhere"
        place = _describe(head, example, needed)
        words = f"at scale {example.scale} {slot} is at {place}; training needs that {reason}"
        return Witness("uncovered", slot, str(head), words, (example,))
    cycle = find_cycle(edges_up_to(score_order(table), failures.conflict_at))
    assert cycle is not None
    found = [_forced(table, winner, loser) for winner, loser in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
    constraints = [constraint for constraint in found if constraint is not None]
    parts = []
    for constraint in constraints:
        winner, loser = (
            "the null key" if key is None else f"index {key} ({_describe(head, constraint, key)})"
            for key in (constraint.winner, constraint.loser)
        )
        parts.append(f"in {constraint.text[: constraint.query + 1]!r} {winner} must beat {loser}")
    if None in found:
        parts.append("the nearer of two equal tokens always beats the farther")
    return Witness("conflict", slot, str(head), "; but ".join(parts), tuple(constraints))


def _unreliable(analysis: Analysis, slot: str, head: Head, failures: FailureScales, served: Served) -> Witness:
    """Show the query that is the first to see too many unseen cells, or too many keys."""
    table = analysis.whole_table(head, served)
    noisy = failures.noisy_at <= failures.crowded_at
    counts = unseen_keys(table) if noisy else table.unneeded.sum(1)
    rows = np.flatnonzero((table.table.queries.scale == failures.reliable_at) & ~table.table.queries.trained)
    row = int(rows[counts[rows].argmax()])
    query, shape = int(table.table.queries.query[row]), table.table.queries.shape(row)
    seen = "at relations that training never shows" if noisy else "that it does not need"
    words = f"at scale {shape.scale} the query in {shape.text[: query + 1]!r} sees {counts[row]} keys {seen}"
    needed = int(table.table.queries.needs(slot)[row])
    step = _constraint(table, row, needed if needed >= 0 else None, None)
    return Witness("unseen" if noisy else "crowded", slot, str(head), words, (step,))


def _forced(table: HeadTable, winner: int, loser: int) -> Constraint | None:
    """Return the smallest string, of training if there is one, in which one cell must beat the other."""
    rows, winners, losers = table.demands
    cells = table.table.cells
    losing = losers & (cells[rows] == loser) & (cells[rows, winners] == winner)[:, None]
    found = np.flatnonzero(losing.any(1)).tolist()
    if not found:
        return None
    smallest = min(found, key=lambda index: _size(table, int(rows[index])))
    keys = int(winners[smallest]), int(losing[smallest].argmax())
    return _constraint(table, int(rows[smallest]), *(None if key == cells.shape[1] - 1 else key for key in keys))


def _describe(head: Head, constraint: Constraint, key: int) -> str:
    """Describe the cell of a key, as in `RPE 6 from # to #`."""
    query, text = constraint.query, constraint.text[: constraint.query + 1]
    found = [f"{part.name} {part.classes(text, [query], training=False)[0][0][key]}" for part in head.view]
    types = token_types(text, head.marks)
    return f"{', '.join(found) or 'any place'} from {types[query]} to {types[key]}"


def _size(table: HeadTable, row: int) -> tuple[bool, int, int, int]:
    queries = table.table.queries
    shape = queries.shape(row)
    return not queries.trained[row], shape.scale, len(shape.text), int(queries.token[row])


def _constraint(table: HeadTable, row: int, winner: int | None, loser: int | None) -> Constraint:
    queries = table.table.queries
    shape = queries.shape(row)
    return Constraint(shape.text, shape.scale, int(queries.query[row]), winner, loser, bool(queries.trained[row]))

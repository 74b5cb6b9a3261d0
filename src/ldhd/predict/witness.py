"""The smallest strings that show why a way does not serve a slot."""

import numpy as np

from ldhd.predict.cells import NEVER, Outcome, Table, absent_rows, uncovered_rows
from ldhd.predict.prediction import Step, Witness
from ldhd.predict.rows import Bools
from ldhd.predict.trial import Served, Trial, Way


def find_witness(trial: Trial, slot: str, way: Way, outcome: Outcome, served: Served) -> Witness:
    """Why the way fails where it first does: a need that is not taught, or else a cycle."""
    if outcome.uncovered_at < NEVER and outcome.uncovered_at <= outcome.conflict_at:
        return _uncovered(trial, slot, way)
    return _conflict(trial, slot, way, outcome, served)


def _uncovered(trial: Trial, slot: str, way: Way) -> Witness:
    tables = trial.tables(way)[0]
    needs = [[table.rows.looked_for(name) for name in way.slots] for table in tables]
    row, needed = min(uncovered_rows(tables, needs), key=lambda found: (*_size(tables[1], found[0]), found[1]))
    step = _step(tables[1], row, needed, None)
    cell = tables[1].covering[row, needed]
    train = tables[0]
    taught = any(bool((train.covering[need >= 0, need[need >= 0]] == cell).any()) for need in needs[0])
    reason = "with one content only" if taught else "nowhere"
    words = f"at scale {step.scale} {slot} is at {trial.describe(way, step, needed)}; training needs that {reason}"
    return Witness("uncovered", slot, str(way), words, (step,))


def _conflict(trial: Trial, slot: str, way: Way, outcome: Outcome, served: Served) -> Witness:
    tables = trial.tables(way, outcome.training_only)[0]
    excused, known = (find(way, served, outcome.training_only) for find in (trial.excused, trial.known))
    cycle = outcome.cycle()
    pairs = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    steps = [step for winner, loser in pairs if (step := _forced(tables, way, excused, known, winner, loser))]
    parts = []
    for step in steps:
        winner = (
            "the null key" if step.winner is None else f"index {step.winner} ({trial.describe(way, step, step.winner)})"
        )
        loser = (
            "the null key" if step.loser is None else f"index {step.loser} ({trial.describe(way, step, step.loser)})"
        )
        parts.append(f"in {step.text[: step.query + 1]!r} {winner} must beat {loser}")
    if len(steps) < len(pairs):
        parts.append("the nearer of two equal tokens always beats the farther")
    return Witness("conflict", slot, str(way), "; but ".join(parts), tuple(steps))


def _forced(
    tables: list[Table], way: Way, excused: list[Bools], known: list[Bools], winner: int, loser: int
) -> Step | None:
    """The smallest string, of training if there is one, in which the one must beat the other."""
    for table, excuse, elsewhere in zip(tables, excused, known, strict=True):
        needs = [table.rows.looked_for(name) for name in way.slots]
        unneeded = table.unneeded(needs)
        own = np.arange(len(unneeded)), table.rows.query
        found: list[tuple[int, int | None, int | None]] = []
        for need in needs:
            present = need >= 0
            top = present & (table.cells[np.arange(len(need)), np.where(present, need, 0)] == winner)
            losing = unneeded & (table.cells == loser) & ~(elsewhere & (loser == winner))
            losing[own] |= (table.cells[own] == loser) & (loser != winner)
            for row in np.flatnonzero(top & losing.any(1)):
                found.append((int(row), int(need[row]), int(np.flatnonzero(losing[row])[0])))
            for row in np.flatnonzero(top & (table.null == loser)):
                found.append((int(row), int(need[row]), None))
        absent = absent_rows(needs) & ~excuse & (table.null == winner)
        losing = unneeded & (table.cells == loser)
        for row in np.flatnonzero(absent & losing.any(1)):
            found.append((int(row), None, int(np.flatnonzero(losing[row])[0])))
        if found:
            return _step(table, *min(found, key=lambda item: _size(table, item[0])))
    return None


def _size(table: Table, row: int) -> tuple[int, int, int]:
    case = table.rows.cases[int(table.rows.case[row])]
    return case.scale, len(case.text), int(table.rows.token[row])


def _step(table: Table, row: int, winner: int | None, loser: int | None) -> Step:
    case = table.rows.cases[int(table.rows.case[row])]
    return Step(case.text, case.scale, int(table.rows.query[row]), winner, loser, table.rows.training)

"""The criterion against its definition, by loops and linear programming."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from ldhd.positions import POSITIONS
from ldhd.predict import predict
from ldhd.predict.analysis import Analysis, Head
from ldhd.predict.cells import NEVER, find_failures
from ldhd.predict.description import parse_description
from ldhd.predict.shapes import TaskShapes
from ldhd.predict.views import views
from ldhd.tasks import TASKS

TRAIN, TEST = (1, 2), (1, 2, 3)


def make(name, **options):
    return POSITIONS[name](8, 2, **options)


def kind(token):
    return "digit" if token.isdigit() else token


def strings(task, scales):
    """(text, query, needs) of every answer token of every string that the latent space lists."""
    for scale in scales:
        for latent in task.latent.shapes(scale):
            instance = task.instance(latent)
            for t, needs in enumerate(task.needs(instance)):
                yield instance.text, len(instance.prompt) + t - 1, needs


def classes(position, text, j, i, training):
    return position.training_relations(text, j, i) if training else (position.relation(text, j, i),)


def constraints(task, position, slot, scales, training, known=()):
    """(winner, loser) cells, as the definition says; slots that are known can be subtracted where they are alike."""
    found = set()
    for text, j, needs in strings(task, scales):
        if slot not in needs or needs[slot] == j:
            continue
        for choice in range(len(classes(position, text, 0, 0, training))):
            cells = [
                (classes(position, text, j, i, training)[choice], kind(text[j]), kind(text[i])) for i in range(j + 1)
            ]
            null = ("null", kind(text[j]))
            if needs[slot] is None:
                left = {needs.get(other) for other in known}  # where only these are read, subtracting leaves nothing
                found |= {(null, cells[i]) for i in range(j) if i not in left}
                continue
            needed, elsewhere = cells[needs[slot]], {needs.get(other) for other in known}
            others = (i for i in range(j) if i != needs[slot] and not (i in elsewhere and cells[i] == needed))
            found |= {(needed, cells[i]) for i in others} | {(needed, null)}
            if cells[j] != needed:
                found.add((needed, cells[j]))
    return found


def score_exists(pairs):
    """Whether numbers exist with winner >= loser + 1, by linear programming."""
    nodes = sorted({cell for pair in pairs for cell in pair}, key=str)
    if not pairs:
        return True
    rows = np.zeros((len(pairs), len(nodes)))
    for row, (winner, loser) in zip(rows, pairs, strict=True):
        row[nodes.index(winner)] -= 1
        row[nodes.index(loser)] += 1
    found = linprog(np.zeros(len(nodes)), A_ub=rows, b_ub=-np.ones(len(pairs)), bounds=(None, None))
    return found.status == 0


def needed_cells(task, position, slot, scales, training):
    found = {}
    for text, j, needs in strings(task, scales):
        index = needs.get(slot)
        if index is not None and index != j:
            for relation in classes(position, text, j, index, training):
                found.setdefault((relation, kind(text[j]), kind(text[index])), set()).add(text[index])
    return found


def unneeded_cells(task, position, slot, scales, training, known=()):
    """Cells of keys other than the needed, the known ones and the query itself, where a slot is looked for."""
    return {
        (relation, kind(text[j]), kind(text[i]))
        for text, j, needs in strings(task, scales)
        if slot in needs and needs[slot] != j
        for i in range(j)
        if i not in {needs[slot], *(needs.get(other) for other in known)}
        for relation in classes(position, text, j, i, training)
    }


@pytest.mark.parametrize("name", ["copy", "parity", "addition-mod10", "multiplication", "parity-direct"])
@pytest.mark.parametrize(
    "position",
    [
        make("none"),
        make("rpe"),
        make("rpe", max_distance=2),
        make("rpe-square"),
        make("rpe-absolute"),
        make("absolute"),
        make("abacus", max_offset=2),
        make("abacus", max_offset=0),
        make("latent-window"),
    ],
    ids=lambda position: type(position).__name__,
)
@pytest.mark.parametrize("subtracted", [False, True])
def test_one_head_against_the_definition(name, position, subtracted):
    task = TASKS[name]
    source = TaskShapes(task, TEST)
    analysis = Analysis(position, source.shapes(TRAIN), source.shapes(TEST))
    for slot in analysis.slots:
        view = views(position, analysis.delimiters)[0]
        head = Head(view, (slot,), subtracts=subtracted)
        known = [other for other in analysis.slots if other != slot] if subtracted else []
        table = analysis.table(head, {other: Head(view, (other,)) for other in known})
        outcome = find_failures(replace(table, excused=np.zeros_like(table.excused)))
        if not subtracted:
            judged = analysis.failures(head, {})
            assert (judged.softmax_at, judged.linear_at) == (outcome.softmax_at, outcome.linear_at)
        training = constraints(task, position, slot, TRAIN, True, known)
        together = training | constraints(task, position, slot, TEST, False, known)
        assert (outcome.conflict_at > 0) == score_exists(training), slot
        assert (outcome.conflict_at == NEVER) == score_exists(together), slot
        taught = needed_cells(task, position, slot, TRAIN, True)
        asked = needed_cells(task, position, slot, TEST, False)
        covered = all(
            len(taught.get(cell, ())) > 1 or contents <= taught.get(cell, set()) for cell, contents in asked.items()
        )
        assert (outcome.uncovered_at == NEVER) == covered, slot
        wanted, unwanted = set(taught) | set(asked), set()
        for scales, training in ((TRAIN, True), (TEST, False)):
            unwanted |= unneeded_cells(task, position, slot, scales, training, known)
        assert (outcome.mixed_at == NEVER) == wanted.isdisjoint(unwanted), slot


def test_fixed_scores_let_the_nearer_win():
    """With ALiBi the last digit before `=` and one right after a delimiter are found at any distance, others not."""
    last = parse_description('format = "b x:n + y:m = z e"\n[needs]\nx = "y[m-1]"\n', "last")
    first = parse_description('format = "b x:n + y:m = z e"\n[needs]\nx = "x[0]"\n', "first")
    third = parse_description('format = "b x:n + y:m = z e"\n[needs]\nx = "x[2]"\n', "third")
    before = parse_description('format = "b x:n + y:m = z e"\n[needs]\nx = "x[n-1]"\n', "before")
    alibi = make("alibi")
    assert predict(last, alibi, (1, 2), range(1, 6), 1).softmax == "fails"  # at `e` the answer stands nearer
    assert predict(last, alibi, (1, 2), range(1, 6), 2).softmax == "generalises"
    assert predict(first, alibi, (1, 2), range(1, 6), 1).softmax == "fails"
    assert predict(first, alibi, (1, 2), range(1, 6), 2).softmax == "generalises"  # marked as right after `b`
    assert predict(third, alibi, (1, 2, 3), range(1, 6), 2).softmax == "fails"
    assert predict(before, alibi, (1, 2), range(1, 6), 2).softmax == "generalises"


def test_a_token_that_is_the_only_one_of_its_kind_can_read_for_the_others():
    """`+` stands next to the last digit before it, at any length; the answer's tokens do not."""
    before = parse_description('format = "b x:n + y:m = z e"\n[needs]\nx = "x[n-1]"\n', "before")
    assert predict(before, make("rpe"), (1, 2), range(1, 6), 1).softmax == "fails"
    found = predict(before, make("rpe"), (1, 2), range(1, 6), 2)
    assert found.softmax == "generalises"
    assert found.slots[0].head == "RPE; read by '+' in the first layer"

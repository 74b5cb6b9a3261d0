"""From a task, an embedding and scales to a prediction, without training anything."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Literal

from ldhd.positions import Position
from ldhd.predict.analysis import Analysis, Head, Served
from ldhd.predict.cells import NEVER, FailureScales
from ldhd.predict.fitting import fits
from ldhd.predict.prediction import Criterion, Prediction, SlotPrediction, Verdict
from ldhd.predict.queries import QueryTables, query_tables
from ldhd.predict.reason import reason
from ldhd.predict.shapes import MOST_TESTED, MOST_TRAINED, ShapeSource, StringShape, TaskShapes
from ldhd.predict.witness import find_witness
from ldhd.tasks import Task
from ldhd.tasks.task import check_scales

Limit = Literal["reliable_at", "softmax_at", "linear_at"]
"""The field of `FailureScales` that decides."""

Judged = tuple[Head, FailureScales]


@dataclass(frozen=True)
class Strings:
    """The training and test strings of a task, with their queries, which serve for every embedding."""

    source: ShapeSource
    train: Sequence[StringShape]
    test: Sequence[StringShape]
    queries: QueryTables


def predict(
    task: Task | ShapeSource | Strings,
    position: Position,
    train_scales: Sequence[int],
    test_scales: Sequence[int],
    layers: int = 1,
    *,
    name: str | None = None,
) -> Prediction:
    """Predict whether `position` carries `task` from the training scales to the test scales, and why.

    Args:
        task: A task, or anything else that lists its shapes, such as `description.parse_description` returns.
        position: The embedding; only its relations are used, never its weights.
        train_scales: The scales a model would be trained on.
        test_scales: The scales it would be tested on.
        layers: The number of attention layers; more than two count as two.
        name: What the prediction calls the embedding; the name of its class by default.
    """
    return predict_layers(task, position, train_scales, test_scales, (layers,), name=name)[0]


def predict_layers(
    task: Task | ShapeSource | Strings,
    position: Position,
    train_scales: Sequence[int],
    test_scales: Sequence[int],
    layers: Sequence[int],
    *,
    name: str | None = None,
) -> list[Prediction]:
    """Return a prediction for each number of layers; what does not depend on it is computed once. See `predict`.

    The strings of a task that is predicted for several embeddings can be prepared (`prepare`) once.
    """
    train, test = tuple(sorted(train_scales)), tuple(sorted(test_scales))
    check_scales(train)
    check_scales(test)
    if min(layers) < 1:
        raise ValueError(f"a model has at least one layer, got {min(layers)}")
    strings = task if isinstance(task, Strings) else prepare(task, train, test)
    called = name or type(position).__name__
    if strings.source.by_content:
        return [_refuse(strings.source, called, train, test, depth) for depth in layers]
    for training, group in ((True, strings.train), (False, strings.test)):
        for shape in group:
            position.check_fits(shape.text, training)
    analysis = Analysis(position, strings.train, strings.test, strings.source.exchangeable, strings.queries)
    return [_predict(analysis, strings.source, called, train, test, depth) for depth in layers]


def prepare(task: Task | ShapeSource, train: Sequence[int], test: Sequence[int]) -> Strings:
    """List the strings of a task at these scales, in the format of a run over them."""
    check_scales(train)
    check_scales(test)
    train, test = tuple(sorted(train)), tuple(sorted(test))
    source = as_source(task, train, test)
    shapes = ([], []) if source.by_content else (source.shapes(train, MOST_TRAINED), source.shapes(test, MOST_TESTED))
    return Strings(source, *shapes, query_tables(*shapes))


def as_source(task: Task | ShapeSource, train: Sequence[int], test: Sequence[int]) -> ShapeSource:
    """Return the shapes of a task, in the format of a run over these scales."""
    return TaskShapes(task, tuple(sorted({*train, *test}))) if isinstance(task, Task) else task


def _refuse(source: ShapeSource, name: str, train: tuple[int, ...], test: tuple[int, ...], layers: int) -> Prediction:
    """Say that predictions do not apply, because digits decide what is needed."""
    return Prediction(
        "does not apply", "undecided", "undecided", explains_training=False, max_scale=0, risk=0.0,
        task=source.name, position=name, layers=layers, train_scales=train, test_scales=test, slots=(),
        enumerated=source.enumerated, reason=f"{source.by_content[0].upper()}{source.by_content[1:]}.",
    )  # fmt: skip


def _predict(
    analysis: Analysis, source: ShapeSource, name: str, train: tuple[int, ...], test: tuple[int, ...], layers: int
) -> Prediction:
    limits: tuple[Limit, ...] = ("reliable_at", "softmax_at", "linear_at")
    best, softmax, linear = (_best_heads(analysis, layers, limit) for limit in limits)
    served = {slot: head for slot, (head, failures) in best.items() if failures.reliable_at == NEVER}
    fitted = fits(analysis, layers, {slot: failures for slot, (_, failures) in softmax.items()})

    def criterion(fails: bool) -> Criterion:
        return "fails" if fails else "generalises" if source.enumerated else "undecided"

    def verdict(fails: bool) -> Verdict:
        return "does not fit" if fails and not fitted else criterion(fails)

    slots = [
        SlotPrediction(
            slot=slot,
            verdict=verdict(slot not in served),
            softmax=criterion(softmax[slot][1].softmax_at < NEVER),
            linear=criterion(linear[slot][1].linear_at < NEVER),
            explains_training=failures.conflict_at > 0,
            max_scale=max((scale for scale in {*train, *test} if scale < failures.reliable_at), default=0),
            risk=analysis.risk(head),
            head=str(head),
            witness=None if slot in served else find_witness(analysis, slot, head, failures, served),
        )
        for slot, (head, failures) in best.items()
    ]
    found = Prediction(
        task=source.name,
        position=name,
        layers=layers,
        train_scales=train,
        test_scales=test,
        verdict=verdict(any(slot.verdict not in ("generalises", "undecided") for slot in slots)),
        softmax=criterion(any(slot.softmax == "fails" for slot in slots)),
        linear=criterion(any(slot.linear == "fails" for slot in slots)),
        explains_training=all(slot.explains_training for slot in slots),
        max_scale=min((slot.max_scale for slot in slots), default=max(train + test)),
        risk=max((slot.risk for slot in slots), default=0.0),
        slots=tuple(slots),
        enumerated=source.enumerated,
        reason="",
    )
    return replace(found, reason=reason(found))


def _best_heads(analysis: Analysis, layers: int, limit: Limit) -> dict[str, Judged]:
    """Return the best head of each slot; a slot that is served may help others, so repeat until no more are."""
    best: dict[str, Judged] = {}
    served: dict[str, Head] = {}
    while True:
        before = len(served)
        for slot in analysis.slots:
            if slot not in served:
                best[slot] = _best_head(analysis, slot, layers, limit, served)
                if getattr(best[slot][1], limit) == NEVER:
                    served[slot] = best[slot][0]
        if len(served) == before:
            return best


def _best_head(analysis: Analysis, slot: str, layers: int, limit: Limit, served: Served) -> Judged:
    """Return the first head that serves the slot, or else the first of those that fail last."""
    fails_at, better = attrgetter(limit), attrgetter(limit, "softmax_at")
    judged: list[Judged] = []
    for head in analysis.heads(slot, layers, served):
        judged.append((head, analysis.failures(head, served)))
        if fails_at(judged[-1][1]) == NEVER:
            return judged[-1]
    return max(judged, key=lambda item: better(item[1]))

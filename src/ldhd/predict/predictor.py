"""From a task, an embedding and scales to a prediction, without training anything."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Literal

from ldhd.positions import Position
from ldhd.predict.analysis import Analysis, Head, Served
from ldhd.predict.cells import NEVER, FailureScales
from ldhd.predict.prediction import Prediction, SlotPrediction, Verdict
from ldhd.predict.shapes import ShapeSource, TaskShapes
from ldhd.predict.witness import find_witness
from ldhd.tasks import Task
from ldhd.tasks.task import check_scales

Criterion = Literal["softmax_at", "linear_at"]
"""The field of `FailureScales` that decides."""

Judged = tuple[Head, FailureScales]


def predict(
    task: Task | ShapeSource,
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
    task: Task | ShapeSource,
    position: Position,
    train_scales: Sequence[int],
    test_scales: Sequence[int],
    layers: Sequence[int],
    *,
    name: str | None = None,
) -> list[Prediction]:
    """Return a prediction for each number of layers; what does not depend on it is computed once. See `predict`."""
    train, test = tuple(sorted(train_scales)), tuple(sorted(test_scales))
    check_scales(train)
    check_scales(test)
    if min(layers) < 1:
        raise ValueError(f"a model has at least one layer, got {min(layers)}")
    source = as_source(task, train, test)
    shapes = source.shapes(train), source.shapes(test)
    for training, group in zip((True, False), shapes, strict=True):
        for shape in group:
            position.check_fits(shape.text, training)
    analysis = Analysis(position, *shapes, source.exchangeable)
    return [_predict(analysis, source, name or type(position).__name__, train, test, depth) for depth in layers]


def as_source(task: Task | ShapeSource, train: Sequence[int], test: Sequence[int]) -> ShapeSource:
    """Return the shapes of a task, in the format of a run over these scales."""
    return TaskShapes(task, tuple(sorted({*train, *test}))) if isinstance(task, Task) else task


def _predict(
    analysis: Analysis, source: ShapeSource, name: str, train: tuple[int, ...], test: tuple[int, ...], layers: int
) -> Prediction:
    softmax, linear = (_best_heads(analysis, layers, criterion) for criterion in ("softmax_at", "linear_at"))
    served = {slot: head for slot, (head, failures) in softmax.items() if failures.softmax_at == NEVER}

    def verdict(fails: bool) -> Verdict:
        return "fails" if fails else "generalises" if source.enumerated else "undecided"

    slots = [
        SlotPrediction(
            slot=slot,
            verdict=verdict(slot not in served),
            linear=verdict(linear[slot][1].linear_at < NEVER),
            explains_training=failures.conflict_at > 0,
            max_scale=max((scale for scale in {*train, *test} if scale < failures.softmax_at), default=0),
            risk=analysis.risk(head),
            head=str(head),
            witness=None if slot in served else find_witness(analysis, slot, head, failures, served),
        )
        for slot, (head, failures) in softmax.items()
    ]
    return Prediction(
        task=source.name,
        position=name,
        layers=layers,
        train_scales=train,
        test_scales=test,
        verdict=verdict(any(slot.verdict == "fails" for slot in slots)),
        linear=verdict(any(slot.linear == "fails" for slot in slots)),
        explains_training=all(slot.explains_training for slot in slots),
        max_scale=min((slot.max_scale for slot in slots), default=max(train + test)),
        risk=max((slot.risk for slot in slots), default=0.0),
        slots=tuple(slots),
        enumerated=source.enumerated,
    )


def _best_heads(analysis: Analysis, layers: int, criterion: Criterion) -> dict[str, Judged]:
    """Return the best head of each slot; a slot that is served may help others, so repeat until no more are."""
    best: dict[str, Judged] = {}
    served: dict[str, Head] = {}
    while True:
        before = len(served)
        for slot in analysis.slots:
            if slot not in served:
                best[slot] = _best_head(analysis, slot, layers, criterion, served)
                if getattr(best[slot][1], criterion) == NEVER:
                    served[slot] = best[slot][0]
        if len(served) == before:
            return best


def _best_head(analysis: Analysis, slot: str, layers: int, criterion: Criterion, served: Served) -> Judged:
    """Return the first head that serves the slot, or else the first of those that fail last."""
    fails_at = attrgetter(criterion)
    judged: list[Judged] = []
    for head in analysis.heads(slot, layers, served):
        judged.append((head, analysis.failures(head, served)))
        if fails_at(judged[-1][1]) == NEVER:
            return judged[-1]
    return max(judged, key=lambda item: fails_at(item[1]))

"""From a task, an embedding and scales to a prediction, without training anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ldhd.positions import Position
from ldhd.predict.cases import Source, TaskSource
from ldhd.predict.cells import NEVER, Outcome
from ldhd.predict.prediction import Prediction, SlotPrediction, Verdict, worst
from ldhd.predict.trial import Served, Trial, Way
from ldhd.predict.witness import find_witness
from ldhd.tasks import Task

Criterion = Literal["softmax_at", "linear_at"]


def predict(
    task: Task | Source,
    position: Position,
    train_scales: Sequence[int],
    test_scales: Sequence[int],
    layers: int = 1,
    *,
    name: str | None = None,
) -> Prediction:
    """Whether `position` carries `task` from the training scales to the test scales, and why.

    `name` is how the prediction calls the embedding.
    """
    return predict_layers(task, position, train_scales, test_scales, (layers,), name=name)[0]


def predict_layers(
    task: Task | Source,
    position: Position,
    train_scales: Sequence[int],
    test_scales: Sequence[int],
    layers: Sequence[int],
    *,
    name: str | None = None,
) -> list[Prediction]:
    """A prediction for each number of layers, sharing what does not depend on it."""
    train, test = tuple(sorted(train_scales)), tuple(sorted(test_scales))
    for scales in (train, test):
        if not scales or scales[0] < 1:
            raise ValueError(f"scales are whole numbers from 1 up, got {list(scales)}")
    if min(layers) < 1:
        raise ValueError(f"a model has at least one layer, got {min(layers)}")
    source = TaskSource(task, tuple(sorted({*train, *test}))) if isinstance(task, Task) else task
    cases = source.cases(train), source.cases(test)
    for case in cases[0]:
        position.check_fits(case.text, True)
    for case in cases[1]:
        position.check_fits(case.text, False)
    trial = Trial(position, *cases, source.exchangeable)
    return [_judge(trial, source, name or type(position).__name__, train, test, depth) for depth in layers]


@dataclass(frozen=True)
class _Best:
    """The way that carries a slot furthest."""

    way: Way
    outcome: Outcome


def _judge(
    trial: Trial, source: Source, name: str, train: tuple[int, ...], test: tuple[int, ...], layers: int
) -> Prediction:
    best, linear = (_resolve(trial, layers, criterion) for criterion in ("softmax_at", "linear_at"))
    served = {slot: found.way for slot, found in best.items() if found.outcome.softmax_at == NEVER}
    good: Verdict = "generalises" if source.enumerated else "undecided"
    slots = []
    for slot, found in best.items():
        fails = found.outcome.softmax_at < NEVER
        slots.append(
            SlotPrediction(
                slot=slot,
                verdict="fails" if fails else good,
                linear="fails" if linear[slot].outcome.linear_at < NEVER else good,
                explains_training=found.outcome.conflict_at > 0,
                max_scale=_largest_below(found.outcome.softmax_at, train, test),
                risk=trial.risk(found.way),
                way=str(found.way),
                witness=find_witness(trial, slot, found.way, found.outcome, served) if fails else None,
            )
        )
    return Prediction(
        task=source.name,
        position=name,
        layers=layers,
        train_scales=train,
        test_scales=test,
        verdict=worst([slot.verdict for slot in slots]) if slots else good,
        linear=worst([slot.linear for slot in slots]) if slots else good,
        explains_training=all(slot.explains_training for slot in slots),
        max_scale=min((slot.max_scale for slot in slots), default=max(train + test)),
        risk=max((slot.risk for slot in slots), default=0.0),
        slots=tuple(slots),
        enumerated=source.enumerated,
    )


def _resolve(trial: Trial, layers: int, criterion: Criterion) -> dict[str, _Best]:
    """The best way for each slot; one that is served may help others, so it goes on until no more are served."""
    best: dict[str, _Best] = {}
    served: dict[str, Way] = {}
    while True:
        before = len(served)
        for slot in trial.slots:
            if slot not in served:
                best[slot] = _best(trial, slot, layers, criterion, served)
                if getattr(best[slot].outcome, criterion) == NEVER:
                    served[slot] = best[slot].way
        if len(served) == before:
            return best


def _best(trial: Trial, slot: str, layers: int, criterion: Criterion, served: Served) -> _Best:
    """The first way that serves the slot, or the first of those that carry furthest."""
    found: _Best | None = None
    for way in trial.ways(slot, layers, served):
        outcome = trial.judge(way, served)
        if found is None or getattr(outcome, criterion) > getattr(found.outcome, criterion):
            found = _Best(way, outcome)
        if getattr(outcome, criterion) == NEVER:
            break
    assert found is not None
    return found


def _largest_below(scale: int, train: Sequence[int], test: Sequence[int]) -> int:
    """The largest scale before the one at which something goes wrong; 0 if that is in training."""
    return max((known for known in {*train, *test} if known < scale), default=0)

"""The score of a model: exact match on the random and on the hard instances of each scale of the suite."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import Any

from ldhd.score.checker import ANSWERS, right_answer
from ldhd.score.contestants import Contestant
from ldhd.score.suite import SCALES, SUITE, random_instances
from ldhd.tasks import TASKS, Instance

HOLDS = 0.9
"""The exact match that a scale needs to count for the factor."""


@dataclass(frozen=True)
class Share:
    """Exact match on n instances; None where there are none."""

    n: int
    exact: float | None


@dataclass(frozen=True)
class ScaleScore:
    """The score at one scale."""

    scale: int
    random: Share
    hard: Share


@dataclass(frozen=True)
class Score:
    """The score of a model on one task."""

    task: str
    suite: str
    model: str
    parameters: int | None
    scales: list[ScaleScore]
    factor: float
    """Over `trained_to`, the largest scale up to which at least 90 % of the random instances are right throughout."""
    trained_to: int
    seconds: float

    def document(self) -> dict[str, Any]:
        return asdict(self)


def score(
    model: Contestant,
    task: str,
    *,
    largest: int = SCALES[-1],
    trained_to: int | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Score:
    """Score a model on the scales of the suite up to `largest`."""
    if task not in ANSWERS:
        raise ValueError(f"there is no suite for the task {task!r}; there are {', '.join(ANSWERS)}")
    if model.task not in (None, task):
        raise ValueError(f"{model.name} is trained on {model.task}, not on {task}")
    start = time.monotonic()
    wanted = [scale for scale in SCALES if scale <= largest]
    found = []
    for done, scale in enumerate(wanted):
        on_progress(done, len(wanted))
        found.append(_scale_score(model, task, scale))
    on_progress(len(wanted), len(wanted))
    base = trained_to or model.trained_to or max(TASKS[task].train_scales)
    held = takewhile(lambda one: (one.random.exact or 0.0) >= HOLDS, found)
    factor = max((one.scale for one in held), default=0) / base
    seconds = round(time.monotonic() - start, 2)
    return Score(task, SUITE, model.name, model.parameters, found, factor, base, seconds)


def _scale_score(model: Contestant, task: str, scale: int) -> ScaleScore:
    own = TASKS[task].for_scales([scale])
    random, hard = random_instances(own, scale), own.hard(scale)
    instances = [*random, *hard]
    prompts = [instance.prompt for instance in instances]
    right = [right_answer(task, prompt) for prompt in prompts]
    if any(instance.answer != answer for instance, answer in zip(instances, right, strict=True)):
        raise AssertionError(f"the checker and the task {task} disagree at scale {scale}")
    written = model.answers(prompts, max(map(len, right)))
    if len(written) != len(prompts):
        raise ValueError(f"{model.name} wrote {len(written)} answers to {len(prompts)} prompts at scale {scale}")
    hits = [answer.strip() == expected for answer, expected in zip(written, right, strict=True)]
    return ScaleScore(scale, _share(hits[: len(random)], random), _share(hits[len(random) :], hard))


def _share(hits: Sequence[bool], instances: Sequence[Instance]) -> Share:
    return Share(len(instances), sum(hits) / len(instances) if instances else None)

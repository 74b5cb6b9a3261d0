"""Predictions by name: of tasks, embeddings and their options, and the whole matrix that is registered."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ldhd.experiments.defaults import defaults_of
from ldhd.experiments.parts import PositionOptions, build_position, load_task, position_options, position_settings
from ldhd.predict import Prediction, Source, predict_layers
from ldhd.predict.description import parse_description
from ldhd.predict.design import Design, design
from ldhd.tasks import TASKS, Task

REGISTERED = (
    "none",
    "absolute",
    "rope",
    "alibi",
    "rpe",
    "rpe-square",
    "rpe-absolute",
    "abacus",
    "rpe-square+rpe-absolute",
)
"""The embeddings of the registered matrix."""

ALL_POSITIONS = (*REGISTERED, "coupled", "latent-window")
"""What `all` stands for. Others are asked for by name: FIRE learns what its relation depends on, and randomized ids
have more draws than can be listed, so that predictions about them are rough."""

TEST_SCALES = tuple(range(1, 11))
FAR_SCALES = (*TEST_SCALES, 20, 50, 100)

VARIANTS: tuple[tuple[str, dict[str, Any]], ...] = (
    *((name, {}) for name in REGISTERED),
    ("rpe", {"max_distance": 2}),
    ("rpe-square", {"max_distance": 1024}),
    ("rpe-absolute", {"max_distance": 1024}),
    ("abacus", {"max_offset": 0}),
    ("abacus", {"max_offset": 20}),
)
"""What is registered: each embedding as it is, and clipped or not, with offsets or without."""

RELATION_OPTIONS = ("max_distance", "max_offset", "threshold", "max_length", "test_length", "window", "absolute")
"""The options of embeddings that their relations depend on."""


@dataclass(frozen=True)
class NamedPrediction:
    """A prediction with the options of its embedding."""

    prediction: Prediction
    options: PositionOptions

    def document(self) -> dict[str, Any]:
        return {**self.prediction.document(), "position_options": self.options}


def load_source(name: str) -> Task | Source:
    """A task by name or `module:Class`, or the description in a TOML file."""
    if not name.endswith(".toml"):
        return load_task(name)
    path = Path(name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read the description {name}: {error}") from None
    return parse_description(text, path.stem)


def predictions(
    tasks: Sequence[str],
    positions: Sequence[str],
    *,
    layers: Sequence[int] = (1, 2),
    train_scales: Sequence[int] | None = None,
    test_scales: Sequence[int] = TEST_SCALES,
    settings: Mapping[str, Any] | None = None,
) -> Iterator[NamedPrediction]:
    """Predictions of all tasks with all embeddings, `all` standing for ours; settings are `position.X`."""
    names = [name for task in tasks for name in (TASKS if task == "all" else [task])]
    chosen = [name for position in positions for name in (ALL_POSITIONS if position == "all" else [position])]
    settings = settings or {}
    given = {
        position: {key.removeprefix("position."): value for key, value in settings.items() if key in known}
        for position, known in position_settings(chosen, settings).items()
    }
    loaded = {name: load_source(name) for name in names}
    for name, task in loaded.items():
        for position in chosen:
            scales = task.train_scales if train_scales is None else train_scales
            yield from _named(name, task, position, given[position], scales, test_scales, layers)


def designed(
    name: str, train_scales: Sequence[int] | None, test_scales: Sequence[int], layers: int
) -> tuple[Design, dict[str, tuple[bool, str]]]:
    """The design of a task; for each embedding of ours, whether it refines it, and the verdict of the predictor."""
    task = load_source(name)
    scales = task.train_scales if train_scales is None else train_scales
    found = design(task, scales, test_scales, layers)
    embeddings: dict[str, tuple[bool, str]] = {}
    for position in ALL_POSITIONS:
        (named,) = _named(name, task, position, {}, scales, test_scales, (layers,))
        refines = found.refined_by(build_position(position, named.options))
        embeddings[position] = refines, named.prediction.verdict
    return found, embeddings


def registered_matrix() -> Iterator[NamedPrediction]:
    """Every task with every variant, one and two layers, to scale 10 and to scale 100."""
    for name, task in TASKS.items():
        trained = {tuple(task.train_scales), (1, 2, 3, 4, 5)}
        for train_scales in sorted(trained):
            for test_scales in (TEST_SCALES, FAR_SCALES):
                for position, given in VARIANTS:
                    yield from _named(name, task, position, given, train_scales, test_scales, (1, 2))


def registered_count() -> int:
    return sum(len({tuple(task.train_scales), (1, 2, 3, 4, 5)}) for task in TASKS.values()) * 2 * len(VARIANTS) * 2


def entry(named: NamedPrediction) -> dict[str, Any]:
    """A prediction as it is registered: short, and with the options that its relations depend on."""
    document = named.document()
    document["slots"] = {slot: value["verdict"] for slot, value in document["slots"].items()}
    document["witness"] = document["witness"] and document["witness"]["words"]
    document["position_options"] = {
        term: {key: value for key, value in options.items() if key in RELATION_OPTIONS}
        for term, options in named.options.items()
    }
    return document


def _usual_options(task: str, position: str) -> dict[str, Any]:
    """What `ldhd run` gives the embedding on this task where nothing is said."""
    settings = defaults_of(task, position).settings
    return {key.removeprefix("position."): value for key, value in settings.items() if key.startswith("position.")}


def _named(
    name: str,
    task: Task | Source,
    position: str,
    given: Mapping[str, Any],
    train_scales: Sequence[int],
    test_scales: Sequence[int],
    layers: Sequence[int],
) -> Iterator[NamedPrediction]:
    options = position_options(position, {**_usual_options(name, position), **given})
    embedding = build_position(position, options)
    try:
        found = predict_layers(task, embedding, train_scales, test_scales, layers, name=position)
    except ValueError as error:
        raise ValueError(f"{name} with {position}: {error}") from None
    yield from (NamedPrediction(prediction, options) for prediction in found)

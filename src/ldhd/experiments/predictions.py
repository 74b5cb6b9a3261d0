"""Predictions for tasks and embeddings given by name, and the matrix of predictions that is registered."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ldhd.experiments.config import RunConfig
from ldhd.experiments.defaults import defaults_of
from ldhd.experiments.described import read_description
from ldhd.experiments.parts import (
    PositionOptions,
    assign_settings,
    build_position,
    is_description,
    load_task,
    position_options,
)
from ldhd.positions import POSITIONS, Position
from ldhd.predict import Prediction, ShapeSource, Strings, predict_layers, prepare
from ldhd.predict.design import Design, as_position, design
from ldhd.tasks import TASKS, Task

REGISTERED = (
    *("none", "absolute", "rope", "alibi", "rpe", "rpe-square", "rpe-absolute", "abacus"),
    "rpe-square+rpe-absolute",
)
"""The embeddings of the first predictions that were registered."""

TEST_SCALES = tuple(range(1, 11))
DOES_NOT_APPLY = "does not apply"


NamedPrediction = tuple[Prediction, PositionOptions]
"""A prediction together with the options of its embedding."""


def enumerable_positions() -> list[str]:
    """Return the names for which `all` stands; predictions about other embeddings are approximate."""
    return list(dict.fromkeys([*REGISTERED, *(name for name, kind in POSITIONS.items() if kind.enumerable)]))


def relation_settings(options: PositionOptions) -> PositionOptions:
    """Return the options of each term on which its relations depend; all options of embeddings that are not ours."""
    return {term: POSITIONS.get(term, Position).relation_settings(own) for term, own in options.items()}


def load_source(name: str) -> Task | ShapeSource:
    """Load a task by name or `module:Class`, or the description of a task from a TOML file."""
    return read_description(name) if is_description(name) else load_task(name)


def predictions(
    tasks: Sequence[str],
    positions: Sequence[str],
    *,
    layers: Sequence[int] = (1, 2),
    train_scales: Sequence[int] | None = None,
    test_scales: Sequence[int] = TEST_SCALES,
    settings: Mapping[str, Any] | None = None,
) -> Iterator[NamedPrediction]:
    """Predict every task with every embedding, for models of each of these depths.

    Among the names, `all` stands for every task of ours, or for `enumerable_positions`. The training scales are those
    of the task by default. `settings` are options as `position.X`; each embedding takes those that it has.
    """
    task_names = [name for task in tasks for name in (TASKS if task == "all" else [task])]
    names = [name for position in positions for name in (enumerable_positions() if position == "all" else [position])]
    for key in settings or {}:
        if not key.startswith("position."):
            raise ValueError(f"a prediction takes settings position.X, got {key}")
    assigned = assign_settings(names, settings or {})
    sources = {name: load_source(name) for name in task_names}
    for task_name, source in sources.items():
        scales = source.train_scales if train_scales is None else train_scales
        strings = prepare(source, scales, test_scales)
        for position in names:
            yield from _predict(task_name, strings, position, assigned[position], scales, test_scales, layers)


def designed(
    name: str, train_scales: Sequence[int] | None, test_scales: Sequence[int], layers: int
) -> tuple[Design, dict[str, tuple[bool, str]], str | None]:
    """Design an embedding; return also whether each of `enumerable_positions` refines the design, and its verdict.

    The last value is the verdict about the embedding of the design itself, None if there is none.
    """
    source = load_source(name)
    scales = source.train_scales if train_scales is None else train_scales
    found = design(source, scales, test_scales, layers)
    strings = prepare(source, scales, test_scales)
    embeddings: dict[str, tuple[bool, str]] = {}
    for position in enumerable_positions():
        ((prediction, options),) = _predict(name, strings, position, {}, scales, test_scales, (layers,))
        embeddings[position] = found.refined_by(build_position(position, options)), prediction.verdict
    own = None
    if found.complete:
        own = predict_layers(strings, as_position(found), scales, test_scales, (layers,))[0].verdict
    return found, embeddings, own


def predict_configs(configs: Iterable[RunConfig]) -> Iterator[tuple[RunConfig, NamedPrediction]]:
    """Predict the runs of a sweep, each of their settings once, with the first config that has it.

    Runs that are primed or have no attention are left out.
    """
    predicted = [
        config
        for config in configs
        if config.train.priming_scale is None and config.model_options.architecture == "transformer"
    ]
    settings = {prediction_key(config): config for config in reversed(predicted)}
    strings: dict[tuple[Any, ...], Strings] = {}
    for config in reversed(settings.values()):
        scales = config.train_scales, config.test_scales
        if (config.task, *scales) not in strings:
            strings[(config.task, *scales)] = prepare(load_source(config.task), *scales)
        embedding = build_position(config.position, config.position_options)
        layers = min(config.model_options.layers, 2)
        (found,) = predict_layers(strings[(config.task, *scales)], embedding, *scales, (layers,), name=config.position)
        yield config, (found, config.position_options)


def entry(
    prediction: Prediction, options: PositionOptions, baselines: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return a prediction as it is registered: in short, with the options on which its relations depend."""
    document = {**prediction.document(), **({"baselines": dict(baselines)} if baselines else {})}
    document["slots"] = {slot: value["verdict"] for slot, value in document["slots"].items()}
    document["witness"] = document["witness"] and document["witness"]["words"]
    return {**document, "position_options": relation_settings(options)}


def _predict(
    name: str,
    task: Task | ShapeSource | Strings,
    position: str,
    settings: Mapping[str, Any],
    train_scales: Sequence[int],
    test_scales: Sequence[int],
    layers: Sequence[int],
) -> Iterator[NamedPrediction]:
    own = {**defaults_of(name, position)[1], **settings}  # as `ldhd run` has them
    overrides = {key.removeprefix("position."): value for key, value in own.items() if key.startswith("position.")}
    options = position_options(position, overrides)
    embedding = build_position(position, options)
    try:
        found = predict_layers(task, embedding, train_scales, test_scales, layers, name=position)
    except ValueError as error:
        raise ValueError(f"{name} with {position}: {error}") from None
    yield from ((prediction, options) for prediction in found)


def prediction_key(config: RunConfig) -> tuple[Any, ...]:
    """Return what the predictor knows of a run: runs with one key have one prediction."""
    relations = json.dumps(relation_settings(config.position_options), sort_keys=True, default=repr)
    scales = config.train_scales, config.test_scales
    layers = min(config.model_options.layers, 2)  # further layers change no prediction
    return (
        config.task,
        config.model_options.architecture,
        config.position,
        relations,
        layers,
        *scales,
        config.train.priming_scale is not None,
    )


def predict_run(config: RunConfig) -> str | None:
    """Return the predictor's verdict about a run, None if the run is primed with larger instances.

    About models without attention it says nothing: it `does not apply`.
    """
    if config.train.priming_scale is not None:
        return None
    if config.model_options.architecture != "transformer":
        return DOES_NOT_APPLY
    embedding = build_position(config.position, config.position_options)
    layers = min(config.model_options.layers, 2)
    source = load_source(config.task)
    (found,) = predict_layers(source, embedding, config.train_scales, config.test_scales, (layers,))
    return found.verdict

"""What came of a preset, held against what the paper says."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

from pydantic import BaseModel

import ldhd
from ldhd.experiments.config import RunConfig
from ldhd.experiments.parts import outline, position_options
from ldhd.experiments.preset import Claim, Preset
from ldhd.experiments.presets import PRESETS
from ldhd.experiments.record import Record
from ldhd.experiments.verdict import FAILS, GENERALISES, extrapolation_factor
from ldhd.files import BadFileError, read_json

GUESS, CHANCE = 0.75, 0.05
"""Exact match up to the first is nearer to a guess between two answers than to the truth; above the second it is above
chance. `high` and `low` are what verdicts call generalising and failing."""


@dataclass(frozen=True)
class Outcome:
    """The runs of a preset that differ in their seed alone."""

    task: str
    label: str
    position: str
    layers: int
    seeds: int
    fitted: int
    scale: int
    """The largest test scale."""
    exact: float
    """Exact match there, the mean over all seeds."""
    by_seed: tuple[float, ...]
    """The same of each seed."""
    claim: Claim
    agrees: bool | None
    """None where the paper says nothing that can be checked."""
    factor: float
    """See `extrapolation_factor`."""
    parameters: int
    seconds: float
    """Of training, the mean over seeds."""


def outcomes(preset: Preset, configs: Sequence[RunConfig], records: Sequence[Record]) -> list[Outcome]:
    """One for each kind of run; runs without a record are left out."""
    kinds, by_hash = by_kind(preset, configs, records), {config.hash: config for config in configs}
    by_seed = {kind: tuple(record.results[-1].exact for record in found) for kind, found in kinds.items()}
    values = {kind: mean(found) for kind, found in by_seed.items()}
    best = max(values.values(), default=0.0)
    made = []
    for (task, label), found in kinds.items():
        config, value = by_hash[found[0].hash], values[task, label]
        claim = _claim(preset, config)
        made.append(
            Outcome(
                task=task,
                label=label,
                position=config.position,
                layers=config.model_options.layers,
                seeds=len(found),
                fitted=sum(record.fitted for record in found),
                scale=found[0].results[-1].scale,
                exact=value,
                by_seed=by_seed[task, label],
                claim=claim,
                agrees=_agrees(claim, value, values.get((task, "rpe-square"), best)),
                factor=extrapolation_factor(found),
                parameters=_parameters(config),
                seconds=round(mean(record.seconds for record in found), 1),
            )
        )
    return made


def smallest_depths(found: Sequence[Outcome]) -> list[Outcome]:
    """Of outcomes that differ in depth the first at which most seeds fit, or the last; labelled by embedding.

    Where there is nothing of the smallest depth yet, nothing is known.
    """
    chosen: dict[tuple[str, str], Outcome] = {}
    least = min((outcome.layers for outcome in found), default=1)
    for outcome in sorted(found, key=lambda outcome: outcome.layers):
        key = outcome.task, outcome.position
        if outcome.layers == least or (key in chosen and 2 * chosen[key].fitted <= chosen[key].seeds):
            chosen[key] = replace(outcome, label=outcome.position)
    return list(chosen.values())


def depth(layers: int) -> str:
    return f"{layers} layer{'s' * (layers > 1)}"


def by_kind(
    preset: Preset, configs: Sequence[RunConfig], records: Sequence[Record]
) -> dict[tuple[str, str], list[Record]]:
    """Task and kind of run -> the records of its seeds, in the order of the configs."""
    by_hash, firsts = {record.hash: record for record in records}, firsts_of(configs)
    kinds: dict[tuple[str, str], list[Record]] = {}
    for config in configs:
        if config.hash in by_hash:
            kind = config.task, kind_of(preset, config, firsts[config.task])
            kinds.setdefault(kind, []).append(by_hash[config.hash])
    return kinds


def firsts_of(configs: Sequence[RunConfig]) -> dict[str, dict[str, RunConfig]]:
    """Of each task the first run with each embedding, in their order: what others are told from."""
    found: dict[str, dict[str, RunConfig]] = {}
    for config in configs:
        found.setdefault(config.task, {}).setdefault(config.position, config)
    return found


def kind_of(preset: Preset, config: RunConfig, firsts: Mapping[str, RunConfig]) -> str:
    """What tells this run from others of the preset and its task, but for its seed; `firsts` are those of the task."""
    if preset.view == "tasks":
        return config.task
    if preset.view == "grid":
        return _row(config, firsts)
    if preset.view == "depths":
        return f"{config.position}, {depth(config.model_options.layers)}"
    return f"{config.position}, {100 * config.train.priming_share:g} %" if preset.view == "shares" else config.position


def _row(config: RunConfig, firsts: Mapping[str, RunConfig]) -> str:
    """What differs from the first run with the same embedding; beside the first of all, every option that is set."""
    usual, is_main = firsts[config.position], config.position == next(iter(firsts))
    changed = {**_changes(config.model_options, usual.model_options), **_changes(config.train, usual.train)}
    options = usual.position_options if is_main else position_options(config.position, {})
    for term, own in config.position_options.items():
        changed |= {key: value for key, value in own.items() if value != options[term][key]}
    told = {key: f"{value:g}" if type(value) is float else value for key, value in changed.items()}
    words = ", ".join(f"{key}={value}" for key, value in told.items())
    if is_main:
        return words or config.position
    return f"{config.position} ({words})" if words else config.position


def _changes(options: BaseModel, usual: BaseModel) -> dict[str, Any]:
    return {key: value for key, value in options if value != getattr(usual, key)}


def _parameters(config: RunConfig) -> int:
    model = outline(config.model_options, config.position, config.position_options)
    return sum(parameter.numel() for parameter in model.parameters())


def document(
    name: str, size: str, configs: Sequence[RunConfig], records: Sequence[Record], **more: Any
) -> dict[str, Any]:
    """What is kept of a preset beside its runs and its figure; of runs without a record nothing."""
    preset, done = PRESETS[name], {record.hash for record in records}
    finished = [config for config in configs if config.hash in done]
    return {
        "preset": name,
        "size": size,
        "title": preset.title,
        "says": preset.says,
        "assumed": preset.assumptions(size),
        "seeds": sorted({config.seed for config in finished}),
        "outcomes": [asdict(outcome) for outcome in outcomes(preset, configs, records)],
        "runs": [config.hash for config in finished],
        "seconds": round(sum(record.seconds for record in records), 1),
        **more,
    }


def stem(name: str) -> str:
    """How the files of a preset are called; a run has a record.json of its own."""
    return "scale-100" if name == "record" else name


def stored(name: str, size: str) -> dict[str, Any] | None:
    """The result of a preset in the source tree's `results/`, None if there is none."""
    path = Path(ldhd.__file__).parents[2] / "results" / size / f"{stem(name)}.json"
    try:
        found = read_json(path)
    except (OSError, BadFileError, json.JSONDecodeError):
        return None
    return found if isinstance(found, dict) else None


def _claim(preset: Preset, config: RunConfig) -> Claim:
    if preset.view == "shares":
        return "untold"
    return preset.claims.get(config.task if preset.view == "tasks" else config.position, "untold")


def _agrees(claim: Claim, value: float, reference: float) -> bool | None:
    if claim == "untold":
        return None
    return {
        "high": value >= GENERALISES,
        "low": value <= FAILS,
        "guess": value <= GUESS,
        "between": CHANCE < value <= reference,
    }[claim]

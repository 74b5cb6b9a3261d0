"""What came of a preset, held against what the paper says."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import ldhd
from ldhd.experiments.config import RunConfig
from ldhd.experiments.presets import PRESETS, Claim, Preset
from ldhd.experiments.record import Record
from ldhd.experiments.verdict import FAILS, GENERALISES
from ldhd.files import BadFileError, read_json

GUESS, CHANCE = 0.75, 0.05
"""Exact match up to the first is nearer to a guess between two answers than to the truth; above the second it is above
chance. `high` and `low` are what verdicts call generalising and failing."""


@dataclass(frozen=True)
class Outcome:
    """The runs of a preset that differ in their seed alone."""

    label: str
    seeds: int
    fitted: int
    scale: int
    """The largest test scale."""
    exact: float
    """Exact match there, the mean over all seeds."""
    claim: Claim
    agrees: bool | None
    """None where the paper says nothing that can be checked."""


def outcomes(preset: Preset, configs: Sequence[RunConfig], records: Sequence[Record]) -> list[Outcome]:
    """One for each kind of run; runs without a record are left out."""
    by_hash = {record.hash: record for record in records}
    kinds: dict[str, list[Record]] = {}
    claims: dict[str, Claim] = {}
    for config in configs:
        if config.hash in by_hash:
            label = kind_of(preset, config)
            kinds.setdefault(label, []).append(by_hash[config.hash])
            claims[label] = _claim(preset, config)
    values = {label: mean(record.results[-1].exact for record in found) for label, found in kinds.items()}
    best = max(values.values(), default=0.0)
    return [
        Outcome(
            label=label,
            seeds=len(found),
            fitted=sum(record.fitted for record in found),
            scale=found[0].results[-1].scale,
            exact=values[label],
            claim=claims[label],
            agrees=_agrees(claims[label], values[label], values.get("rpe-square", best)),
        )
        for label, found in kinds.items()
    ]


def kind_of(preset: Preset, config: RunConfig) -> str:
    """What tells this run from others of the preset, but for its seed."""
    if preset.view == "tasks":
        return config.task
    return f"{config.position}, {100 * config.train.priming_share:g} %" if preset.view == "shares" else config.position


def document(
    name: str, size: str, configs: Sequence[RunConfig], records: Sequence[Record], **more: Any
) -> dict[str, Any]:
    """What is kept of a preset beside its runs and its figure."""
    preset = PRESETS[name]
    return {
        "preset": name,
        "size": size,
        "title": preset.title,
        "says": preset.says,
        "assumed": preset.assumptions(size),
        "seeds": sorted({config.seed for config in configs}),
        "outcomes": [asdict(outcome) for outcome in outcomes(preset, configs, records)],
        "runs": [config.hash for config in configs],
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

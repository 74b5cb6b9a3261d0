"""Registered predictions against measured runs: which were right, of those that stood before the runs were made.

A prediction is registered for a run if `results/predictions.json`, at the commit that the run's record names, holds
it. Predictions that repeat what the paper reports are counted apart from all others: the criterion was made after the
paper, so only the others can speak for it.
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ldhd.experiments.config import RunConfig
from ldhd.experiments.groups import setting
from ldhd.experiments.parts import PositionOptions, load_task
from ldhd.experiments.predictions import relation_settings
from ldhd.experiments.record import Record
from ldhd.experiments.studies import read_runs
from ldhd.experiments.verdict import measured_verdict
from ldhd.positions import POSITIONS, Position
from ldhd.predict.paper import PAPER_OUTCOMES

FILE = "results/predictions.json"
TIMEOUT = 30

Entry = Mapping[str, Any]
Outcome = Literal["hit", "miss", "open"]


@dataclass(frozen=True)
class Comparison:
    """One setting, its seeds, and what was predicted of it.

    Where the prediction stood before some of the runs, those alone are counted.
    """

    task: str
    position: str
    position_options: PositionOptions
    layers: int
    train_scales: tuple[int, ...]
    largest_scale: int
    measured: str
    seeds: int
    predicted: str | None
    """None if nothing was predicted, in the current file or any registered one."""
    registered: bool
    in_sample: bool
    """Whether the prediction repeats an outcome of the paper."""
    witness: Any
    """What the prediction rests on, if it says so."""

    @property
    def outcome(self) -> Outcome:
        """`open` where nothing was predicted or nothing can be said: not fitted, or too few seeds."""
        if self.predicted is None or self.measured in ("not fitted", "too few seeds"):
            return "open"
        return "hit" if self.predicted == self.measured else "miss"


@dataclass(frozen=True)
class Count:
    """Hits and misses of registered predictions; `unregistered` ones and those left open are not among them."""

    hits: int = 0
    misses: int = 0
    open: int = 0
    unregistered: int = 0


@dataclass
class Register:
    """The predictions of `results/predictions.json` at each commit, read from git once."""

    repository: Path
    known: dict[str | None, list[Entry]] = field(default_factory=dict)

    def at(self, commit: str | None) -> list[Entry]:
        """Those at a commit, none if it has no such file or is not known here; None: those of the working tree."""
        if commit not in self.known:
            self.known[commit] = self._read(commit)
        return self.known[commit]

    def _read(self, commit: str | None) -> list[Entry]:
        if commit is None:
            path = self.repository / FILE
            return read_entries(path.read_text(), str(path)) if path.exists() else []
        command = ["git", "-C", str(self.repository), "show", "--end-of-options", f"{commit}:{FILE}"]
        try:
            shown = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
        except (OSError, subprocess.SubprocessError):
            return []
        return read_entries(shown.stdout, f"{FILE} at {commit}") if shown.returncode == 0 else []


def read_entries(text: str, name: str) -> list[Entry]:
    """The predictions of a file; ValueError if it is none."""
    try:
        found = json.loads(text)["predictions"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{name} holds no predictions") from None
    if not isinstance(found, list):
        raise ValueError(f"{name} holds no list of predictions")
    return found


def finished_runs(folder: Path) -> list[tuple[RunConfig, Record]]:
    """All finished runs in a folder and those below it."""
    return [(run.config, run.record) for run in read_runs(folder)]


def compare(runs: Sequence[tuple[RunConfig, Record]], register: Register) -> list[Comparison]:
    """A row for each setting that was measured, its seeds together."""
    groups: dict[str, list[tuple[RunConfig, Record]]] = {}
    for config, record in runs:
        groups.setdefault(setting(config), []).append((config, record))
    return [_compare(group, register) for group in groups.values()]


def count(rows: Sequence[Comparison]) -> dict[str, Count]:
    """`in-sample` and `out-of-sample`."""
    return {
        "in-sample": _count([row for row in rows if row.in_sample]),
        "out-of-sample": _count([row for row in rows if not row.in_sample]),
    }


def find_entry(entries: Sequence[Entry], config: RunConfig) -> Entry | None:
    """The prediction for a run: at its largest test scale if there is one, else the nearest beyond it.

    There is none for runs that were primed with larger instances.
    """
    if config.train.priming_scale is not None:
        return None
    largest = max(config.test_scales)
    fitting = [
        entry
        for entry in entries
        if entry["task"] == config.task
        and entry["position"] == config.position
        and min(entry["layers"], 2) == min(config.model_options.layers, 2)
        and tuple(entry["train_scales"]) == config.train_scales
        and max(entry["test_scales"]) >= largest
        and _same_relations(entry["position_options"], config)
    ]
    return min(fitting, key=lambda entry: max(entry["test_scales"]), default=None)


def verdict_at(entry: Entry, scale: int) -> str:
    """What a prediction to larger scales says of this one: it holds up to `max_scale`."""
    if entry["verdict"] == "fails" and entry["max_scale"] >= scale:
        return "generalises"
    return str(entry["verdict"])


def _compare(group: Sequence[tuple[RunConfig, Record]], register: Register) -> Comparison:
    config = group[0][0]
    largest = max(config.test_scales)
    every = [record for _, record in group]
    said = {commit: find_entry(register.at(commit), config) for commit in {record.commit for record in every} - {None}}
    before = [(record, entry) for record in every if (entry := said.get(record.commit)) is not None]
    registered = len({verdict_at(entry, largest) for _, entry in before}) == 1
    records = [record for record, _ in before] if registered else every
    entry = before[0][1] if registered else find_entry(register.at(None), config)
    predicted = None if entry is None else verdict_at(entry, largest)
    return Comparison(
        task=config.task,
        position=config.position,
        position_options=relation_settings(config.position_options),
        layers=config.model_options.layers,
        train_scales=config.train_scales,
        largest_scale=largest,
        measured=measured_verdict(records),
        seeds=len(records),
        predicted=predicted,
        registered=registered,
        in_sample=any(
            (known.task, known.position, known.outcome) == (config.task, config.position, predicted)
            and known.train_scales == config.train_scales
            and max(known.test_scales) >= largest
            for known in PAPER_OUTCOMES
        ),
        witness=None if entry is None else entry.get("witness"),
    )


def _same_relations(options: PositionOptions, config: RunConfig) -> bool:
    """Return whether the predicted and the measured embedding have the same relations on every string of the run."""
    own = relation_settings(config.position_options)
    if own == options:
        return True
    task = load_task(config.task).for_scales(config.train_scales + config.test_scales)
    longest = len(task.instance(task.latent.longest(max(config.test_scales))).text)

    def representative(settings: PositionOptions) -> PositionOptions:
        return {term: POSITIONS.get(term, Position).equivalent_settings(row, longest) for term, row in settings.items()}

    return representative(own) == representative(options)


def _count(rows: Sequence[Comparison]) -> Count:
    counted = [row for row in rows if row.registered]
    return Count(
        hits=sum(row.outcome == "hit" for row in counted),
        misses=sum(row.outcome == "miss" for row in counted),
        open=sum(row.outcome == "open" for row in counted),
        unregistered=len(rows) - len(counted),
    )

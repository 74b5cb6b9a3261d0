"""Registered predictions compared with measured runs.

The first prediction that was ever committed for a setting, in `results/predictions.json`, is the one that counts. It
counts if the training of a run started at a commit that has it. Every seed of the setting counts with it: if one of
them started before, at an unknown commit or from a changed tree, or if the prediction was changed meanwhile, the
comparison is `irregular` and a miss. Predictions that repeat an outcome of the paper are counted separately: the
criterion was developed with these outcomes known, so they are no evidence for it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from ldhd.experiments.config import RunConfig
from ldhd.experiments.folder import Record
from ldhd.experiments.groups import ENOUGH_SEEDS, Group, group_runs
from ldhd.experiments.parts import PositionOptions, load_task
from ldhd.experiments.predictions import relation_settings
from ldhd.experiments.start import git
from ldhd.positions import POSITIONS, Position
from ldhd.predict.paper import PAPER_OUTCOMES
from ldhd.tasks import ALL_TASKS

FILE = "results/predictions.json"
STARTS = "src/ldhd/experiments/start.py"
"""From the commit on that has this file, runs record where they started."""

Entry = Mapping[str, Any]
"""One registered prediction."""

FAILING = ("fails", "does not fit")
"""The paper has one word for both."""

Outcome = Literal["hit", "miss", "declined", "open"]


@dataclass(frozen=True)
class Comparison:
    """A measured setting, all its seeds together, with the measured and the predicted verdict."""

    task: str
    position: str
    position_options: PositionOptions
    """The options on which the relations of the embedding depend."""
    layers: int
    train_scales: tuple[int, ...]
    largest_scale: int
    measured: str
    seeds: int
    predicted: str | None
    """None if neither the current file nor a registered one has a prediction."""
    registered: bool
    irregular: str
    """Why a registered prediction is a miss whatever was measured; empty if there is no reason."""
    two_verdicts: bool
    """Whether the prediction was made when `fails` included `does not fit`."""
    baselines: Mapping[str, str]
    """The verdicts of the baselines that were registered with the prediction."""
    in_sample: bool
    """Whether the prediction repeats an outcome of the paper."""
    witness: Any
    """The reason that the prediction gives, if any."""

    @property
    def outcome(self) -> Outcome:
        """`open` without prediction or with too few seeds, `declined` if it is that the predictor cannot tell."""
        if self.predicted is None or self.measured == "too few seeds":
            return "open"
        if self.irregular:
            return "miss"
        if self.two_verdicts and self.measured == "does not fit":
            return "open"
        if self.predicted in ("undecided", "does not apply"):
            return "declined"
        return "hit" if self.predicted == self.measured else "miss"


@dataclass
class Register:
    """The predictions of `results/predictions.json` at each commit; git is asked once for each of them."""

    repository: Path
    known: dict[str | None, list[Entry]] = field(default_factory=dict)
    trusted: bool = False
    """Whether a user's own task that a run names may be imported, to see whether two settings are equivalent."""
    recording: dict[str, bool] = field(default_factory=dict)

    def at(self, commit: str | None) -> list[Entry]:
        """Return the predictions at a commit, or in the working tree if it is None; none if the file is not there."""
        if commit in self.known:
            return self.known[commit]
        path = self.repository / FILE
        if commit is not None:
            text = git(self.repository, "show", "--end-of-options", f"{commit}:{FILE}")
        else:
            text = path.read_text() if path.exists() else None
        self.known[commit] = [] if text is None else parse_entries(text, f"{path}{f' at {commit}' if commit else ''}")
        return self.known[commit]

    @cached_property
    def history(self) -> list[str]:
        """The commits that changed the predictions, the oldest first."""
        return (git(self.repository, "log", "--reverse", "--format=%H", "--", FILE) or "").split()

    def first(self, config: RunConfig) -> Entry | None:
        """Return the first prediction that was ever committed for a run."""
        found = (find_entry(self.at(commit), config, self.trusted) for commit in self.history)
        return next((entry for entry in found if entry is not None), None)

    def start(self, record: Record) -> tuple[str | None, bool]:
        """Return the commit at which a run started, None if it is unknown, and whether the tree was changed.

        Records of runs that were made before starts were recorded have the commit at their end instead.
        """
        if record.started is not None:
            return record.started.commit, record.started.dirty
        if record.commit is None or self._records_starts(record.commit):
            return None, False
        return record.commit, False

    def _records_starts(self, commit: str) -> bool:
        if commit not in self.recording:
            self.recording[commit] = git(self.repository, "show", "--end-of-options", f"{commit}:{STARTS}") is not None
        return self.recording[commit]


def parse_entries(text: str, source: str) -> list[Entry]:
    """Return the entries of a file of predictions; ValueError names the source if it is none."""
    try:
        found = json.loads(text)["predictions"]
    except (ValueError, KeyError, TypeError):
        found = None
    if not isinstance(found, list):
        raise ValueError(f"{source} holds no list of predictions")
    return found


def compare(runs: Sequence[tuple[RunConfig, Record]], register: Register) -> list[Comparison]:
    """Compare every measured setting with its prediction, the runs that differ in the seed alone together."""
    groups = group_runs([record for _, record in runs], {config.hash: config for config, _ in runs})
    return [_compare(group, register) for group in groups]


def untested(configs: Iterable[RunConfig], register: Register) -> list[Entry]:
    """Return the predictions in the working tree that none of these runs tests."""
    entries = register.at(None)
    tested = {id(find_entry(entries, config, register.trusted)) for config in configs}
    return [entry for entry in entries if id(entry) not in tested]


def find_entry(entries: Sequence[Entry], config: RunConfig, trusted: bool = False) -> Entry | None:
    """Return the prediction for a run: of those that reach its largest scale, the nearest.

    There is none if the run is primed or has no attention. A user's own task is imported, to see whether two settings
    are equivalent, only if it is `trusted`.
    """
    if config.train.priming_scale is not None or config.model_options.architecture != "transformer":
        return None
    largest = max(config.test_scales)
    candidates = [
        entry
        for entry in entries
        if entry["task"] == config.task
        and entry["position"] == config.position
        and min(entry["layers"], 2) == min(config.model_options.layers, 2)
        and tuple(entry["train_scales"]) == config.train_scales
        and max(entry["test_scales"]) >= largest
        and _same_relations(entry["position_options"], config, trusted)
    ]
    return min(candidates, key=lambda entry: max(entry["test_scales"]), default=None)


def verdict_at(entry: Entry, scale: int) -> str:
    """Return the verdict of a prediction at a scale: one that fails later still holds up to `max_scale`."""
    if entry["verdict"] == "fails" and entry["max_scale"] >= scale:
        return "generalises"
    return str(entry["verdict"])


def _compare(group: Group, register: Register) -> Comparison:
    config, largest = group.config, max(group.config.test_scales)
    starts = [register.start(record) for record in group.records]
    known = {
        commit: find_entry(register.at(commit), config, register.trusted)
        for commit in {commit for commit, _ in starts} - {None}
    }
    entries = [known.get(commit) for commit, _ in starts]
    registered = any(entry is not None for entry in entries)
    entry = register.first(config) if registered else None
    entry = (
        entry
        or next((own for own in entries if own is not None), None)
        or find_entry(register.at(None), config, register.trusted)
    )
    predicted = None if entry is None else verdict_at(entry, largest)
    return Comparison(
        task=config.task,
        position=config.position,
        position_options=relation_settings(config.position_options),
        layers=config.model_options.layers,
        train_scales=config.train_scales,
        largest_scale=largest,
        measured=group.tendency() if len(group.records) >= ENOUGH_SEEDS else "too few seeds",
        seeds=len(group.records),
        predicted=predicted,
        registered=registered,
        irregular=_irregularity(predicted, entries, [dirty for _, dirty in starts], largest) if registered else "",
        two_verdicts=entry is not None and "softmax" not in entry,
        baselines={} if entry is None else entry.get("baselines", {}),
        in_sample=_repeats_the_paper(predicted, config),
        witness=None if entry is None else entry.get("witness"),
    )


def _irregularity(predicted: str | None, entries: Sequence[Entry | None], dirty: Sequence[bool], scale: int) -> str:
    if None in entries:
        return "a seed started before the prediction was registered, or at an unknown commit"
    if any(dirty):
        return "a seed started from a tree with changes that were not committed"
    if {verdict_at(entry, scale) for entry in entries if entry is not None} != {predicted}:
        return "the prediction was changed after it was first registered"
    return ""


def _repeats_the_paper(predicted: str | None, config: RunConfig) -> bool:
    outcome = "generalises" if predicted == "generalises" else "fails" if predicted in FAILING else None
    return any(
        (known.task, known.position, known.outcome) == (config.task, config.position, outcome)
        and known.train_scales == config.train_scales
        and max(known.test_scales) >= max(config.test_scales)
        for known in PAPER_OUTCOMES
    )


def _same_relations(predicted: PositionOptions, config: RunConfig, trusted: bool) -> bool:
    """Return whether the predicted and the measured embedding have the same relations on every string of the run."""
    measured = relation_settings(config.position_options)
    if measured == predicted:
        return True
    if config.task not in ALL_TASKS and not trusted:
        return False
    task = load_task(config.task).for_scales(config.train_scales + config.test_scales)
    longest = len(task.instance(task.latent.longest(max(config.test_scales))).text)
    representatives = [
        {term: POSITIONS.get(term, Position).equivalent_settings(own, longest) for term, own in settings.items()}
        for settings in (measured, predicted)
    ]
    return representatives[0] == representatives[1]

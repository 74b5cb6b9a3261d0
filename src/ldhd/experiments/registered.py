"""Registered predictions compared with measured runs.

A prediction is registered for a run if `results/predictions.json` holds it at the commit that the run's record names,
so that it was made before the run. Predictions that repeat an outcome of the paper are counted separately: the
predictor's criterion was developed with these outcomes known, so they are no evidence for it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ldhd.experiments.config import RunConfig
from ldhd.experiments.folder import Record
from ldhd.experiments.groups import Group, group_runs
from ldhd.experiments.parts import PositionOptions, load_task
from ldhd.experiments.predictions import relation_settings
from ldhd.experiments.runner import git
from ldhd.positions import POSITIONS, Position
from ldhd.predict.paper import PAPER_OUTCOMES
from ldhd.tasks import TASKS

FILE = "results/predictions.json"

Entry = Mapping[str, Any]
"""One registered prediction."""


@dataclass(frozen=True)
class Comparison:
    """A measured setting, all its seeds together, with the measured and the predicted verdict.

    If the prediction was registered before only some of the runs, only these are counted.
    """

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
    in_sample: bool
    """Whether the prediction repeats an outcome of the paper."""
    witness: Any
    """The reason that the prediction gives, if any."""

    @property
    def outcome(self) -> Literal["hit", "miss", "open"]:
        """`open` without a prediction, and where most seeds do not fit, or too few do, unless that was predicted."""
        if self.predicted is not None and self.predicted == self.measured:
            return "hit"
        return "open" if self.predicted is None or self.measured in ("does not fit", "too few seeds") else "miss"


@dataclass
class Register:
    """The predictions of `results/predictions.json` at each commit; git is asked once for each of them."""

    repository: Path
    known: dict[str | None, list[Entry]] = field(default_factory=dict)
    trusted: bool = False
    """Whether a user's own task that a run names may be imported, to see whether two settings are equivalent."""

    def at(self, commit: str | None) -> list[Entry]:
        """Return the predictions at a commit, or in the working tree if it is None; none if the file is not there."""
        if commit in self.known:
            return self.known[commit]
        path = self.repository / FILE
        if commit is not None:
            text = git(self.repository, "show", "--end-of-options", f"{commit}:{FILE}")
        else:
            text = path.read_text() if path.exists() else None
        try:
            found = [] if text is None else json.loads(text)["predictions"]
        except (ValueError, KeyError, TypeError):
            found = None
        if not isinstance(found, list):
            raise ValueError(f"{path}{f' at {commit}' if commit else ''} holds no list of predictions")
        self.known[commit] = found
        return found


def compare(runs: Sequence[tuple[RunConfig, Record]], register: Register) -> list[Comparison]:
    """Compare every measured setting with its prediction, the runs that differ in the seed alone together."""
    groups = group_runs([record for _, record in runs], {config.hash: config for config, _ in runs})
    return [_compare(group, register) for group in groups]


def count(rows: Sequence[Comparison]) -> dict[str, dict[str, int]]:
    """Count the outcomes of registered predictions, and settings without one, `in-sample` and `out-of-sample` apart."""
    counts = {}
    for name, in_sample in (("in-sample", True), ("out-of-sample", False)):
        own = [row for row in rows if row.in_sample == in_sample]
        outcomes = [row.outcome for row in own if row.registered]
        found = {"hits": outcomes.count("hit"), "misses": outcomes.count("miss"), "open": outcomes.count("open")}
        counts[name] = {**found, "unregistered": len(own) - len(outcomes)}
    return counts


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
    commits = {record.commit for record in group.records} - {None}
    at_commit = {commit: find_entry(register.at(commit), config, register.trusted) for commit in commits}
    before = [(record, entry) for record in group.records if (entry := at_commit.get(record.commit)) is not None]
    registered = len({verdict_at(entry, largest) for _, entry in before}) == 1
    measured = replace(group, records=tuple(record for record, _ in before)) if registered else group
    entry = before[0][1] if registered else find_entry(register.at(None), config, register.trusted)
    predicted = None if entry is None else verdict_at(entry, largest)
    return Comparison(
        task=config.task,
        position=config.position,
        position_options=relation_settings(config.position_options),
        layers=config.model_options.layers,
        train_scales=config.train_scales,
        largest_scale=largest,
        measured=measured.verdict(),
        seeds=len(measured.records),
        predicted=predicted,
        registered=registered,
        in_sample=_repeats_the_paper(predicted, config),
        witness=None if entry is None else entry.get("witness"),
    )


def _repeats_the_paper(predicted: str | None, config: RunConfig) -> bool:
    return any(
        (known.task, known.position, known.outcome) == (config.task, config.position, predicted)
        and known.train_scales == config.train_scales
        and max(known.test_scales) >= max(config.test_scales)
        for known in PAPER_OUTCOMES
    )


def _same_relations(predicted: PositionOptions, config: RunConfig, trusted: bool) -> bool:
    """Return whether the predicted and the measured embedding have the same relations on every string of the run."""
    measured = relation_settings(config.position_options)
    if measured == predicted:
        return True
    if config.task not in TASKS and not trusted:
        return False
    task = load_task(config.task).for_scales(config.train_scales + config.test_scales)
    longest = len(task.instance(task.latent.longest(max(config.test_scales))).text)
    representatives = [
        {term: POSITIONS.get(term, Position).equivalent_settings(own, longest) for term, own in settings.items()}
        for settings in (measured, predicted)
    ]
    return representatives[0] == representatives[1]

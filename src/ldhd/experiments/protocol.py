"""The protocol of the comparison: tune every entrant alike, choose by code on training scales, train until it fits.

1. Each entrant has `TRIALS` settings on each task. They are trained with seed 1000 and tested at training scales alone.
2. The setting with the best worst exact match at the training scales is chosen; ties go to the lowest training loss.
3. The chosen setting is trained with seeds 0, 1, 2, ... and tested up to scale 100. A seed that does not fit is trained
   anew for twice as many steps, up to `LARGEST_BUDGET` times as many.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from ldhd.experiments.config import RunConfig, make_config
from ldhd.experiments.entrants import ENTRANTS, TRIALS
from ldhd.experiments.folder import Metrics, Record
from ldhd.experiments.groups import Group, group_runs
from ldhd.experiments.studies import FinishedRun
from ldhd.names import lookup_only

TASKS = ("copy", "addition", "parity", "multiplication", "division", "addition-mod10")
TRAIN_SCALES = (1, 2, 3, 4, 5)
TEST_SCALES = (*range(1, 11), 20, 50, 100)
TUNING_SEED = 1000
STEPS = {"multiplication": 2000, "division": 2000}
"""Steps of a trial and of the first budget; 1000 for the other tasks."""
BUDGETS = (1, 2, 4, 8)
"""Multiples of these steps that a seed is trained for, one after another, until it fits."""
LARGEST_BUDGET = BUDGETS[-1]
LAST_ROWS = 3
"""The training loss is the mean over so many of the last rows of the learning curve."""


@dataclass(frozen=True)
class Trial:
    """One finished trial, with all that the choice may look at."""

    task: str
    entrant: str
    number: int
    worst: float
    """The smallest exact match at a training scale."""
    loss: float
    """The training loss at the end."""
    hash: str

    @property
    def rank(self) -> tuple[float, float]:
        """What the choice maximises."""
        return self.worst, -self.loss


def steps_of(task: str, shortened: int | None = None) -> int:
    """Return the steps of a trial; `shortened` replaces them, to try the protocol out."""
    return shortened or STEPS.get(task, 1000)


def check_names(tasks: Sequence[str], entrants: Sequence[str]) -> None:
    """Raise a ValueError for a task or an entrant that the protocol does not have."""
    for task in tasks:
        lookup_only(task, dict.fromkeys(TASKS), "task of the protocol")
    for entrant in entrants:
        lookup_only(entrant, ENTRANTS, "entrant")


def trial_config(task: str, entrant: str, number: int, shortened: int | None = None) -> RunConfig:
    """Return the config of a trial, which sees training scales alone."""
    return _config(task, entrant, number, TUNING_SEED, TRAIN_SCALES, steps_of(task, shortened))


def final_config(
    task: str, entrant: str, number: int, seed: int, budget: int, shortened: int | None = None
) -> RunConfig:
    """Return the config of a reported run with the settings of a trial, trained for a multiple of its steps."""
    return _config(task, entrant, number, seed, TEST_SCALES, budget * steps_of(task, shortened))


def trials(task: str, entrant: str, runs: Mapping[str, FinishedRun], shortened: int | None = None) -> list[Trial]:
    """Return the finished trials of an entrant on a task; `runs` are by hash."""
    found = []
    for number in range(TRIALS):
        config = trial_config(task, entrant, number, shortened)
        run = runs.get(config.hash)
        if run is not None:
            found.append(judge(task, entrant, number, run.record, run.stored.metrics()))
    return found


def judge(task: str, entrant: str, number: int, record: Record, metrics: Metrics) -> Trial:
    """Return what the choice may know of a trial; ValueError if the trial was tested beyond its training scales."""
    beyond = [result.scale for result in record.results if result.scale not in record.train_scales]
    if beyond or record.seed < TUNING_SEED:
        raise ValueError(
            f"{record.hash} is no trial: its seed is {record.seed}, it was tested beyond training at {beyond}"
        )
    loss = fmean(row["cross_entropy"] for row in metrics[-LAST_ROWS:])
    return Trial(task, entrant, number, min(result.exact for result in record.results), loss, record.hash)


def choose(found: Sequence[Trial]) -> Trial | None:
    """Return the best trial of an entrant on a task, None unless all of them are finished; the first of equals."""
    return max(found, key=lambda trial: trial.rank) if len(found) == TRIALS else None


def next_runs(
    chosen: Sequence[Trial],
    seeds: Sequence[int],
    records: Mapping[str, Record],
    shortened: int | None = None,
    every_budget: Sequence[str] = (),
) -> list[RunConfig]:
    """Return the runs to be done next: for each cell and seed the smallest budget that is not done, if it is needed.

    A larger budget is needed if the seed did not fit with the one before, or if the entrant is in `every_budget`, whose
    budget curve is wanted: then all budgets are. Smaller budgets come before larger ones, and all seeds of a cell come
    together.
    """
    waiting: list[tuple[int, RunConfig]] = []
    for trial in chosen:
        for seed in seeds:
            for budget in BUDGETS:
                config = final_config(trial.task, trial.entrant, trial.number, seed, budget, shortened)
                record = records.get(config.hash)
                if record is None:
                    waiting.append((budget, config))
                if record is None or (record.fitted and trial.entrant not in every_budget):
                    break
    return [config for _, config in sorted(waiting, key=lambda pair: pair[0])]


def final_groups(
    chosen: Sequence[Trial], seeds: Sequence[int], runs: Mapping[str, FinishedRun], shortened: int | None = None
) -> list[Group]:
    """Return a group for each entrant and task, labelled by the entrant: each seed at the smallest budget that fits it.

    A seed that never fits counts with its largest finished budget.
    """
    groups = []
    for trial in chosen:
        kept = [_first_fitted(list(_budgets(trial, seed, runs, shortened))) for seed in seeds]
        found = [run for run in kept if run is not None]
        if found:
            first = found[0].config
            records = tuple(run.record for run in found)
            groups.append(Group(trial.task, trial.entrant, records[0].model, records, first, (), trial.entrant))
    return groups


def budget_groups(
    chosen: Sequence[Trial], seeds: Sequence[int], runs: Mapping[str, FinishedRun], shortened: int | None = None
) -> list[Group]:
    """Return a group for each entrant, task and budget that has finished runs of all seeds."""
    groups = []
    for trial in chosen:
        for budget in BUDGETS:
            configs = [final_config(trial.task, trial.entrant, trial.number, seed, budget, shortened) for seed in seeds]
            if all(config.hash in runs for config in configs):
                records = [runs[config.hash].record for config in configs]
                (group,) = group_runs(records, {config.hash: config for config in configs})
                groups.append(
                    Group(group.task, trial.entrant, group.model, group.records, group.config, (), trial.entrant)
                )
    return groups


def _budgets(trial: Trial, seed: int, runs: Mapping[str, FinishedRun], shortened: int | None) -> Iterator[FinishedRun]:
    for budget in BUDGETS:
        config = final_config(trial.task, trial.entrant, trial.number, seed, budget, shortened)
        if config.hash in runs:
            yield runs[config.hash]


def _first_fitted(found: Sequence[FinishedRun]) -> FinishedRun | None:
    return next((run for run in found if run.record.fitted), found[-1] if found else None)


def _config(task: str, entrant: str, number: int, seed: int, test_scales: Sequence[int], steps: int) -> RunConfig:
    own = ENTRANTS[entrant]
    return make_config(
        task,
        own.position,
        model=own.model,
        train_scales=TRAIN_SCALES,
        test_scales=test_scales,
        steps=steps,
        seed=seed,
        settings=own.settings(number),
        built=False,
    )

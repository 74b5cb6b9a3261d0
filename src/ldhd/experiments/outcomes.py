"""Outcomes of presets: what was measured, beside what was predicted and what the paper claims."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean

from ldhd.experiments.config import RunConfig
from ldhd.experiments.folder import Record
from ldhd.experiments.groups import FAILS, GENERALISES, Group, by_setting, group_runs, setting
from ldhd.experiments.parts import outline
from ldhd.experiments.preset import Claim, Preset

GUESS, CHANCE = 0.75, 0.05
"""Exact match up to `GUESS` is nearer to a guess between two answers than to the truth, and above `CHANCE` it is better
than chance. The claims `high` and `low` are what verdicts call generalising and failing."""


@dataclass(frozen=True)
class Outcome:
    """One group of a preset at its largest test scale, and its extrapolation factor."""

    task: str
    label: str
    """What distinguishes the group from others of the preset and the task."""
    position: str
    layers: int
    seeds: int
    fitted: int
    """The number of seeds that fit the training scales."""
    scale: int
    exact: float
    """Exact match at that scale, averaged over all seeds."""
    by_seed: tuple[float, ...]
    claim: Claim
    agrees: bool | None
    """Whether the measurement agrees with the claim of the paper, None if there is no claim that can be checked, if
    most seeds do not fit, so that nothing was measured about length, or if the runs are `short`."""
    factor: float
    parameters: int
    seconds: float
    """Time of training, averaged over seeds."""
    predicted: str | None = None
    """The verdict of the predictor, None where it has none."""
    verdict: str = ""
    """The measured verdict; documents that were stored before it was added do not have it."""
    successes: int | None = None
    """The number of seeds that fit and reach 90 % at that scale; likewise."""
    short: bool = False
    """Whether training had fewer steps than the preset asks for, so that nothing can be said about the claim."""

    @property
    def fits(self) -> bool:
        """Whether at least half of the seeds fit."""
        return 2 * self.fitted >= self.seeds > 0


def preset_groups(preset: Preset, configs: Sequence[RunConfig], records: Sequence[Record]) -> list[Group]:
    """Return the groups of a preset that have records, labelled by its view."""
    firsts = [seeds[0] for seeds in by_setting(configs)]
    labels = dict(zip(map(setting, firsts), preset.view.labels(firsts), strict=True))
    groups = group_runs(records, {config.hash: config for config in configs})
    return [replace(group, label=labels[setting(group.config)]) for group in groups]


def outcomes(
    preset: Preset, groups: Sequence[Group], predicted: Mapping[str, str | None], shortened: Collection[str] = ()
) -> Iterator[Outcome]:
    """Yield the outcome of each group.

    `predicted` maps the hash of a run to the verdict of the predictor, and `shortened` holds the hashes of runs with
    fewer steps than the preset asks for.
    """
    means = {(group.task, group.label): mean(group.exact(group.scales[-1])) for group in groups}
    best = max(means.values(), default=0.0)
    for group in groups:
        config, exact = group.config, means[group.task, group.label]
        claim, short = preset.claim(config), config.hash in shortened
        agreement = {"high": exact >= GENERALISES, "low": exact <= FAILS, "guess": exact <= GUESS}
        agreement["between"] = CHANCE < exact <= means.get((group.task, "rpe-square"), best)
        model = outline(config.model_options, config.position, config.position_options)
        yield Outcome(
            task=group.task,
            label=group.label,
            position=group.position,
            layers=config.model_options.layers,
            seeds=len(group.records),
            fitted=group.fitted,
            scale=group.scales[-1],
            exact=exact,
            by_seed=tuple(group.exact(group.scales[-1])),
            claim=claim,
            agrees=agreement.get(claim) if group.fits and not short else None,
            factor=group.factor(),
            parameters=sum(weights.numel() for weights in model.parameters()),
            seconds=round(mean(record.seconds for record in group.records), 1),
            predicted=predicted.get(config.hash),
            verdict=group.verdict(),
            successes=group.success().successes,
            short=short,
        )


def smallest_depths(found: Sequence[Outcome]) -> list[Outcome]:
    """Return for each task and embedding the smallest depth at which most seeds fit, or else the largest.

    Outcomes are labelled by their embedding. An embedding without runs of the smallest depth is left out, since
    nothing is known about it.
    """
    chosen: dict[tuple[str, str], Outcome] = {}
    least = min((outcome.layers for outcome in found), default=1)
    for outcome in sorted(found, key=lambda outcome: outcome.layers):
        key = outcome.task, outcome.position
        if outcome.layers == least or (key in chosen and 2 * chosen[key].fitted <= chosen[key].seeds):
            chosen[key] = replace(outcome, label=outcome.position)
    return list(chosen.values())

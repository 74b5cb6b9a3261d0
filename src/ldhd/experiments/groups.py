"""Groups of runs that differ in the seed alone, with labels made from the settings that differ between groups.

Two runs belong to one group if their configs are equal but for `seed` and `extended_from`. Of the latter only counts
whether it is set: each seed of an extended group names a parent of its own, and a run that was trained in two stages is
not the same experiment as one that was trained at once. Every other field counts, `device` included: otherwise one seed
on two devices would be counted as two seeds.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from statistics import fmean, median
from typing import Any

from pydantic import BaseModel

from ldhd.experiments.config import RunConfig
from ldhd.experiments.folder import Record
from ldhd.experiments.parts import added_options
from ldhd.parsing import format_range
from ldhd.statistics import Mean, Share, mean_interval, wilson

GENERALISES, FAILS, ENOUGH_SEEDS = 0.9, 0.5, 3
"""Bounds of the median exact match of the fitted seeds, and the number of seeds that a verdict needs."""

MOST_RIVALS = 200
"""Groups of one task, embedding and model up to which labels name as few options as they can."""
LONGEST_VALUE = 80


@dataclass(frozen=True)
class Group:
    """All seeds of one setting of one embedding on one task, failures included; `scales` are its test scales."""

    task: str
    position: str
    """The embedding, or the architecture of a model without attention (`embedding_name`)."""
    model: str
    records: tuple[Record, ...]
    config: RunConfig
    """The config of its first run."""
    options: tuple[str, ...]
    """The settings, such as `train.steps=100`, in which groups of this task and position differ."""
    label: str = ""
    """A name that no other group of the task has."""

    @property
    def scales(self) -> list[int]:
        return sorted({result.scale for record in self.records for result in record.results})

    @property
    def train_scales(self) -> list[int]:
        return self.records[0].train_scales

    @property
    def fitted(self) -> int:
        """The number of seeds that fit the training scales."""
        return sum(record.fitted for record in self.records)

    @property
    def fits(self) -> bool:
        """Whether at least half of the seeds fit the training scales."""
        return 2 * self.fitted >= len(self.records) > 0

    def by_seed(self, scale: int) -> dict[int, float]:
        """Return the exact match at a scale, seed -> value."""
        return {record.seed: value for record in self.records if (value := record.exact(scale)) is not None}

    def exact(self, scale: int) -> list[float]:
        """Return the exact match of every seed at a scale."""
        return [value for record in self.records if (value := record.exact(scale)) is not None]

    def hard(self, scale: int) -> list[float]:
        """Return the exact match on the hard instances of a scale, of every seed in which it was measured."""
        return [value for record in self.records if (value := record.hard_exact(scale)) is not None]

    @property
    def hard_scales(self) -> list[int]:
        """The scales at which any seed was tested on hard instances."""
        return [scale for scale in self.scales if self.hard(scale)]

    def mean(self, scale: int) -> float:
        """Return the mean over seeds at a scale."""
        return fmean(self.exact(scale))

    def interval(self, scale: int) -> Mean:
        """Return the mean over seeds at a scale with its 95 % bootstrap interval."""
        return mean_interval(self.exact(scale))

    def per_position(self, scale: int) -> list[Mean]:
        """Return the accuracy of each answer token at a scale: the mean over seeds with its 95 % interval."""
        rows = [result.per_position for record in self.records for result in record.results if result.scale == scale]
        longest = max(map(len, rows), default=0)
        return [mean_interval([row[place] for row in rows if place < len(row)]) for place in range(longest)]

    def succeeded(self, record: Record) -> bool:
        """Return whether a seed fits and reaches 90 % exact match at the largest test scale."""
        return record.fitted and (record.exact(self.scales[-1]) or 0.0) >= GENERALISES

    def success(self) -> Share:
        """Return how many seeds succeeded."""
        count, n = sum(self.succeeded(record) for record in self.records), len(self.records)
        return Share(count, n, *wilson(count, n))

    def verdict(self) -> str:
        """Return `generalises`, `fails`, `mixed` or `does not fit`, or `too few seeds` if fewer than three fit."""
        return "too few seeds" if self.fits and self.fitted < ENOUGH_SEEDS else self.tendency()

    def tendency(self, scale: int | None = None) -> str:
        """Return the verdict regardless of the number of seeds: the median exact match of the fitted seeds decides.

        It is about the largest test scale unless another one is given.
        Where most seeds do not fit, the group says nothing about length: it `does not fit`.
        """
        if not self.fits:
            return "does not fit"
        at = self.scales[-1] if scale is None else scale
        value = median(exact for record in self.records if record.fitted and (exact := record.exact(at)) is not None)
        return "generalises" if value >= GENERALISES else "fails" if value <= FAILS else "mixed"

    def factor(self) -> float:
        """Return the extrapolation factor: how many times farther than trained the group holds.

        A scale holds if the median exact match over all seeds, fitted or not, is at least 90 %. The factor is the
        largest scale before the first one that does not hold, over the largest training scale; it is below 1 if the
        group already fails within the training scales.
        """
        held = takewhile(lambda scale: median(self.exact(scale)) >= GENERALISES, self.scales)
        return max(held, default=0) / max(self.train_scales)


def group_runs(records: Iterable[Record], configs: Mapping[str, RunConfig]) -> list[Group]:
    """Group records by everything but the seed, in the order in which they come; `configs` are by hash."""
    members: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        members.setdefault((record.model, setting(configs[record.hash])), []).append(record)
    firsts = [configs[found[0].hash] for found in members.values()]
    groups = []
    for ((model, _), found), config, options in zip(members.items(), firsts, differences(firsts), strict=True):
        by_seed = tuple(sorted(found, key=lambda record: record.seed))
        groups.append(Group(config.task, embedding_name(config), model, by_seed, config, options))
    return [replace(group, label=label) for group, label in zip(groups, _labels(groups), strict=True)]


def embedding_name(config: RunConfig) -> str:
    """Return the name of the embedding, or of the architecture if it has no attention and so no embedding."""
    architecture = config.model_options.architecture
    return config.position if architecture == "transformer" else architecture


def setting(config: RunConfig) -> str:
    """Return everything that determines a run but its seed, as text: the same for all runs of a group."""
    extended = ", extended" if config.extended_from else ""
    return config.model_dump_json(exclude={"seed", "extended_from"}) + extended


def by_setting(configs: Iterable[RunConfig]) -> list[list[RunConfig]]:
    """Split configs into groups, in the order in which they come."""
    groups: dict[str, list[RunConfig]] = {}
    for config in configs:
        groups.setdefault(setting(config), []).append(config)
    return list(groups.values())


def settings_of(config: RunConfig) -> dict[str, Any]:
    """Return everything that determines a run but its seed, by the names that `--set` takes, such as `train.steps`."""
    settings: dict[str, Any] = {}
    for key, value in config:
        if key == "position_options":
            every = {term: {**added_options(term), **own} for term, own in value.items()}
            settings |= {f"position.{term}.{name}": v for term, own in every.items() for name, v in own.items()}
        elif isinstance(value, BaseModel):
            settings |= {f"{key.removesuffix('_options')}.{name}": v for name, v in value}
        elif key not in ("seed", "extended_from"):
            settings[key] = value
    return {**settings, "extended": config.extended_from is not None}


def differences(configs: Sequence[RunConfig]) -> list[tuple[str, ...]]:
    """Return for each config the settings, such as `train.steps=100`, that differ within its task and position."""
    rows = [
        # scales as a range, everything else as it is
        {key: format_range(value) if isinstance(value, tuple) else value for key, value in settings_of(config).items()}
        for config in configs
    ]
    alike: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        alike.setdefault((row["task"], row["position"]), []).append(row)
    keys = {shared: _differing(found) for shared, found in alike.items()}
    return [tuple(_written(key, row.get(key)) for key in keys[row["task"], row["position"]]) for row in rows]


def _labels(groups: Sequence[Group]) -> list[str]:
    """Return labels that no two groups of a task share: those of `_label`, numbered where they are still alike."""
    models: dict[str, set[str]] = {}
    alike: dict[tuple[str, str, str], list[Group]] = {}
    for group in groups:
        models.setdefault(group.task, set()).add(group.model)
        alike.setdefault((group.task, group.position, group.model), []).append(group)
    labels, used = [], Counter[tuple[str, str]]()
    for group in groups:
        label = _label(group, alike[group.task, group.position, group.model], len(models[group.task]) > 1)
        used[group.task, label] += 1
        number = used[group.task, label]
        labels.append(label if number == 1 else f"{label} #{number}")
    return labels


def _label(group: Group, alike: Sequence[Group], with_model: bool) -> str:
    """Return the position, the model where the task has several, and as many options as tell the group apart.

    Among very many groups all options are named, since to look for the fewest would take too long.
    """
    extra = [group.model] if with_model else []
    rivals = [other for other in alike if other is not group] if len(alike) <= MOST_RIVALS else []
    # training scales first, options of the model last
    for option in sorted(group.options, key=lambda o: (not o.startswith("train_scales="), o.startswith("model."))):
        if len(alike) > MOST_RIVALS or any(option not in rival.options for rival in rivals):
            extra.append(option)
            rivals = [rival for rival in rivals if option in rival.options]
    return f"{group.position} ({', '.join(extra)})" if extra else group.position


def _written(key: str, value: object) -> str:
    """Return `train.steps=100`; a long value is cut off."""
    text = str(value)
    return f"{key}={text if len(text) <= LONGEST_VALUE else f'{text[:LONGEST_VALUE]}...'}"


def _differing(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the keys whose values differ; an option of the model must differ between models of one name."""
    found = []
    for key in dict.fromkeys(key for row in rows for key in row):
        names = [row["model"] if key.startswith("model.") else "" for row in rows]
        if len({(name, repr(row.get(key))) for name, row in zip(names, rows, strict=True)}) > len(set(names)):
            found.append(key)
    return found

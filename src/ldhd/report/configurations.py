"""Which configuration stands for an embedding on a task, what the configurations are called, and what is said of them.

A configuration is a group of runs that differ in their seed alone. Where an embedding was run on a task in several
configurations, one stands for it on the front page and in the headline. It is chosen by what was run and by how well
it fits the training scales, never by a result at a larger scale.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ldhd.experiments.groups import ENOUGH_SEEDS, GENERALISES, Group
from ldhd.report.look import position_title
from ldhd.train import TrainConfig

RULE = (
    f"Where an embedding was run on a task in several configurations, one counts: of those with {ENOUGH_SEEDS} seeds "
    "or more, where there are any, the one tested at the most scales beyond its training scales; of several, the one "
    "tested at the largest scale, then with the most seeds, with the most seeds that fit the training scales, with the "
    "model and the training that most embeddings of the task share, with the most training steps, and the first by "
    "name. No result beyond the training scales plays a part."
)
"""How `configurations` chooses, in the words of the report."""
MEANING = (
    f"An embedding generalises on a task if at least {ENOUGH_SEEDS} seeds fit the training scales, and at the largest "
    f"test scale exact match is at least {100 * GENERALISES:g} % both in the median of the fitted seeds and in the "
    "mean over all seeds."
)
"""What `badge` calls `generalises`, in the words of the report."""


@dataclass(frozen=True)
class Configuration:
    """A group, and its place among the configurations of its task and embedding; rank 1 is the one that counts."""

    group: Group
    """Its label is short: the name of the embedding, with the rank from 2 on."""
    label: str
    """The label of the group that names the settings by which it differs from others of its task."""
    rank: int
    place: str
    """The element of the page that holds its details, and its name in links."""
    differs: tuple[str, ...]
    """Its settings that are not those of the configuration of rank 1."""

    @property
    def hash(self) -> str:
        """The hash of its first run, which no other configuration has."""
        return self.group.records[0].hash

    @property
    def chosen(self) -> bool:
        return self.rank == 1

    @property
    def title(self) -> str:
        """The embedding as papers write it, with the rank from 2 on."""
        name = position_title(self.group.position)
        return name if self.chosen else f"{name} {self.rank}"


def configurations(groups: Sequence[Group]) -> list[Configuration]:
    """Return the configurations of each task and embedding by rank; tasks and embeddings keep their order."""
    alike: dict[str, dict[str, list[Group]]] = {}
    for group in groups:
        alike.setdefault(group.task, {}).setdefault(group.position, []).append(group)
    found: list[Configuration] = []
    for positions in alike.values():
        # the model and the training of each configuration -> how many embeddings of the task have them
        shared = Counter(way for own in positions.values() for way in {_way(group) for group in own})
        for own in positions.values():
            ranked = sorted(own, key=lambda group: _order(group, shared[_way(group)]))
            for rank, group in enumerate(ranked, start=1):
                short = replace(group, label=group.position if rank == 1 else f"{group.position} {rank}")
                differs = _differences(group, ranked[0])
                found.append(Configuration(short, group.label, rank, f"cell-{len(found)}", differs))
    return found


def by_task(found: Sequence[Configuration]) -> dict[str, list[Configuration]]:
    """Return the configurations of each task."""
    return {task: list(own) for task, own in groupby(found, lambda configuration: configuration.group.task)}


def badge(group: Group) -> str:
    """Return the verdict of a group, but say in how many seeds it generalises where its mean does not bear it out."""
    verdict, success = group.verdict(), group.success()
    if verdict == "generalises" and group.mean(group.scales[-1]) < GENERALISES:
        return f"in {success.successes} of {success.n} seeds"
    return verdict


def _order(group: Group, shared: int) -> tuple[bool, int, int, int, int, int, int, str]:
    """What comes first in this order counts; `shared` embeddings of the task have its model and its training."""
    seeds, scales = len(group.records), group.scales
    beyond = sum(scale > max(group.train_scales) for scale in scales)
    few, steps = seeds < ENOUGH_SEEDS, group.config.train.steps
    return few, -beyond, -scales[-1], -seeds, -group.fitted, -shared, -steps, group.label


def _way(group: Group) -> tuple[str, TrainConfig]:
    """The model and the training of a group."""
    return group.model, group.config.train


def _differences(group: Group, chosen: Group) -> tuple[str, ...]:
    if group is chosen:
        return ()
    model = (group.model,) if group.model != chosen.model else ()
    usual = set(chosen.options)
    return (*model, *(option for option in group.options if option not in usual))

"""Batches of a task. The batch of a step depends on the seed and the step alone, so resuming needs no state."""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from ldhd import seeds
from ldhd.tasks import Instance, Task
from ldhd.tasks.tokens import PADDING, encode
from ldhd.train.config import TrainConfig

IGNORED = -100
"""Target of a token that is not to be predicted."""


def to_tensors(instances: Sequence[Instance], loss: str = "answer") -> tuple[Int[Tensor, "B n"], Int[Tensor, "B n"]]:
    """Inputs, padded on the right, and the next token at each place."""
    length = max(len(instance.text) for instance in instances)
    rows, targets = [], []
    for instance in instances:
        ids = encode(instance.text)
        rest = length - len(ids)
        first = len(instance.prompt) if loss == "answer" else 1
        rows.append(ids + [PADDING] * rest)
        targets.append([IGNORED] * first + ids[first:] + [IGNORED] * rest)
    return torch.tensor(rows)[:, :-1], torch.tensor(targets)[:, 1:]


class TrainingData:
    """The training set of a run, or endless fresh instances."""

    def __init__(self, task: Task, scales: Sequence[int], config: TrainConfig, seed: int):
        self.task, self.scales, self.config, self.seed = task, scales, config, seed
        self.epoch, self.order = -1, torch.empty(0, dtype=torch.long)
        if isinstance(config.samples, int):
            generator = seeds.generator(seed, "train")
            instances = self._sample(scales, config.samples, self._primed(config.samples), generator)
            self.inputs, self.targets = to_tensors(instances, config.loss)
            self.lengths = torch.tensor([len(instance.text) - 1 for instance in instances])

    def batch(self, index: int) -> tuple[Int[Tensor, "B n"], Int[Tensor, "B n"]]:
        """The index-th batch: of a fresh permutation of the set each epoch, or of new instances."""
        size = self.config.batch_size
        if not isinstance(self.config.samples, int):
            fresh = seeds.generator(self.seed, "train", index)
            before = self._primed(index * size)
            primed = self._primed((index + 1) * size) - before
            # scales are taken in turn: go on where the batch before ended, so that none is seen more often
            first = (index * size - before) % len(self.scales)
            scales = [*self.scales[first:], *self.scales[:first]]
            return to_tensors(self._sample(scales, size, primed, fresh), self.config.loss)
        chosen = self._places(index * size, size)
        length = int(self.lengths[chosen].max())
        return self.inputs[chosen, :length], self.targets[chosen, :length]

    def _primed(self, count: int) -> int:
        """How many of the first so many instances are of the priming scale."""
        return 0 if self.config.priming_scale is None else round(self.config.priming_share * count)

    def _sample(self, scales: Sequence[int], size: int, primed: int, generator: torch.Generator) -> list[Instance]:
        """Instances of the training distribution, some of them of the priming scale."""
        scale = self.config.priming_scale
        instances = self.task.sample_training(scales, size - primed, generator)
        return instances + [self.task.sample(scale, generator) for _ in range(primed) if scale is not None]

    def _places(self, start: int, size: int) -> Int[Tensor, " size"]:
        """Which instances are seen from the start-th on; an epoch's order is drawn when it is first needed."""
        found: list[Tensor] = []
        while size > 0:
            epoch, place = divmod(start, len(self.inputs))
            if epoch != self.epoch:
                self.order = torch.randperm(len(self.inputs), generator=seeds.generator(self.seed, "order", epoch))
                self.epoch = epoch
            found.append(self.order[place : place + size])
            start, size = start + len(found[-1]), size - len(found[-1])
        return torch.cat(found)

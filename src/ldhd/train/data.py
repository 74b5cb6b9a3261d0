"""Batches of a task. The batch of a step depends on the seed and the step alone, so resuming needs no state."""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from ldhd import seeds
from ldhd.tasks import Instance, Task
from ldhd.tasks.tokens import VOCABULARY, Vocabulary
from ldhd.train.config import TrainConfig

IGNORED = -100
"""The target of a token on which there is no loss."""


def to_tensors(
    instances: Sequence[Instance], loss: str = "answer", vocabulary: Vocabulary = VOCABULARY
) -> tuple[Int[Tensor, "B n"], Int[Tensor, "B n"]]:
    """Return the token ids, padded on the right, and the next token at each place, IGNORED where there is no loss."""
    length = max(len(instance.text) for instance in instances)
    rows, targets = [], []
    for instance in instances:
        ids = vocabulary.encode(instance.text)
        rest = length - len(ids)
        first = len(instance.prompt) if loss == "answer" else 1
        rows.append(ids + [vocabulary.padding] * rest)
        targets.append([IGNORED] * first + ids[first:] + [IGNORED] * rest)
    return torch.tensor(rows)[:, :-1], torch.tensor(targets)[:, 1:]


class TrainingData:
    """The batches of a run: from a training set, or of fresh instances without end."""

    def __init__(self, task: Task, scales: Sequence[int], config: TrainConfig, seed: int):
        self.task, self.scales, self.config, self.seed = task, scales, config, seed
        self.epoch, self.order = -1, torch.empty(0, dtype=torch.long)
        if isinstance(config.samples, int):
            generator = seeds.generator(seed, "train")
            instances = self._sample(scales, config.samples, self._primed(config.samples), generator)
            self.inputs, self.targets = to_tensors(instances, config.loss, task.vocabulary)
            self.lengths = torch.tensor([len(instance.text) - 1 for instance in instances])

    def batch(self, index: int) -> tuple[Int[Tensor, "B n"], Int[Tensor, "B n"]]:
        """Return inputs and targets of a batch: from the set, permuted in each epoch, or of fresh instances."""
        size = self.config.batch_size
        if not isinstance(self.config.samples, int):
            fresh = seeds.generator(self.seed, "train", index)
            before = self._primed(index * size)
            primed = self._primed((index + 1) * size) - before
            # scales take turns: continue where the previous batch ended, so that all are equally frequent
            first = (index * size - before) % len(self.scales)
            scales = [*self.scales[first:], *self.scales[:first]]
            return to_tensors(self._sample(scales, size, primed, fresh), self.config.loss, self.task.vocabulary)
        chosen = self._places(index * size, size)
        length = int(self.lengths[chosen].max())
        return self.inputs[chosen, :length], self.targets[chosen, :length]

    def _primed(self, count: int) -> int:
        """Return how many of the first `count` instances have the priming scale."""
        return 0 if self.config.priming_scale is None else round(self.config.priming_share * count)

    def _sample(self, scales: Sequence[int], size: int, primed: int, generator: torch.Generator) -> list[Instance]:
        """Draw instances of the training distribution, `primed` of them of the priming scale."""
        scale = self.config.priming_scale
        instances = self.task.sample_training(scales, size - primed, generator)
        return instances + [self.task.sample(scale, generator) for _ in range(primed) if scale is not None]

    def _places(self, start: int, size: int) -> Int[Tensor, " size"]:
        """Return the indices of `size` instances from the start-th on, in the random order of each epoch."""
        found: list[Tensor] = []
        while size > 0:
            epoch, place = divmod(start, len(self.inputs))
            if epoch != self.epoch:
                self.order = torch.randperm(len(self.inputs), generator=seeds.generator(self.seed, "order", epoch))
                self.epoch = epoch
            found.append(self.order[place : place + size])
            start, size = start + len(found[-1]), size - len(found[-1])
        return torch.cat(found)

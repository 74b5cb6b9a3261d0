"""Gradient descent on several seeds at once: one Adam over the weights of all of them, each with a loss of its own.

Adam changes each number by that number's own gradients, so that seeds do not influence one another.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ldhd import seeds
from ldhd.bias.problem import Problem

BATCH = 256
"""Training points of a step; all of them where there are no more."""

SNAPSHOTS = 6
"""Times at which what is learned so far is measured, each twice as late as the one before."""

MOST_FOLLOWED = 12
"""N up to which there are several such times; beyond, the cube is evaluated at the end only."""

CHUNK = 2**13
"""Points of the cube that a network is evaluated on at once."""


class Ensemble(ABC):
    """Networks with different seeds."""

    @abstractmethod
    def parameters(self) -> Sequence[Tensor]:
        """The weights of all networks."""

    @abstractmethod
    def __call__(self, rows: Tensor) -> Tensor:
        """Return the values at the points of the cube with these indices: (S, m) from (S, m) or, for all, (m,)."""


def train(
    ensemble: Ensemble, problem: Problem, chosen: Sequence[int], steps: int, rate: float
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Train on the squared error and yield, now and then, the steps so far and the values on the cube: (S, 2^N).

    The learning rate falls from `rate` to 0 as a cosine does.
    """
    size = problem.label_size
    rows, labels = torch.as_tensor(problem.rows), torch.as_tensor(problem.labels / size, dtype=torch.float32)
    optimizer = torch.optim.Adam(ensemble.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    streams = [seeds.generator(seed, "bias", "batches") for seed in chosen]
    times = {max(1, steps >> k) for k in range(SNAPSHOTS if problem.dimension <= MOST_FOLLOWED else 1)}
    for step in range(1, steps + 1):
        if len(rows) <= BATCH:
            batch, target = rows, labels
        else:
            drawn = torch.stack([torch.randint(len(rows), (BATCH,), generator=stream) for stream in streams])
            batch, target = rows[drawn], labels[drawn]
        loss = (ensemble(batch) - target).square().mean(-1).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step in times:
            yield step, size * evaluate(ensemble, problem.dimension, len(chosen))


@torch.no_grad()
def evaluate(ensemble: Ensemble, dimension: int, count: int) -> NDArray[np.float64]:
    """Return the values of all networks on the cube: (S, 2^N)."""
    values = np.empty((count, 2**dimension))
    for start in range(0, 2**dimension, CHUNK):
        rows = torch.arange(start, min(start + CHUNK, 2**dimension))
        values[:, start : start + CHUNK] = ensemble(rows).numpy()
    return values

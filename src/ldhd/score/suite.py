"""The suite: which instances a score is about. A change to any of them needs a new version."""

import torch

from ldhd import seeds
from ldhd.tasks import Instance, Task

SUITE = "1"
SCALES = (1, 2, 3, 4, 5, 6, 8, 10, 20, 50, 100, 200, 500, 1000)
SEED = 241008898
"""The seed that random instances are drawn with."""


def random_instances(task: Task, scale: int) -> list[Instance]:
    """Return the random instances of a scale: 100 up to scale 100, fewer beyond."""
    stream: torch.Generator = seeds.generator(SEED, "suite", SUITE, task.name, scale)
    return [task.sample(scale, stream) for _ in range(100 if scale <= 100 else 10_000 // scale)]

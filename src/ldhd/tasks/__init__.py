"""Reasoning tasks whose instances come in scales; one file a task."""

from ldhd.tasks.addition import ADDITION
from ldhd.tasks.addition_aligned import ADDITION_ALIGNED
from ldhd.tasks.addition_mod10 import ADDITION_MOD10
from ldhd.tasks.copy import COPY
from ldhd.tasks.division import DIVISION
from ldhd.tasks.multiplication import MULTIPLICATION
from ldhd.tasks.parity import PARITY
from ldhd.tasks.parity_direct import PARITY_DIRECT
from ldhd.tasks.task import Format, Instance, LatentSpace, Needs, Task

TASKS: dict[str, Task] = {
    task.name: task
    for task in (COPY, ADDITION, ADDITION_ALIGNED, PARITY, PARITY_DIRECT, MULTIPLICATION, DIVISION, ADDITION_MOD10)
}

__all__ = ["TASKS", "Format", "Instance", "LatentSpace", "Needs", "Task"]

"""Reasoning tasks whose instances come in scales; one file a task."""

from ldhd.tasks.addends import ADDENDS
from ldhd.tasks.addition import ADDITION
from ldhd.tasks.addition_aligned import ADDITION_ALIGNED
from ldhd.tasks.addition_forward import ADDITION_FORWARD
from ldhd.tasks.addition_mod10 import ADDITION_MOD10
from ldhd.tasks.addition_scratchpad import ADDITION_SCRATCHPAD
from ldhd.tasks.brackets import BRACKETS
from ldhd.tasks.copy import COPY
from ldhd.tasks.copy_separator import COPY_SEPARATOR
from ldhd.tasks.copy_twice import COPY_TWICE
from ldhd.tasks.difference import DIFFERENCE
from ldhd.tasks.division import DIVISION
from ldhd.tasks.interleaving import INTERLEAVING
from ldhd.tasks.languages import STATE_TASKS
from ldhd.tasks.larger import LARGER
from ldhd.tasks.long_multiplication import LONG_MULTIPLICATION
from ldhd.tasks.maximum import MAXIMUM
from ldhd.tasks.modular_sum import MODULAR_SUM
from ldhd.tasks.multiplication import MULTIPLICATION
from ldhd.tasks.parity import PARITY
from ldhd.tasks.parity_direct import PARITY_DIRECT
from ldhd.tasks.recall import RECALL
from ldhd.tasks.reversal import REVERSAL
from ldhd.tasks.sorting import SORTING
from ldhd.tasks.subtraction import SUBTRACTION
from ldhd.tasks.successor import SUCCESSOR
from ldhd.tasks.task import Format, Instance, LatentSpace, Needs, Task
from ldhd.tasks.tokens import Vocabulary
from ldhd.tasks.two_digit_multiplication import TWO_DIGIT_MULTIPLICATION

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        COPY,
        ADDITION,
        ADDITION_ALIGNED,
        PARITY,
        PARITY_DIRECT,
        MULTIPLICATION,
        DIVISION,
        ADDITION_MOD10,
        REVERSAL,
        SUCCESSOR,
        DIFFERENCE,
        SUBTRACTION,
        INTERLEAVING,
        LARGER,
        ADDENDS,
        ADDITION_FORWARD,
        COPY_SEPARATOR,
        MAXIMUM,
        MODULAR_SUM,
        COPY_TWICE,
        ADDITION_SCRATCHPAD,
        SORTING,
        TWO_DIGIT_MULTIPLICATION,
        LONG_MULTIPLICATION,
        BRACKETS,
        RECALL,
    )
}

ALL_TASKS = {**TASKS, **STATE_TASKS}
"""With the regular languages, for which `all` does not stand."""

__all__ = ["ALL_TASKS", "TASKS", "Format", "Instance", "LatentSpace", "Needs", "Task", "Vocabulary"]

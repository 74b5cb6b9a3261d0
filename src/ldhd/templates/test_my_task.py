"""My task keeps the contract of tasks, and its answers are right."""

import pytest
import torch
from my_task import MyTask

from ldhd.tasks.contract import problems


def expected(prompt: str) -> str:
    """The answer by another way than that of the task."""
    x = [int(digit) for digit in prompt[1:-1]]
    return "".join(str(sum(x[max(0, t - 1) : t + 1]))[-1] for t in range(len(x))) + "e"


def test_nothing_is_wrong_with_it() -> None:
    assert problems(MyTask()) == []


@pytest.mark.parametrize(("prompt", "answer"), [("b407=", "447e"), ("b99=", "98e"), ("b5=", "5e")])
def test_worked_strings(prompt: str, answer: str) -> None:
    assert MyTask().read(prompt).answer == answer


def test_answers_are_right() -> None:
    task, stream = MyTask(), torch.Generator().manual_seed(0)
    for scale in (1, 2, 5, 40):
        for instance in [*(task.sample(scale, stream) for _ in range(50)), *task.hard(scale)]:
            assert instance.answer == expected(instance.prompt)

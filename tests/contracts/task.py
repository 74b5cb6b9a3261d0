"""What every task of ours must satisfy; a task's test class inherits these and names the task."""

import pytest

from ldhd.tasks import Task
from ldhd.tasks.contract import CONDITIONS, FAR, generator, sampled


class TaskContract:
    """Subclasses set `task` and `expected(prompt)`, an independent computation of the answer."""

    task: Task

    def expected(self, prompt: str) -> str:
        raise AssertionError("a task's test says what the answer to a prompt is")

    @pytest.mark.parametrize("condition", CONDITIONS, ids=lambda condition: condition.__name__)
    def test_the_contract_is_kept(self, condition):
        assert list(condition(self.task)) == []

    def test_answers_are_right(self):
        for instance in [*sampled(self.task), self.task.sample(FAR, generator())]:
            assert instance.answer == self.expected(instance.prompt), instance

    @pytest.mark.parametrize("prompt", ["b=", "bx=", "b1+=", "b+1=", "b1+2+3=", "b1=2="])
    def test_prompts_of_other_tasks_are_refused(self, prompt):
        with pytest.raises(ValueError, match=r"\w"):
            self.task.read(prompt)

    @pytest.mark.parametrize("scale", [0, -1])
    def test_scales_start_at_one(self, scale):
        with pytest.raises(ValueError, match="from 1 up"):
            self.task.sample(scale, generator())

    @pytest.mark.parametrize("scale", [1, 2, 3, 7, 100])
    def test_there_are_hard_instances_whose_answers_are_right(self, scale):
        found = self.task.for_scales([scale]).hard(scale)
        assert len(found) >= 2
        for instance in found:
            assert instance.answer == self.expected(instance.prompt)

    def test_shapes_are_known(self):
        assert self.task.latent.shapes(1) is not None

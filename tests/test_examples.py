"""The examples, as a reader would use them."""

from pathlib import Path

import pytest

from contracts.command import ldhd
from contracts.task import TaskContract
from ldhd.experiments.parts import load_task
from ldhd.experiments.presets import PRESETS
from ldhd.sweep.file import read_sweep

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(autouse=True)
def _there(monkeypatch):
    monkeypatch.chdir(EXAMPLES)


class TestThreeAddends(TaskContract):
    @property
    def task(self):
        return load_task("three_addends:THREE")

    def expected(self, prompt):
        return f"{str(sum(int(part[::-1]) for part in prompt[1:-1].split('+')))[::-1]}e"

    def test_shapes_are_known(self):
        assert self.task.latent.shapes(2) is None

    @pytest.mark.parametrize("prompt", ["b1+2=", "b1+2+3+4=", "b1++3=", "b1+2+30="])
    def test_prompts_of_other_tasks_are_refused(self, prompt):
        super().test_prompts_of_other_tasks_are_refused(prompt)


def test_its_sweep_is_the_recipe_of_addition_but_for_sharpness_and_steps():
    configs = read_sweep(Path("three_addends.toml"))
    (addition,) = (config for config in PRESETS["record"].configs("quick") if config.task == "addition")
    assert [config.seed for config in configs] == [0, 1, 2, 3, 4]
    for config in configs:
        assert config.model_options == addition.model_options.model_copy(update={"sharpen": 1.0})
        assert config.position_options == addition.position_options
        assert config.train == addition.train.model_copy(update={"steps": 3000})
        assert config.test_scales == addition.test_scales


def test_the_name_of_a_task_is_no_emoji(capsys):
    code, out, _ = ldhd(capsys, "tasks", "three_addends:THREE", "--scale", "2")
    assert code == 0
    assert "three_addends:THREE:" in out

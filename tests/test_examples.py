"""The examples, as a reader would use them."""

from pathlib import Path

import pytest
import torch

from ldhd.cli import main
from ldhd.experiments.parts import load_task
from ldhd.experiments.presets import PRESETS
from ldhd.sweep.file import read_sweep

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(autouse=True)
def _there(monkeypatch):
    monkeypatch.chdir(EXAMPLES)


def number(text):
    return int(text[::-1])


def test_the_sum_of_three_numbers_and_what_it_needs():
    task = load_task("three_addends:THREE")
    for scale in (1, 2, 7, 40):
        for seed in range(20):
            instance = task.sample(scale, torch.Generator().manual_seed(seed))
            parts = instance.prompt[1:-1].split("+")
            assert max(map(len, parts)) == scale == instance.scale
            assert sum(map(number, parts)) == number(instance.answer[:-1])
            assert task.read(instance.prompt) == instance
            text, carry = instance.text, 0
            for t, slots in enumerate(task.needs(instance)[:-1]):
                digits = {slot: int(text[index]) for slot, index in slots.items() if index is not None}
                here = sum(digits.get(slot, 0) for slot in "xyz")
                if t:
                    before = sum(digits.get(f"{slot}_previous", 0) for slot in "xyz")
                    into = (digits["s_previous"] - before) % 10  # what came into the place before, 0 to 2
                    carry = (before + into) // 10
                assert (here + carry) % 10 == int(instance.answer[t])
    with pytest.raises(ValueError, match="looks like 'b1\\+2\\+3='"):
        task.read("b1+2=")


def test_its_sweep_is_the_recipe_of_addition_with_more_steps():
    configs = read_sweep(Path("three_addends.toml"))
    (addition,) = (config for config in PRESETS["record"].configs("quick") if config.task == "addition")
    assert [config.seed for config in configs] == [0, 1, 2]
    for config in configs:
        assert config.model_options == addition.model_options
        assert config.position_options == addition.position_options
        assert config.train == addition.train.model_copy(update={"steps": 2000})
        assert config.test_scales == addition.test_scales


def test_the_name_of_a_task_is_no_emoji(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["tasks", "three_addends:THREE", "--scale", "2"])
    assert "three_addends:THREE:" in capsys.readouterr().out

"""The arithmetic of training: how it is chosen, that it stays, and that it learns as float32 does."""

import pytest
import torch

from ldhd.experiments import make_config, run
from ldhd.experiments.folder import Record
from ldhd.experiments.loading import new_model
from ldhd.model import GPT, ModelConfig
from ldhd.positions import POSITIONS, RPESquare
from ldhd.tasks import TASKS
from ldhd.tasks.tokens import VOCABULARY_SIZE
from ldhd.train import TrainConfig, TrainingData, checkpoint, new_state, precision, train
from ldhd.train.loop import update

CPU = torch.device("cpu")


@pytest.fixture(params=[True, False], ids=["with", "without"])
def multiplies(request, monkeypatch):
    """A CPU with or without instructions for bfloat16."""
    monkeypatch.setattr(precision, "_cpu_multiplies", lambda: request.param)
    return request.param


def test_auto_is_bfloat16_for_large_models_on_a_cpu_that_multiplies_it(multiplies):
    large = precision.FASTER_FROM
    assert precision.choose("auto", large, CPU) == ("bfloat16" if multiplies else "float32")
    assert precision.choose("auto", large - 1, CPU) == "float32"


def test_what_is_asked_for_is_done_everywhere(multiplies):
    for wanted in ("float32", "bfloat16"):
        assert {precision.choose(wanted, size, CPU) for size in (1, 10_000)} == {wanted}
    assert precision.choose("auto", 10_000, torch.device("mps")) == "float32"


def new(wanted):
    torch.manual_seed(5)
    model = GPT(ModelConfig(layers=1, heads=2, dimension=16), VOCABULARY_SIZE, RPESquare)
    config = TrainConfig(steps=30, batch_size=32, samples=200, learning_rate=1e-2, evaluate_every=30, precision=wanted)
    return new_state(model, config), config


def trained(wanted):
    state, config = new(wanted)
    found = []
    train(state, TASKS["copy"], (1,), config, seed=3, on_step=lambda state, loss: found.append(loss))
    return found


def test_bfloat16_rounds_and_learns_as_float32_does():
    exact, rounded = trained("float32"), trained("bfloat16")
    assert exact != rounded
    assert exact[-1] < exact[0] - 1
    assert rounded == pytest.approx(exact, abs=0.05)


@pytest.mark.parametrize("name", POSITIONS)
def test_every_embedding_and_attention_trains_in_bfloat16(name):
    found = []
    for wanted in ("float32", "bfloat16"):
        settings = {"model.heads": 2, "model.dimension": 16, "train.batch_size": 8, "train.precision": wanted}
        config = make_config("copy", name, model="small-2", seed=1, settings={**settings, "train.samples": 50})
        state = new_state(new_model(config), config.train)
        data = TrainingData(TASKS["copy"], (1, 2), config.train, 1)
        found.append(update(state, data, config.train, 1, CPU))
    exact, rounded = found
    assert rounded.loss == pytest.approx(exact.loss, abs=0.05)
    assert rounded.gradient_norm == pytest.approx(exact.gradient_norm, rel=0.1)


@pytest.mark.parametrize(("begun", "elsewhere"), [("float32", "bfloat16"), ("bfloat16", "float32")])
def test_training_goes_on_in_the_arithmetic_it_began_with(tmp_path, begun, elsewhere):
    checkpoint.save(tmp_path, new(begun)[0], "run")
    state, _ = new(elsewhere)
    assert state.precision == elsewhere
    assert checkpoint.restore(tmp_path, state, "run", steps=30)
    assert state.precision == begun


def test_the_record_says_which_arithmetic_it_was(tmp_path):
    size = {"model.dimension": 8, "model.heads": 2, "train.batch_size": 4, "test_instances": 2}
    for wanted, used in (("bfloat16", "bfloat16"), ("auto", "float32")):
        settings = {**size, "train.precision": wanted}
        config = make_config("copy", "rpe", steps=1, train_scales=(1,), test_scales=(1,), settings=settings)
        record = run(config, tmp_path)
        assert record.precision == used
        stored = record.model_dump_json(exclude={"precision"})
        earlier = Record.model_validate_json(stored)
        assert "precision" not in earlier.model_dump()  # records of earlier versions stay as they are

"""The parts of a run, built to be used or only to be looked at."""

import pytest
import torch

from ldhd.experiments import make_config
from ldhd.experiments.parts import build_model, outline
from ldhd.positions import POSITIONS


@pytest.mark.parametrize("position", [*POSITIONS, "rpe-square+rpe-absolute"])
def test_an_outline_is_the_model_without_its_values(position):
    config = make_config("copy", position, built=False)
    parts = config.model_options, config.position, config.position_options
    before = torch.random.get_rng_state()
    found = outline(*parts)
    assert torch.equal(torch.random.get_rng_state(), before)
    model = build_model(*parts)
    assert {name: value.shape for name, value in found.state_dict().items()} == {
        name: value.shape for name, value in model.state_dict().items()
    }
    for i in range(6):
        assert found.position.relation("b12=12", 5, i) == model.position.relation("b12=12", 5, i)


def test_an_outline_of_gpt2_draws_no_weights(monkeypatch):
    config = make_config("copy", "rope", model="gpt2", built=False)
    monkeypatch.setattr(torch.Tensor, "normal_", None)
    outlined = outline(config.model_options, config.position, config.position_options)
    assert sum(weights.numel() for weights in outlined.parameters()) > 80_000_000

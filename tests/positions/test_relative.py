"""What ALiBi, RPE and FIRE share."""

import pytest
import torch

from contracts.position import bias_of
from ldhd.positions import RPE, Alibi, Fire


@pytest.mark.parametrize("position", [RPE(16, 2), RPE(16, 2, max_distance=6), Alibi(16, 2), Fire(16, 2)])
def test_a_term_at_the_usual_positions_is_the_usual_term(position):
    q, places = torch.randn(3, 2, 9, 8), torch.arange(9)[None]
    usual = bias_of(position, q, torch.empty(3, 9, 16))
    assert torch.allclose(position.bias_at(q, places, places).tril(), usual.tril(), atol=1e-6)
    assert torch.allclose(position.bias_at(q[:, :, 7:], places[:, 7:], places)[..., :8], usual[..., 7:, :8], atol=1e-6)

"""RPE-Absolute."""

import torch

from contracts.formulas import rpe_absolute_by_loops
from contracts.position import PositionContract, bias_of
from ldhd.positions import RPEAbsolute
from ldhd.positions.context import Context


class TestRPEAbsolute(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPEAbsolute(dimension, heads, layer, max_distance=3)

    def test_module_is_the_formula_with_its_own_anchors(self):
        position = RPEAbsolute(8, 2, max_distance=4, projections="separate", anchor_scale=1.0)
        q, hidden = torch.randn(1, 2, 7, 4), torch.randn(1, 7, 8)
        anchor = position.anchor(q, q, Context.causal(hidden)).weights()
        bias = bias_of(position, q, hidden)
        assert torch.allclose(bias.tril(), rpe_absolute_by_loops(q, anchor, position.table), atol=1e-5)

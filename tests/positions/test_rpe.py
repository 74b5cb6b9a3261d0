"""Relative position embedding (RPE)."""

import torch

from contracts.position import TEXT, PositionContract
from ldhd.positions import RPE, NoPosition
from ldhd.tasks.tokens import encode


class WithoutPositions(PositionContract):
    make = NoPosition


class TestRPE(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPE(dimension, heads, layer, max_distance=6)

    def test_zero_table_is_no_position(self):
        model = self.model()
        tokens = torch.tensor([encode(TEXT)])
        for block in model.blocks:
            torch.nn.init.zeros_(block.attention.position.table)
        other = WithoutPositions().model()
        other.load_state_dict({k: v for k, v in model.state_dict().items() if "table" not in k})
        assert torch.allclose(model(tokens), other(tokens), atol=1e-6)

"""No position embedding (NoPE)."""

import torch

from contracts.position import PositionContract
from ldhd.positions import NoPosition
from ldhd.tasks.tokens import encode


class TestNone(PositionContract):
    make = NoPosition

    def test_permuting_the_past_changes_nothing(self):
        """One layer without positions sees a set: only the order of the last token matters."""
        model = self.model()
        model.blocks = model.blocks[:1]
        a, b = (model(torch.tensor([encode(text)]))[:, -1] for text in ("b123=", "b312="))
        assert torch.allclose(a, b, atol=1e-5)

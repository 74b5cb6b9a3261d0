"""Learned absolute position embedding (APE)."""

import pytest
import torch

from contracts.position import PositionContract, context_of
from ldhd.positions import Absolute


class TestAbsolute(PositionContract):
    make = Absolute

    def test_beyond_the_table(self):
        position = Absolute(16, 2, table_size=4)
        position.check_fits("b1=1", training=True)
        with pytest.raises(ValueError, match="a string of 5 tokens is longer than the table of 4"):
            position.check_fits("b1=1e", training=False)
        tokens = torch.zeros(1, 5, dtype=torch.long)
        with pytest.raises(ValueError, match="position 4 is beyond the table of 4"):
            position.embed(tokens, context_of(tokens))

    def test_table_belongs_to_the_first_layer_only(self):
        assert not list(Absolute(16, 2, layer=1).parameters())

"""Contextual position encoding (CoPE)."""

import math

import pytest
import torch

from contracts.position import PositionContract
from contracts.relation import DIMENSION, HEADS
from ldhd.positions import RPE, CoPE
from ldhd.positions.context import Context


class TestCoPE(PositionContract):
    make = CoPE

    def terms(self, position, text):
        """Heads count delimiters, as the keys of the contract make them do, or every token."""
        n = len(text)
        q = torch.ones(1, HEADS, n, DIMENSION // HEADS)
        every = position.bias(q, 100 * q, Context.causal(torch.zeros(1, n, DIMENSION)))[0].detach().movedim(0, -1)
        return torch.cat([super().terms(position, text), every], dim=-1)

    def test_formula(self):
        n, d = 12, 4
        position = CoPE(8, 2, max_position=5)
        torch.nn.init.normal_(position.table)
        q, k = torch.randn(1, 2, n, d), torch.randn(1, 2, n, d)
        bias = position.bias(q, k, Context.causal(torch.zeros(1, n, 8)))[0]
        for head in range(2):
            for j in range(n):
                for i in range(j + 1):
                    gates = [1 / (1 + math.exp(-float(q[0, head, j] @ k[0, head, t]))) for t in range(i, j + 1)]
                    count = min(sum(gates), 5)
                    low, high = math.floor(count), math.ceil(count)
                    row = position.table[low] * (1 - (count - low)) + position.table[high] * (count - low)
                    assert abs(float(bias[head, j, i] - q[0, head, j] @ row)) < 1e-4

    def test_with_open_gates_it_is_rpe(self):
        """Counting starts at 1, the token itself."""
        n, position, rpe = 9, CoPE(8, 2, max_position=20), RPE(8, 2, max_distance=19)
        torch.nn.init.normal_(position.table)
        with torch.no_grad():
            rpe.table[:] = position.table[1:]
        q = torch.ones(1, 2, n, 4)
        context = Context.causal(torch.zeros(1, n, 8))
        assert torch.allclose(position.bias(q, 50 * q, context).tril(), rpe.bias(q, q, context).tril(), atol=1e-4)

    def test_max_position_must_be_positive(self):
        with pytest.raises(ValueError, match="max_position must be at least 1, got 0"):
            CoPE(8, 2, max_position=0)

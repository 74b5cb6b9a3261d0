"""Forgetting attention (FoX)."""

import math

import torch

from contracts.position import PositionContract
from ldhd.positions import Alibi, Forgetting
from ldhd.positions.alibi import alibi_slopes
from ldhd.positions.context import Context


class TestForgetting(PositionContract):
    make = Forgetting

    def model(self, **options):
        """With larger weights, so that prompts have different continuations; few gates are shut."""
        model = super().model(**options)
        for block in model.blocks:
            torch.nn.init.normal_(block.attention.qkv.weight, std=0.6)
            torch.nn.init.constant_(block.attention.position.gate.bias, 3.0)
        return model

    def test_formula(self):
        position, hidden = Forgetting(8, 2), torch.randn(1, 10, 8)
        q = torch.randn(1, 2, 10, 4)
        bias = position.bias(q, q, Context.causal(hidden))[0]
        for head in range(2):
            kept = [torch.sigmoid(position.gate.weight[head] @ x + position.gate.bias[head]) for x in hidden[0]]
            for j in range(10):
                for i in range(j + 1):
                    expected = sum(math.log(float(kept[t])) for t in range(i + 1, j + 1))
                    assert math.isclose(float(bias[head, j, i]), expected, rel_tol=1e-4, abs_tol=1e-5)

    def test_with_constant_gates_it_is_alibi(self):
        position, hidden, q = Forgetting(8, 2), torch.randn(1, 10, 8), torch.randn(1, 2, 10, 4)
        with torch.no_grad():
            position.gate.weight.zero_()
            kept = torch.tensor(alibi_slopes(2)).neg().exp()
            position.gate.bias[:] = (kept / (1 - kept)).log()
        context = Context.causal(hidden)
        found, alibi = position.bias(q, q, context).tril(), Alibi(8, 2).bias(q, q, context).tril()
        assert torch.allclose(found, alibi, atol=1e-4)

    def test_relation_counts_the_types_after_the_key(self):
        position = Forgetting(8, 2)
        assert position.relation("b12+3=", 5, 5) == ()
        assert position.relation("b12+3=", 5, 1) == (("#", 2), ("+", 1), ("=", 1))

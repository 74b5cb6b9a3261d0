"""Attention with linear biases (ALiBi)."""

import math

import pytest
import torch

from contracts.position import PositionContract, bias_of, causal
from ldhd.positions import POSITIONS
from ldhd.positions.alibi import alibi_slopes


class TestAlibi(PositionContract):
    make = POSITIONS["alibi"]

    @pytest.mark.parametrize("heads", [1, 2, 6, 8, 12])
    def test_scores_agree_with_transformers(self, heads):
        """BLOOM adds slope * i; a row of logits may differ by a constant, which the softmax drops."""
        from transformers.models.bloom.modeling_bloom import build_alibi_tensor

        n, d = 7, 4
        theirs = build_alibi_tensor(torch.ones(1, n), heads, torch.float32).view(1, heads, 1, n)
        q, k = torch.randn(1, heads, n, d), torch.randn(1, heads, n, d)
        ours = bias_of(self.make(d * heads, heads), q, torch.zeros(1, n, d * heads))
        scores = q @ k.mT / math.sqrt(d)
        hidden = ~causal(n)
        a = (scores + ours).masked_fill(hidden, -torch.inf).softmax(-1)
        b = (scores + theirs).masked_fill(hidden, -torch.inf).softmax(-1)
        assert torch.allclose(a, b, atol=1e-6)

    def test_slopes_of_the_paper(self):
        assert alibi_slopes(8) == [2.0**-k for k in range(1, 9)]

"""Functional interpolation for relative positions (FIRE)."""

import itertools
import math

import pytest
import torch

from contracts.position import TEXT, PositionContract, bias_of
from ldhd.positions import Fire


def fire_by_loops(position, n):
    """The formula for each head and pair, in plain numbers."""
    c, longest = abs(position.c.item()), abs(position.multiplier.item() * position.threshold)
    inner, inner_bias = position.inner[:, 0].tolist(), position.inner_bias.tolist()
    outer, outer_bias = position.outer.tolist(), position.outer_bias.tolist()
    bias = torch.zeros(1, position.heads, n, n)
    for head, j in itertools.product(range(position.heads), range(n)):
        for i in range(j + 1):
            share = math.log(c * (j - i) + 1) / math.log(c * max(longest, j) + 1)
            hidden = [max(0.0, w * share + b) for w, b in zip(inner, inner_bias, strict=True)]
            bias[0, head, j, i] = sum(w * h for w, h in zip(outer[head], hidden, strict=True)) + outer_bias[head]
    return bias


class TestFire(PositionContract):
    initial = ("c", "multiplier")

    def make(self, dimension, heads, layer=0):
        return Fire(dimension, heads, layer, threshold=6.0)

    @pytest.mark.parametrize(("c", "multiplier"), [(0.1, 1.0), (2.5, 0.4), (-0.3, -3.0)])
    def test_formula(self, c, multiplier):
        position = Fire(24, 4, threshold=5.0)
        torch.nn.init.constant_(position.c, c)
        torch.nn.init.constant_(position.multiplier, multiplier)
        bias = bias_of(position, torch.randn(1, 4, 12, 6), torch.randn(1, 12, 24)).tril()
        assert torch.allclose(bias, fire_by_loops(position, 12), atol=1e-5)

    def test_up_to_the_threshold_the_distance_alone_counts(self):
        bias = bias_of(Fire(8, 2, threshold=20.0), torch.randn(1, 2, 15, 4), torch.randn(1, 15, 8))[0]
        for e in range(15):
            along = bias.diagonal(-e, 1, 2)
            assert torch.allclose(along, along[:, :1].expand_as(along), atol=1e-6)

    @pytest.mark.parametrize(("c", "multiplier"), [(2.5, 0.5), (-0.3, -2.0)])
    def test_the_relation_is_that_of_the_initial_values(self, c, multiplier):
        """Once c and L have moved, the distance alone counts up to the learned L, and not up to the initial one."""
        position = Fire(8, 2, threshold=10.0)
        torch.nn.init.constant_(position.c, c)
        torch.nn.init.constant_(position.multiplier, multiplier)
        bias = bias_of(position, torch.randn(1, 2, 30, 4), torch.randn(1, 30, 8))[0]
        learned = int(abs(multiplier) * 10.0)
        along = bias.diagonal(-2, 1, 2)  # of queries at 2, 3, ...
        up_to, beyond = along[:, : learned - 1], along[:, learned - 1 :]
        assert torch.allclose(up_to, up_to[:, :1].expand_as(up_to), atol=1e-6)
        assert ((beyond - up_to[:, :1]).abs() > 1e-4).any()

    def test_beyond_the_threshold_the_first_token_looks_the_same_at_any_length(self):
        bias = bias_of(Fire(8, 2, threshold=4.0), torch.randn(1, 2, 40, 4), torch.randn(1, 40, 8))[0, :, 5:, 0]
        assert torch.allclose(bias, bias[:, :1].expand_as(bias), atol=1e-4)

    def test_pairs_of_one_relation_get_one_logit(self):
        position = Fire(8, 2, threshold=6.0)
        bias = bias_of(position, torch.randn(1, 2, 18, 4), torch.randn(1, 18, 8))
        found = {}
        for j in range(18):
            for i in range(j + 1):
                value = found.setdefault(position.relation(TEXT, j, i), bias[0, 0, j, i])
                assert torch.allclose(value, bias[0, 0, j, i], atol=1e-5)
        assert len(found) > 18

    def test_threshold_must_be_positive(self):
        with pytest.raises(ValueError, match="threshold must be positive, got 0"):
            Fire(8, 2, threshold=0.0)

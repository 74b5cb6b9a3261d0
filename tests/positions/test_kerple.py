"""Kernelized relative positions (KERPLE)."""

import math

import pytest
import torch

from contracts.position import PositionContract, bias_of
from ldhd.positions import Alibi, Kerple
from ldhd.positions.alibi import alibi_slopes


class TestKerple(PositionContract):
    make = Kerple

    @pytest.mark.parametrize("kernel", ["log", "power"])
    def test_formula(self, kernel):
        position = Kerple(12, 3, kernel=kernel)
        with torch.no_grad():
            position.p[:], position.a[:] = torch.tensor([0.5, -1.7, 3.0]), torch.tensor([0.2, 0.9, -0.4])
        bias = bias_of(position, torch.randn(1, 3, 9, 4), torch.randn(1, 9, 12))[0]
        for head, (p, a) in enumerate([(0.5, 0.2), (1.7, 0.9), (3.0, 0.4)]):
            for j in range(9):
                for i in range(j + 1):
                    x = j - i
                    expected = -p * math.log(1 + a * x) if kernel == "log" else -a * x ** min(p, 2)
                    assert math.isclose(float(bias[head, j, i]), expected, rel_tol=1e-4, abs_tol=1e-6)

    def test_the_power_1_is_alibi(self):
        position = Kerple(8, 2, kernel="power")
        with torch.no_grad():
            position.p[:], position.a[:] = 1.0, torch.tensor(alibi_slopes(2))
        q, hidden = torch.randn(1, 2, 9, 4), torch.randn(1, 9, 8)
        assert torch.allclose(bias_of(position, q, hidden).tril(), bias_of(Alibi(8, 2), q, hidden).tril(), atol=1e-6)

    def test_the_nearer_of_two_keys_always_has_the_larger_term(self):
        for kernel in ("log", "power"):
            bias = bias_of(Kerple(8, 2, kernel=kernel), torch.randn(1, 2, 40, 4), torch.randn(1, 40, 8))[0, :, -1]
            assert (bias.diff() >= 0).all()

    def test_initial_values_are_those_of_its_authors(self):
        torch.manual_seed(0)
        position = Kerple(4000, 2000)
        for values, largest in ((position.p, 2), (position.a, 1)):
            assert 0 <= values.min() < 0.01 * largest
            assert 0.99 * largest < values.max() <= largest


class TestPowerKerple(PositionContract):
    def make(self, dimension, heads, layer=0):
        return Kerple(dimension, heads, layer, kernel="power")

"""Sandwich."""

import numpy as np
import pytest
import torch

from contracts.position import PositionContract, bias_of
from ldhd.positions import Sandwich


class TestSandwich(PositionContract):
    make = Sandwich

    @pytest.mark.parametrize(("width", "heads"), [(128, 4), (6, 2)])
    def test_it_is_the_inner_product_of_sinusoidal_embeddings(self, width, heads):
        n = 300
        angles = np.arange(n)[:, None] / 10_000 ** (np.arange(0, width, 2) / width)
        embeddings = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
        bias = bias_of(Sandwich(8, heads, width=width), torch.randn(1, heads, n, 8 // heads), torch.randn(1, n, 8))
        for head in range(heads):
            expected = np.tril(embeddings @ embeddings.T) / (8 * (head + 1) / heads)
            assert np.allclose(bias[0, head].tril().numpy(), expected, atol=1e-3)

    def test_scores_fall_as_the_relation_grows(self):
        position = Sandwich(8, 2)
        score = bias_of(position, torch.randn(1, 2, 400, 4), torch.randn(1, 400, 8))[0, 0, -1].flip(-1)
        order = sorted(range(400), key=lambda distance: position.relation("", distance, 0))
        assert order != list(range(400))
        assert (score[order].diff() <= 1e-4).all()

    def test_odd_width_is_refused(self):
        with pytest.raises(ValueError, match="width must be even and at least 2, got 7"):
            Sandwich(8, 2, width=7)

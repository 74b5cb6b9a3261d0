"""Anchors, from which RPE-Square, RPE-Absolute and the latent window measure."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from contracts.formulas import random_anchor
from contracts.position import causal
from ldhd.positions import RPESquare
from ldhd.positions.anchor import Anchor, natural_anchor, recent_scores


class TestRecentAnchors:
    @given(st.integers(0, 3), st.lists(st.floats(-6, 6), min_size=4, max_size=12))
    def test_weights_are_the_chances_of_the_last_anchor(self, padding, scores):
        """Token l is one with chance g_l, the first valid one always; the last of them up to j is the anchor."""
        u = torch.tensor([[[-math.inf] * padding + scores]], dtype=torch.float64)
        found = recent_scores(u)[0, 0]
        g = [1.0, *(1 / (1 + math.exp(-score)) for score in scores[1:])]
        for j in range(len(scores)):
            weights = found[: padding + j + 1].softmax(-1)
            expected = [g[m] * math.prod(1 - g[n] for n in range(m + 1, j + 1)) for m in range(j + 1)]
            assert weights.tolist() == pytest.approx([0.0] * padding + expected, abs=1e-9)

    def test_hard_ones_are_the_last_with_a_positive_score_at_any_length(self):
        text = "b" + "1" * 300 + "+" + "2" * 300 + "="
        scores = torch.tensor([[[-0.01 if token.isdigit() else 0.5 for token in text]]])
        best = recent_scores(scores, hard=True)[0, 0]
        for j in range(len(text)):
            assert int(best[: j + 1].argmax()) == natural_anchor(text, j)


class TestAnchor:
    def test_hard_anchor_chooses_and_passes_the_soft_gradient(self):
        soft, hard = (Anchor(8, 2, "separate", 1.0, hard=h) for h in (False, True))
        hard.load_state_dict(soft.state_dict())
        hidden = torch.randn(1, 5, 8)
        q = torch.randn(1, 2, 5, 4)
        a, b = (anchor(q, q, hidden, causal(5), None).weights() for anchor in (soft, hard))
        assert torch.allclose(b, torch.nn.functional.one_hot(a.argmax(-1), 5).float(), atol=1e-6)
        weight = torch.randn_like(a)
        for weights, module in ((a, soft), (b, hard)):
            (weights * weight).sum().backward()
            assert module.key.weight.grad.abs().max() > 0
        assert torch.allclose(soft.key.weight.grad, hard.key.weight.grad, atol=1e-6)

    def test_of_equal_tokens_a_hard_anchor_takes_the_last(self):
        anchor = Anchor(8, 2, "separate", 1.0, hard=True, anchors=1)
        hidden = torch.randn(1, 1, 8).expand(1, 6, 8)
        weights = anchor(torch.randn(1, 2, 6, 4), torch.randn(1, 2, 6, 4), hidden, causal(6), None).weights()
        assert torch.allclose(weights[0, 0], torch.eye(6), atol=1e-6)

    def test_rows_are_causal_weights(self):
        anchor = Anchor(8, 2, "key", 4.0)
        q = torch.randn(1, 2, 5, 4)
        weights = anchor(q, q, torch.randn(1, 5, 8), causal(5), None).weights()
        assert torch.allclose(weights.sum(-1), torch.ones(1, 2, 5))
        assert torch.equal(weights, weights.tril())

    def test_shared_scores_are_the_attention_s_own(self):
        q, k = torch.randn(1, 2, 5, 4), torch.randn(1, 2, 5, 4)
        weights = Anchor(8, 2, "shared", 2.0)(q, k, torch.randn(1, 5, 8), causal(5), None).weights()
        assert torch.allclose(weights, (2 * q @ k.mT).masked_fill(~causal(5), -torch.inf).softmax(-1), atol=1e-6)

    def test_key_scores_are_separate_ones_with_a_constant_query(self):
        """W_Q x_j replaced by a vector that does not depend on x: every row ranks the keys alike."""
        hidden = torch.randn(1, 6, 8)
        key = Anchor(8, 2, "key", 4.0)
        weights = key(torch.empty(1, 2, 6, 4), torch.empty(1, 2, 6, 4), hidden, causal(6), None).weights()
        ratio = weights[..., 1] / weights[..., 0]
        assert torch.allclose(ratio[..., 1:], ratio[..., 1:2].expand_as(ratio[..., 1:]), rtol=1e-4)

    def test_scale_must_be_positive(self):
        with pytest.raises(ValueError, match=r"must be positive, got 0\.0"):
            Anchor(8, 2, "key", 0.0)

    def test_shared_projections_belong_to_heads(self):
        with pytest.raises(ValueError, match="not of 1 anchors"):
            RPESquare(8, 2, projections="shared", anchors=1)

    def test_anchors_must_divide_the_heads(self):
        with pytest.raises(ValueError, match="anchors must divide the 2 heads, got 3"):
            RPESquare(8, 2, anchors=3)

    def test_natural_anchor(self):
        assert [natural_anchor("b12+3=4", j) for j in range(7)] == [0, 0, 0, 3, 3, 5, 5]


def test_random_anchor_is_an_anchor():
    anchor = random_anchor(1, 1, 4, torch.float64)
    assert torch.allclose(anchor.sum(-1), torch.ones(1, 1, 4, dtype=torch.float64))

"""Anchors, from which RPE-Square, RPE-Absolute and the latent window measure."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from contracts.formulas import random_anchor
from contracts.position import bias_of, causal
from ldhd.positions import LatentWindow
from ldhd.positions.anchor import (
    KeyAnchor,
    RecentAnchor,
    SeparateAnchor,
    SharedAnchor,
    natural_anchor,
    recent_scores,
    repeated,
    repeated_penalty,
)
from ldhd.positions.context import Context


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
        hidden = torch.tensor([[[-0.01 if token.isdigit() else 0.5] for token in text]])
        anchor = RecentAnchor(1, 1, scale=1.0, hard=True)
        torch.nn.init.ones_(anchor.key.weight)
        nothing = torch.empty(1, 1, len(text), 1)
        distances = anchor(nothing, nothing, Context.causal(hidden)).distances[0, 0]
        assert distances.tolist() == [j - natural_anchor(text, j) for j in range(len(text))]


class TestAnchor:
    def test_hard_anchor_chooses_and_passes_the_soft_gradient(self):
        soft, hard = (SeparateAnchor(8, 2, 1.0, hard=h) for h in (False, True))
        hard.load_state_dict(soft.state_dict())
        hidden = torch.randn(1, 5, 8)
        q = torch.randn(1, 2, 5, 4)
        a, b = (anchor(q, q, Context.causal(hidden)).weights() for anchor in (soft, hard))
        assert torch.allclose(b, torch.nn.functional.one_hot(a.argmax(-1), 5).float(), atol=1e-6)
        weight = torch.randn_like(a)
        for weights, module in ((a, soft), (b, hard)):
            (weights * weight).sum().backward()
            assert module.key.weight.grad.abs().max() > 0
        assert torch.allclose(soft.key.weight.grad, hard.key.weight.grad, atol=1e-6)

    def test_of_equal_tokens_a_hard_anchor_takes_the_last(self):
        anchor = SeparateAnchor(8, 2, 1.0, hard=True)
        hidden = torch.randn(1, 1, 8).expand(1, 6, 8)
        weights = anchor(torch.randn(1, 2, 6, 4), torch.randn(1, 2, 6, 4), Context.causal(hidden)).weights()
        assert torch.allclose(weights[0], torch.eye(6).expand(2, 6, 6), atol=1e-6)

    def test_rows_are_causal_weights(self):
        anchor = KeyAnchor(8, 2, 4.0)
        q = torch.randn(1, 2, 5, 4)
        weights = anchor(q, q, Context.causal(torch.randn(1, 5, 8))).weights()
        assert torch.allclose(weights.sum(-1), torch.ones(1, 2, 5))
        assert torch.equal(weights, weights.tril())

    def test_shared_scores_are_the_attention_s_own(self):
        q, k = torch.randn(1, 2, 5, 4), torch.randn(1, 2, 5, 4)
        divided, context = q / math.sqrt(4), Context.causal(torch.randn(1, 5, 8))
        weights = SharedAnchor(8, 2, 2.0)(divided, k, context).weights()
        assert torch.allclose(weights, (2 * q @ k.mT).masked_fill(~causal(5), -torch.inf).softmax(-1), atol=1e-6)

    def test_key_scores_are_separate_ones_with_a_constant_query(self):
        """W_Q x_j replaced by a vector that does not depend on x: every row ranks the keys alike."""
        hidden = torch.randn(1, 6, 8)
        key = KeyAnchor(8, 2, 4.0)
        weights = key(torch.empty(1, 2, 6, 4), torch.empty(1, 2, 6, 4), Context.causal(hidden)).weights()
        ratio = weights[..., 1] / weights[..., 0]
        assert torch.allclose(ratio[..., 1:], ratio[..., 1:2].expand_as(ratio[..., 1:]), rtol=1e-4)

    def test_scale_must_be_positive(self):
        with pytest.raises(ValueError, match=r"must be positive, got 0\.0"):
            KeyAnchor(8, 2, 0.0)

    def test_natural_anchor(self):
        assert [natural_anchor("b12+3=4", j) for j in range(7)] == [0, 0, 0, 3, 3, 5, 5]


def test_random_anchor_is_an_anchor():
    anchor = random_anchor(1, 1, 4, torch.float64)
    assert torch.allclose(anchor.sum(-1), torch.ones(1, 1, 4, dtype=torch.float64))


TEXTS = st.lists(st.text("b+=123", min_size=1, max_size=8), min_size=1, max_size=4)


def scores_of(texts, heads=2):
    """Those that depend on the token alone, -inf on padding."""
    generator = torch.Generator().manual_seed(0)
    of_token = torch.randn(128, heads, generator=generator)
    scores = torch.full((len(texts), heads, max(map(len, texts))), -torch.inf)
    for row, text in enumerate(texts):
        for index, token in enumerate(text):
            scores[row, :, index] = of_token[ord(token)]
    return scores


class TestRepeatedPenalty:
    @given(TEXTS)
    def test_repeated_are_tokens_that_occur_elsewhere_in_their_own_text(self, texts):
        found = repeated(scores_of(texts))[:, 0]
        for row, text in zip(found, texts, strict=True):
            assert row[: len(text)].tolist() == [text.count(token) > 1 for token in text]
            assert not row[len(text) :].any()

    @given(TEXTS)
    def test_it_is_the_mean_over_tokens_and_has_its_gradient(self, texts):
        scores = scores_of(texts).requires_grad_()
        terms = [
            F.softplus(scores[row, :, index]).sum()
            for row, text in enumerate(texts)
            for index, token in enumerate(text)
            if text.count(token) > 1
        ]
        found, expected = repeated_penalty(scores), sum(terms, 0 * scores[0, 0, 0]) / sum(map(len, texts))
        assert torch.allclose(found, expected)
        (a,), (b,) = (torch.autograd.grad(value, scores) for value in (found, expected))
        assert a.isfinite().all()
        assert torch.allclose(a, b.nan_to_num(), atol=1e-5)

    def test_digits_cease_to_be_anchors_and_delimiters_are_left_alone(self):
        """The penalty lowers the score of a repeated token and of no other."""
        torch.manual_seed(0)
        hidden = torch.eye(4)[[0, 1, 1, 2, 1]][None]  # b 7 7 = 7, one dimension for each token
        position, penalties = LatentWindow(4, 2, unique=0.1), []
        bias_of(position, torch.randn(1, 2, 5, 2), hidden, exploring=True, penalties=penalties)
        sum(penalties).backward()
        gradient = position.anchor.key.weight.grad
        assert ((gradient > 0).all(0) == torch.tensor([False, True, False, False])).all()
        assert (gradient >= 0).all()

    def test_there_is_none_in_tests_nor_with_weight_zero(self):
        hidden, q = torch.eye(4)[[0, 1, 1, 2, 1]][None], torch.randn(1, 2, 5, 2)
        for unique, exploring in ((0.0, True), (0.1, False)):
            penalties = []
            bias_of(LatentWindow(4, 2, unique=unique), q, hidden, exploring=exploring, penalties=penalties)
            assert penalties == []

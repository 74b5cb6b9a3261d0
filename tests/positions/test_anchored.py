"""Anchors, and the embeddings that measure from them: RPE-Square, RPE-Absolute."""

import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from contracts.formulas import rpe_absolute_by_loops, rpe_square_by_loops
from contracts.position import PositionContract, bias_of, causal
from ldhd.positions import (
    RPEAbsolute,
    RPESquare,
)
from ldhd.positions.anchor import Anchor, natural_anchor, recent_scores


class TestRPESquare(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, max_distance=3)

    def test_module_is_the_formula_with_its_own_anchors(self):
        for projections, anchors, w in itertools.product(("separate", "key", "recent"), (None, 1, 2), (2, 20)):
            options = {"projections": projections, "anchors": anchors, "max_distance": w, "anchor_scale": 1.5}
            position = RPESquare(16, 4, **options)
            q, hidden = torch.randn(1, 4, 14, 4), torch.randn(1, 14, 16)
            anchor = position.anchor(q, q, hidden, causal(14), None).weights()
            assert anchor.shape[1] == (1 if anchors == 1 else 4)
            groups = anchor.expand(1, 4, 14, 14)[0].unflatten(0, (anchors or 4, -1))
            assert torch.allclose(groups, groups[:, :1].expand_as(groups))
            assert not any(torch.allclose(one, other) for one, other in itertools.combinations(groups[:, 0], 2))
            bias = bias_of(position, q, hidden)
            expected = rpe_square_by_loops(q, anchor.expand(1, 4, 14, 14), position.table)
            assert torch.allclose(bias.tril(), expected, atol=1e-5), options

    def test_relation_is_the_difference_of_distances_to_anchors(self):
        position = RPESquare(8, 2, max_distance=2)
        # b 1 2 3 = 1 2 : the query at the first answer token, two after its anchor
        text = "b123=12"
        assert position.relation(text, 5, 2) == (5 - 4) - (2 - 0)
        assert position.relation(text, 6, 2) == 0
        assert position.relation(text, 4, 3) == -2


class TestRPESquareOneAnchor(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, anchors=1)


class TestRPESquareHard(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, max_distance=2, projections="separate", hard=True)


class TestRPESquareHardByKey(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, max_distance=20, hard=True, anchors=1)


class TestRPESquareRecent(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, projections="recent")


class TestRPESquareRecentHard(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, projections="recent", hard=True)


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


class TestRPESquareUnclipped(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, max_distance=20)


class TestRPESquareTop(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, top=2)

    @pytest.mark.parametrize("projections", ["key", "separate"])
    def test_the_error_is_within_its_bound(self, projections):
        torch.manual_seed(0)
        exact = RPESquare(16, 4, projections=projections, max_distance=5, anchor_scale=2.0, table_std=1.0)
        few = RPESquare(16, 4, projections=projections, max_distance=5, anchor_scale=2.0, top=3)
        few.load_state_dict(exact.state_dict())
        q, hidden = torch.randn(1, 4, 20, 4), torch.randn(1, 20, 16)
        k = torch.randn_like(q)
        scores = q @ exact.table.mT
        kept = exact.anchor(q, k, hidden, causal(20), None).weights().topk(3, -1).values.sum(-1)
        swing = scores.amax(-1) - scores.amin(-1)
        bound = ((1 - kept)[..., :, None] + (1 - kept)[..., None, :]) * swing[..., None]
        training = few.bias(q, k, hidden, causal(20), None)
        error = (training - exact.bias(q, k, hidden, causal(20), None)).tril().abs()
        assert (error <= bound.tril() + 1e-5).all()
        assert error.max() > 1e-3
        with torch.no_grad():
            looked_up = few.bias(q, k, hidden, causal(20), {})
        assert torch.allclose(looked_up.tril(), training.tril(), atol=1e-5)

    def test_as_many_as_there_are_is_exact(self):
        torch.manual_seed(0)
        exact, few = RPESquare(16, 4), RPESquare(16, 4, top=9)
        few.load_state_dict(exact.state_dict())
        q, hidden = torch.randn(1, 4, 9, 4), torch.randn(1, 9, 16)
        assert torch.allclose(bias_of(few, q, hidden).tril(), bias_of(exact, q, hidden).tril(), atol=1e-5)

    def test_what_is_refused(self):
        with pytest.raises(ValueError, match="top must be at least 1, got 0"):
            RPESquare(8, 2, top=0)
        with pytest.raises(ValueError, match="top is for soft ones"):
            RPESquare(8, 2, top=2, hard=True)


class TestRPESquareShared(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, max_distance=20, projections="shared", anchor_scale=1.0)


class TestRPEAbsolute(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPEAbsolute(dimension, heads, layer, max_distance=3)

    def test_module_is_the_formula_with_its_own_anchors(self):
        position = RPEAbsolute(8, 2, max_distance=4, projections="separate", anchor_scale=1.0)
        q, hidden = torch.randn(1, 2, 7, 4), torch.randn(1, 7, 8)
        anchor = position.anchor(q, q, hidden, causal(7), None).weights().expand(1, 2, 7, 7)
        bias = bias_of(position, q, hidden)
        assert torch.allclose(bias.tril(), rpe_absolute_by_loops(q, anchor, position.table), atol=1e-5)


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

"""RPE-Square."""

import itertools

import pytest
import torch

from contracts.formulas import rpe_square_by_loops
from contracts.position import PositionContract, bias_of, causal
from ldhd.positions import RPESquare


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

"""RPE-Square."""

import itertools

import torch

from contracts.formulas import rpe_square_by_loops
from contracts.position import PositionContract
from ldhd.positions import RPESquare
from ldhd.positions.context import Context


class TestRPESquare(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, max_distance=3)

    def test_module_is_the_formula_with_its_own_anchors(self):
        for projections, w in itertools.product(("separate", "shared", "key", "recent"), (2, 20)):
            options = {"projections": projections, "max_distance": w, "anchor_scale": 1.5}
            position = RPESquare(16, 4, **options)
            q, hidden = torch.randn(1, 4, 14, 4), torch.randn(1, 14, 16)
            context = Context.causal(hidden)
            anchor = position.anchor(q, q, context).weights()
            assert not any(torch.allclose(one, other) for one, other in itertools.combinations(anchor[0], 2))
            bias = position.bias(q, q, context)
            expected = rpe_square_by_loops(q, anchor, position.table)
            assert torch.allclose(bias.tril(), expected, atol=1e-5), options

    def test_relation_is_the_difference_of_distances_to_anchors(self):
        position = RPESquare(8, 2, max_distance=2)
        # b 1 2 3 = 1 2 : the query at the first answer token, two after its anchor
        text = "b123=12"
        assert position.relation(text, 5, 2) == (5 - 4) - (2 - 0)
        assert position.relation(text, 6, 2) == 0
        assert position.relation(text, 4, 3) == -2


class TestRPESquareHard(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, max_distance=2, projections="separate", hard=True)


class TestRPESquareHardByKey(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, max_distance=20, hard=True)


class TestRPESquareRecent(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, projections="recent")


class TestRPESquareRecentHard(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, projections="recent", hard=True)


class TestRPESquareUnclipped(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, max_distance=20)


class TestRPESquareShared(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPESquare(dimension, heads, layer, max_distance=20, projections="shared", anchor_scale=1.0)

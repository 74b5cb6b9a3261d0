"""Every embedding: what all share, and NoPE, absolute, RoPE, ALiBi, RPE and sums."""

import math

import pytest
import torch

from contracts.formulas import random_anchor, rpe_absolute_by_loops, rpe_square_by_loops
from contracts.position import TEXT, PositionContract, bias_of, causal
from ldhd.positions import (
    POSITIONS,
    RPE,
    Abacus,
    Absolute,
    NoPosition,
    RPEAbsolute,
    RPESquare,
    Sum,
)
from ldhd.positions.alibi import alibi_slopes
from ldhd.positions.anchor import natural_anchor
from ldhd.positions.rope import Rotary
from ldhd.tasks.tokens import encode


class TestNone(PositionContract):
    make = NoPosition

    def test_permuting_the_past_changes_nothing(self):
        """One layer without positions sees a set: only the order of the last token matters."""
        model = self.model()
        model.blocks = model.blocks[:1]
        a, b = (model(torch.tensor([encode(text)]))[:, -1] for text in ("b123=", "b312="))
        assert torch.allclose(a, b, atol=1e-5)


class TestAbsolute(PositionContract):
    make = Absolute

    def test_beyond_the_table(self):
        position = Absolute(16, 2, table_size=4)
        position.check_fits("b1=1", training=True)
        with pytest.raises(ValueError, match="a string of 5 tokens is longer than the table of 4"):
            position.check_fits("b1=1e", training=False)
        tokens = torch.zeros(1, 5, dtype=torch.long)
        with pytest.raises(ValueError, match="position 4 is beyond the table of 4"):
            position.embed(tokens, torch.arange(5)[None], tokens == 0, None)

    def test_table_belongs_to_the_first_layer_only(self):
        assert not list(Absolute(16, 2, layer=1).parameters())


class TestRotary(PositionContract):
    make = Rotary

    def test_scores_agree_with_transformers(self):
        from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

        q, k = torch.randn(2, 3, 9, 8), torch.randn(2, 3, 9, 8)
        positions = torch.arange(9).expand(2, 9) + torch.tensor([[0], [40]])
        frequencies = 1.0 / 10_000 ** (torch.arange(0, 8, 2) / 8)
        angles = positions[..., None] * torch.cat([frequencies, frequencies])
        theirs_q, theirs_k = apply_rotary_pos_emb(q, k, angles.cos(), angles.sin())
        ours_q, ours_k = Rotary(24, 3).rotate(q, k, positions)
        assert torch.allclose(ours_q @ ours_k.mT, theirs_q @ theirs_k.mT, atol=1e-5)

    def test_scores_depend_on_the_distance_only(self):
        q, k = torch.randn(1, 2, 5, 8), torch.randn(1, 2, 5, 8)
        near, far = (Rotary(16, 2).rotate(q, k, torch.arange(5)[None] + shift) for shift in (0, 100))
        assert torch.allclose(near[0] @ near[1].mT, far[0] @ far[1].mT, atol=1e-4)

    def test_neighbours_far_away_are_turned_apart_in_a_bfloat16_model(self):
        q = torch.randn(1, 2, 2, 8)
        positions = torch.tensor([[1000, 1001]])
        exact, _ = Rotary(16, 2).rotate(q, q, positions)
        rounded, _ = Rotary(16, 2).bfloat16().rotate(q.bfloat16(), q.bfloat16(), positions)
        assert torch.allclose(rounded.float(), exact, atol=0.05)

    def test_odd_head_dimension_is_refused(self):
        with pytest.raises(ValueError, match="must be even, got 3"):
            Rotary(6, 2)


class TestAlibi(PositionContract):
    make = POSITIONS["alibi"]

    @pytest.mark.parametrize("heads", [1, 2, 6, 8, 12])
    def test_scores_agree_with_transformers(self, heads):
        """BLOOM adds slope * i; a row of logits may differ by a constant, which the softmax drops."""
        from transformers.models.bloom.modeling_bloom import build_alibi_tensor

        n, d = 7, 4
        theirs = build_alibi_tensor(torch.ones(1, n), heads, torch.float32).view(1, heads, 1, n)
        q, k = torch.randn(1, heads, n, d), torch.randn(1, heads, n, d)
        ours = self.make(d * heads, heads).bias(q, k, torch.zeros(1, n, d * heads), causal(n), None)
        scores = q @ k.mT / math.sqrt(d)
        hidden = ~causal(n)
        a = (scores + ours / math.sqrt(d)).masked_fill(hidden, -torch.inf).softmax(-1)
        b = (scores + theirs).masked_fill(hidden, -torch.inf).softmax(-1)
        assert torch.allclose(a, b, atol=1e-6)

    def test_slopes_of_the_paper(self):
        assert alibi_slopes(8) == [2.0**-k for k in range(1, 9)]


class TestRPE(PositionContract):
    def make(self, dimension, heads, layer=0):
        return RPE(dimension, heads, layer, max_distance=6)

    def test_zero_table_is_no_position(self):
        model = self.model()
        tokens = torch.tensor([encode(TEXT)])
        for block in model.blocks:
            torch.nn.init.zeros_(block.attention.position.table)
        other = TestNone().model()
        other.load_state_dict({k: v for k, v in model.state_dict().items() if "table" not in k})
        assert torch.allclose(model(tokens), other(tokens), atol=1e-6)


class TestSumOfEmbeddings(PositionContract):
    def make(self, dimension, heads, layer=0):
        return Sum([Absolute(dimension, heads, layer), Abacus(dimension, heads, layer), RPE(dimension, heads, layer)])


class TestSum(PositionContract):
    def make(self, dimension, heads, layer=0):
        return Sum([RPESquare(dimension, heads, layer), RPEAbsolute(dimension, heads, layer)])

    def test_sum_is_the_sum(self):
        q, hidden = torch.randn(1, 2, 6, 4), torch.randn(1, 6, 8)
        terms = [RPESquare(8, 2), RPEAbsolute(8, 2), RPE(8, 2)]
        total = bias_of(Sum(terms), q, hidden)
        assert torch.allclose(total, sum(bias_of(term, q, hidden) for term in terms), atol=1e-6)

    def test_a_term_may_add_to_the_token_embeddings(self):
        tokens = torch.tensor([encode("b12=")])
        absolute, abacus = Absolute(8, 2), Abacus(8, 2).eval()
        valid = torch.ones_like(tokens, dtype=torch.bool)
        total = Sum([absolute, RPE(8, 2), abacus]).eval().embed(tokens, torch.arange(4)[None], valid, None)
        assert torch.equal(total, absolute.table[:4] + abacus.table[[0, 1, 2, 0]][None])

    def test_no_term_rotates(self):
        with pytest.raises(ValueError, match="Rotary does not only add"):
            Sum([RPE(8, 2), Rotary(8, 2)])


@pytest.mark.parametrize("kind", [RPE, RPESquare, RPEAbsolute])
def test_negative_distance_is_refused(kind):
    with pytest.raises(ValueError, match="max_distance must be at least 0, got -1"):
        kind(8, 2, max_distance=-1)


@pytest.mark.parametrize("kind", POSITIONS.values())
def test_heads_must_divide_the_dimension(kind):
    with pytest.raises(ValueError, match="dimension 10 is not a multiple of heads 3"):
        kind(10, 3)


def test_relations_are_the_classes_of_the_formulas():
    text = "b123=12"
    assert [RPE(8, 2, max_distance=3).relation(text, 6, i) for i in range(7)] == [3, 3, 3, 3, 2, 1, 0]
    assert [Rotary(8, 2).relation(text, 6, i) for i in range(7)] == [6, 5, 4, 3, 2, 1, 0]
    assert [RPEAbsolute(8, 2, max_distance=2).relation(text, 6, i) for i in range(7)] == [0, 1, 2, 2, 0, 1, 2]
    assert {NoPosition(8, 2).relation(text, 6, i) for i in range(7)} == {None}
    assert Absolute(8, 2).relation(text, 6, 2) == (6, 2)
    both = Sum([RPE(8, 2), RPEAbsolute(8, 2)])
    assert both.relation(text, 6, 3) == (3, 2)


def test_pairs_of_one_relation_get_one_logit_from_hard_anchors():
    """Where anchors are the natural ones, RPE-Square and RPE-Absolute cannot tell pairs of one class apart."""
    text = "b12+345=67"
    n = len(text)
    anchor = torch.zeros(1, 2, n, n)
    for j in range(n):
        anchor[:, :, j, natural_anchor(text, j)] = 1
    q = torch.randn(1, 2, 1, 4).expand(1, 2, n, 4)
    for position, formula in ((RPESquare(8, 2), rpe_square_by_loops), (RPEAbsolute(8, 2), rpe_absolute_by_loops)):
        bias = formula(q, anchor, position.table.detach())
        found = {}
        for j in range(n):
            for i in range(j + 1):
                value = found.setdefault(position.relation(text, j, i), bias[0, 0, j, i])
                assert torch.allclose(value, bias[0, 0, j, i], atol=1e-6)
        assert len(found) > 2


def test_random_anchor_is_an_anchor():
    anchor = random_anchor(1, 1, 4, torch.float64)
    assert torch.allclose(anchor.sum(-1), torch.ones(1, 1, 4, dtype=torch.float64))


def test_positions_import_torch_alone():
    """They can be lifted into any model: no other part of ldhd is imported by them."""
    import subprocess
    import sys

    code = (
        "import sys, ldhd.positions; "
        "print([m for m in sys.modules if m.startswith('ldhd.') and not m.startswith('ldhd.positions')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert run.stdout.strip() == "[]"

"""Every embedding fulfils the contract, and each what its own paper says."""

import itertools
import math
from unittest import mock

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from contracts.formulas import random_anchor, rpe_absolute_by_loops, rpe_square_by_loops
from contracts.position import TEXT, PositionContract
from ldhd.model import GPT, ModelConfig
from ldhd.positions import (
    POSITIONS,
    RPE,
    Abacus,
    Absolute,
    Alibi,
    Coupled,
    Fire,
    LatentWindow,
    NoPosition,
    RandomizedAbsolute,
    RandomizedAlibi,
    RandomizedFire,
    RandomizedRotary,
    RandomizedRPE,
    RPEAbsolute,
    RPESquare,
    Sum,
)
from ldhd.positions.alibi import alibi_slopes
from ldhd.positions.anchor import Anchor, natural_anchor, recent_scores
from ldhd.positions.latent_window import BEYOND, OUTSIDE
from ldhd.positions.rope import Rotary
from ldhd.tasks.tokens import VOCABULARY_SIZE, encode


def causal(n):
    return torch.ones(1, 1, n, n, dtype=torch.bool).tril()


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


def bias_of(position, q, hidden):
    n = hidden.shape[1]
    return position.bias(q, torch.randn_like(q), hidden, causal(n), None)


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
            assert len({tuple(head.flatten().tolist()) for head in anchor[0]}) == (anchors or 4)
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


class TestLatentWindow(PositionContract):
    def make(self, dimension, heads, layer=0):
        return LatentWindow(dimension, heads, layer, window=4)

    def test_soft_is_the_formula(self):
        """Of RPE-Square, with what lies beyond the window in the place of the end rows, and anchors lowered as much."""
        share = 0.5
        for absolute, window in itertools.product((False, True), (1, 3)):
            position = LatentWindow(16, 4, window=window, absolute=absolute, anchor_scale=1.5, table_std=1.0).train()
            q, hidden = torch.randn(1, 4, 14, 4), torch.randn(1, 14, 16)
            anchor = position.anchor(q, q, hidden, causal(14), None).weights()
            with mock.patch("torch.rand", lambda *shape, **rest: torch.full(shape, share)):
                bias = bias_of(position, q, hidden)
            beyond = (1 - (1 + BEYOND) ** share) * 2
            ends = beyond * q / q.square().sum(-1, keepdim=True)
            expected = torch.zeros(1, 4, 14, 14)
            for j in range(14):
                table = torch.cat([ends[0, :, j, None], position.table, ends[0, :, j, None]], dim=1)
                one = rpe_square_by_loops(q, anchor, table)
                if absolute:
                    own = rpe_absolute_by_loops(q, anchor, table[:, : window + 2].flip(1))
                    one = torch.cat([one[:, :2], own[:, 2:]], dim=1)
                expected[:, :, j] = one[:, :, j] + beyond * anchor.diagonal(dim1=-2, dim2=-1)
            assert torch.allclose(bias.tril(), expected.tril(), atol=1e-4), (absolute, window)

    def test_what_is_far_in_latent_places_is_out_of_sight_at_any_length(self):
        """With delimiters as anchors, digits farther than the window from a query's place change nothing there."""
        torch.manual_seed(0)
        model = GPT(
            ModelConfig(layers=1, heads=2, dimension=16, position_only=True), VOCABULARY_SIZE, LatentWindow
        ).eval()
        first = model.blocks[0]
        hidden = first.attention_norm(model.tokens.weight).detach()
        wanted = torch.tensor([-1.0] * 10 + [1.0] * (VOCABULARY_SIZE - 10))
        first.attention.position.anchor.key.weight.data[0] = torch.linalg.lstsq(hidden, wanted).solution
        for scale in (5, 50):
            near, far = "1" * scale, "1" * 2 + "7" * (scale - 2)
            text = torch.tensor([encode(f"b{number}=11") for number in (near, far)])
            one, other = model(text)[:, scale + 2]  # after the first answer digit, which sees places 1 +- 1
            assert torch.allclose(one, other, atol=1e-6)
            one, other = model(text)[:, scale + 3]
            assert not torch.allclose(one, other, atol=1e-4)

    def test_relation_is_none_of_the_rest_beyond_the_window(self):
        position = LatentWindow(8, 2)
        assert [position.relation("b123=12", 6, i) for i in range(7)] == [OUTSIDE, 1, 0, -1, OUTSIDE, 1, 0]
        assert position.relation("b1=", 2, 0) == OUTSIDE
        both = LatentWindow(8, 2, absolute=True)
        assert both.relation("b123=12", 6, 1) == (1, -1)


class TestLatentWindowAbsolute(PositionContract):
    def make(self, dimension, heads, layer=0):
        return LatentWindow(dimension, heads, layer, window=2, absolute=True)


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


class TestAbacus(PositionContract):
    make = Abacus

    @pytest.mark.parametrize(
        ("text", "ids"),
        [
            ("b123+45=861e", [0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 3, 0]),
            ("123", [1, 2, 3]),
            ("b=e", [0, 0, 0]),
        ],
    )
    def test_digit_ids_of_its_paper(self, text, ids):
        tokens = torch.tensor([encode(text)])
        assert Abacus(8, 2).ids(tokens, torch.ones_like(tokens, dtype=torch.bool)).tolist() == [ids]
        position = Abacus(8, 2)
        assert [position.relation(text, 0, i)[1] for i in range(len(text))] == ids

    def test_one_random_offset_a_sequence_in_training_only(self):
        position = Abacus(4, 2, max_offset=50)
        with torch.no_grad():
            position.table[:] = torch.arange(position.table_size + 1)[:, None]
        tokens = torch.tensor([encode("b12+345=")] * 200)
        valid = torch.ones_like(tokens, dtype=torch.bool)
        plain = position.ids(tokens, valid)
        position.train()
        shifted = position.embed(tokens, plain, valid, None)[..., 0]
        offsets = (shifted - plain)[plain > 0].view(200, 5)
        assert (offsets == offsets[:, :1]).all()
        assert 0 <= offsets.min() < 10
        assert 40 < offsets.max() <= 50
        assert (shifted[plain == 0] == 0).all()
        assert torch.equal(position.eval().embed(tokens, plain, valid, None)[..., 0], plain.float())

    def test_number_beyond_the_table(self):
        position = Abacus(4, 2, max_offset=2, table_size=3).eval()
        position.check_fits("b123=", training=False)
        with pytest.raises(ValueError, match="digit ids up to 5 are needed, the table holds 3"):
            position.check_fits("b123=", training=True)
        tokens = torch.tensor([encode("1234")])
        with pytest.raises(ValueError, match="digit 4 of a number is beyond the table of 3"):
            position.embed(tokens, tokens, torch.ones_like(tokens, dtype=torch.bool), None)


class TestCoupled(PositionContract):
    make = Coupled

    def test_digits_of_one_significance_share_an_id(self):
        position = Coupled(8, 2)
        text = "b123+45=861e"
        ids = [position.relation(text, 11, i)[1] for i in range(12)]
        assert ids == [0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 3, 0]
        assert position.training_relations(text, 9, 4)[7] == (9, 7)

    def test_one_random_start_a_sequence_for_delimiters_too(self):
        position = Coupled(4, 2, max_offset=50)
        with torch.no_grad():
            position.table[:] = torch.arange(position.table_size + 1)[:, None]
        tokens = torch.tensor([encode("b12+345=")] * 200)
        valid = torch.ones_like(tokens, dtype=torch.bool)
        plain = position.ids(tokens, valid)
        starts = position.train().embed(tokens, plain, valid, None)[..., 0] - plain
        assert (starts == starts[:, :1]).all()
        assert 0 <= starts.min() < 10
        assert 40 < starts.max() <= 50
        assert torch.equal(position.eval().embed(tokens, plain, valid, None)[..., 0], plain.float())

    def test_without_a_start_it_is_abacus(self):
        coupled, abacus = Coupled(8, 2, max_offset=0).train(), Abacus(8, 2, max_offset=0).train()
        abacus.load_state_dict(coupled.state_dict())
        tokens = torch.tensor([encode(TEXT)])
        valid = torch.ones_like(tokens, dtype=torch.bool)
        assert torch.equal(coupled.embed(tokens, tokens, valid, None), abacus.embed(tokens, tokens, valid, None))

    def test_number_beyond_the_table(self):
        with pytest.raises(ValueError, match="coupled: digit ids up to 5 are needed, the table holds 3"):
            Coupled(4, 2, max_offset=2, table_size=3).check_fits("b123=", training=True)


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
    def make(self, dimension, heads, layer=0):
        return Fire(dimension, heads, layer, threshold=6.0)

    @pytest.mark.parametrize(("c", "multiplier"), [(0.1, 1.0), (2.5, 0.4), (-0.3, -3.0)])
    def test_formula(self, c, multiplier):
        position = Fire(24, 4, threshold=5.0)
        torch.nn.init.constant_(position.c, c)
        torch.nn.init.constant_(position.multiplier, multiplier)
        bias = bias_of(position, torch.randn(1, 4, 12, 6), torch.randn(1, 12, 24)).tril()
        # not divided by the square root of the head dimension
        assert torch.allclose(bias / math.sqrt(6), fire_by_loops(position, 12), atol=1e-5)

    def test_up_to_the_threshold_the_distance_alone_counts(self):
        bias = bias_of(Fire(8, 2, threshold=20.0), torch.randn(1, 2, 15, 4), torch.randn(1, 15, 8))[0]
        for e in range(15):
            along = bias.diagonal(-e, 1, 2)
            assert torch.allclose(along, along[:, :1].expand_as(along), atol=1e-6)

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


class RandomizedContract(PositionContract):
    """In a test the ids are fixed, so that all embeddings of ours are held to the same contract."""

    def test_ids_of_training_are_random_and_rise(self):
        position = self.make(16, 2).train()
        ids = position.ids(torch.arange(30).expand(400, 30))
        assert (ids.diff() > 0).all()
        assert 0 <= ids.min() < 40
        assert position.max_length - 40 < ids.max() < position.max_length
        assert len({tuple(row) for row in ids.tolist()}) == 400
        middle = ids[:, 15].float().mean() / position.max_length
        assert abs(middle - 16 / 31) < 0.03

    def test_all_ids_are_drawn_where_all_are_needed(self):
        position = type(self.make(16, 2))(16, 2, max_length=9, test_length=9).train()
        assert torch.equal(position.ids(torch.arange(9).expand(5, 9)), torch.arange(9).expand(5, 9))

    def test_ids_of_a_test_are_evenly_spaced(self):
        position = type(self.make(16, 2))(16, 2, max_length=23, test_length=9).eval()
        assert position.ids(torch.arange(9)[None]).tolist() == [[0, 2, 5, 7, 10, 12, 15, 17, 20]]

    def test_a_test_as_long_as_the_range_has_the_usual_positions(self):
        kind = type(self.make(16, 2))
        assert kind(16, 2, max_length=30, test_length=30).relation(TEXT, 9, 4) == self.make(16, 2).wrapped.relation(
            TEXT, 9, 4
        )

    def test_training_is_random(self):
        model = self.model().train()
        tokens = torch.tensor([encode(TEXT)])
        assert not torch.allclose(model(tokens), model(tokens), atol=1e-4)
        assert torch.equal(model.eval()(tokens), model(tokens))

    def test_relations_are_those_of_the_wrapped_at_the_ids(self):
        position = self.make(16, 2).eval()
        ids = position.ids(torch.arange(len(TEXT))[None])[0].tolist()
        assert position.relation(TEXT, 9, 4) == position.wrapped.relation(TEXT, ids[9], ids[4])

    def test_strings_that_do_not_fit(self):
        position = type(self.make(16, 2))(16, 2, max_length=20, test_length=5)
        position.check_fits(TEXT, training=True)
        with pytest.raises(ValueError, match="a string of 18 tokens is longer than the test_length of 5"):
            position.check_fits(TEXT, training=False)
        with pytest.raises(ValueError, match="longer than the max_length of 20"):
            position.check_fits(TEXT + TEXT, training=True)
        with pytest.raises(ValueError, match="position 5 is beyond the test_length of 5"):
            position.eval().ids(torch.arange(6)[None])
        with pytest.raises(ValueError, match="21 tokens are more than the 20 ids"):
            position.train().ids(torch.arange(21)[None])

    def test_lengths_that_cannot_be(self):
        for wrong in (0, 21):
            with pytest.raises(ValueError, match=f"test_length must be from 1 to max_length = 20, got {wrong}"):
                type(self.make(16, 2))(16, 2, max_length=20, test_length=wrong)


class TestRandomizedAbsolute(RandomizedContract):
    make = RandomizedAbsolute

    def test_table_is_read_at_the_ids(self):
        position = RandomizedAbsolute(4, 2, max_length=60, test_length=10).train()
        with torch.no_grad():
            position.wrapped.table[:] = torch.arange(60)[:, None]
        tokens = torch.zeros(50, 8, dtype=torch.long)
        read = position.embed(tokens, torch.arange(8).expand(50, 8), tokens == 0, None)[..., 0]
        assert (read.diff() > 0).all()
        assert len({tuple(row) for row in read.tolist()}) > 40


class TestRandomizedRotary(RandomizedContract):
    make = RandomizedRotary

    def test_it_turns_by_the_ids(self):
        position = RandomizedRotary(16, 2).eval()
        q, k, places = torch.randn(1, 2, 9, 8), torch.randn(1, 2, 9, 8), torch.arange(9)[None]
        for ours, plain in zip(
            position.rotate(q, k, places), Rotary(16, 2).rotate(q, k, position.ids(places)), strict=True
        ):
            assert torch.equal(ours, plain)


class RandomizedBiasContract(RandomizedContract):
    """Its term is a few rows and columns of that of a long string, where no table ends."""

    def test_it_is_the_term_of_a_long_string_at_the_ids(self):
        position = type(self.make(16, 2))(16, 2, max_length=60, test_length=12).eval()
        ids = position.ids(torch.arange(12)[None])[0]
        q = torch.randn(1, 2, 60, 8)
        long = position.wrapped.bias(q, q, torch.empty(1, 60, 16), causal(60), None).expand(1, 2, 60, 60)
        few = q[:, :, ids]
        short = position.bias(few, few, torch.empty(1, 12, 16), causal(12), None)
        assert torch.allclose(short.tril(), long[:, :, ids][..., ids].tril(), atol=1e-5)

    def test_in_training_every_row_has_a_draw_of_its_own(self):
        position = self.make(16, 2).train()
        torch.nn.init.normal_(getattr(position.wrapped, "table", torch.empty(0)))
        q = torch.randn(1, 2, 9, 8).expand(3, 2, 9, 8)
        bias = position.bias(q, q, torch.empty(3, 9, 16), causal(9), None)
        assert not torch.allclose(bias[0].tril(), bias[1].tril(), atol=1e-3)


class TestRandomizedRPE(RandomizedBiasContract):
    make = RandomizedRPE


class TestRandomizedAlibi(RandomizedBiasContract):
    make = RandomizedAlibi


class TestRandomizedFire(RandomizedBiasContract):
    make = RandomizedFire


@pytest.mark.parametrize("position", [RPE(16, 2), RPE(16, 2, max_distance=6), Alibi(16, 2), Fire(16, 2)])
def test_a_term_at_the_usual_positions_is_the_usual_term(position):
    q, places = torch.randn(3, 2, 9, 8), torch.arange(9)[None]
    usual = position.bias(q, q, torch.empty(3, 9, 16), causal(9), None)
    assert torch.allclose(position.bias_at(q, places, places).tril(), usual.tril(), atol=1e-6)
    assert torch.allclose(position.bias_at(q[:, :, 7:], places[:, 7:], places)[..., :8], usual[..., 7:, :8], atol=1e-6)


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

"""Embeddings of others by ids: Abacus, coupled, FIRE, randomized."""

import itertools
import math

import pytest
import torch

from contracts.position import TEXT, PositionContract, bias_of, causal
from ldhd.positions import (
    RPE,
    Abacus,
    Alibi,
    Coupled,
    Fire,
    RandomizedAbsolute,
    RandomizedAlibi,
    RandomizedFire,
    RandomizedRotary,
    RandomizedRPE,
)
from ldhd.positions.rope import Rotary
from ldhd.tasks.tokens import encode


def numbered(position):
    """A string 200 times, which of its tokens are valid, and its ids; the table then says the id that is used."""
    with torch.no_grad():
        position.table[:] = torch.arange(position.table_size + 1)[:, None]
    tokens = torch.tensor([encode("b12+345=")] * 200)
    valid = torch.ones_like(tokens, dtype=torch.bool)
    return tokens, valid, position.ids(tokens, valid)


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
        tokens, valid, plain = numbered(position)
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
        tokens, valid, plain = numbered(position)
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

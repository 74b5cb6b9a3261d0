"""Randomized positions, of every embedding that has them."""

from dataclasses import replace

import pytest
import torch

from contracts.position import TEXT, PositionContract, bias_of, context_of
from ldhd.evaluate import greedy
from ldhd.model import GPT, ModelConfig
from ldhd.positions import RandomizedAbsolute, RandomizedAlibi, RandomizedFire, RandomizedRotary, RandomizedRPE, Rotary
from ldhd.tasks.tokens import VOCABULARY_SIZE, encode


def ids_of(position, rows, n, **context):
    """The ids of the first n positions."""
    context = context_of(torch.zeros(rows, n), **context)
    return position.ids(context.positions, context)


class RandomizedContract(PositionContract):
    """In a test the ids are fixed, so that all embeddings of ours are held to the same contract."""

    def test_ids_of_training_are_random_and_rise(self):
        position = self.make(16, 2)
        ids = ids_of(position, 400, 30, exploring=True)
        assert (ids.diff() > 0).all()
        assert 0 <= ids.min() < 40
        assert position.max_length - 40 < ids.max() < position.max_length
        assert len({tuple(row) for row in ids.tolist()}) == 400
        middle = ids[:, 15].float().mean() / position.max_length
        assert abs(middle - 16 / 31) < 0.03

    def test_all_ids_are_drawn_where_all_are_needed(self):
        position = type(self.make(16, 2))(16, 2, max_length=9, test_length=9)
        assert torch.equal(ids_of(position, 5, 9, exploring=True), torch.arange(9).expand(5, 9))

    def test_ids_of_a_test_are_evenly_spaced(self):
        position = type(self.make(16, 2))(16, 2, max_length=23, test_length=9)
        assert ids_of(position, 1, 9).tolist() == [[0, 2, 5, 7, 10, 12, 15, 17, 20]]

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
        position = self.make(16, 2)
        ids = ids_of(position, 1, len(TEXT))[0].tolist()
        assert position.relation(TEXT, 9, 4) == position.wrapped.relation(TEXT, ids[9], ids[4])

    def test_ids_of_a_test_can_be_drawn(self):
        """They rise, there are as many as valid tokens, wherever the padding is, and a second test has the same."""
        position = type(self.make(16, 2))(16, 2, max_length=20, test_length=5, test_ids="drawn")
        assert position.redraws
        valid = torch.tensor([[True] * 9, [False] * 4 + [True] * 5, [True] * 2 + [False] * 7])
        context = replace(context_of(torch.zeros(3, 9)), valid=valid)
        context = replace(context, positions=(valid.cumsum(1) - 1).clamp(min=0))
        ids = position.ids(context.positions, context)
        for row, mask in zip(ids, valid, strict=True):
            assert (row[mask].diff() > 0).all()
            assert 0 <= row[mask].min() <= row[mask].max() < 20
        assert torch.equal(ids, position.ids(context.positions, context))
        assert set(ids_of(position, 1, 8)[0].tolist()) != set(ids[0, :8].tolist())
        position.check_fits(TEXT, training=False)
        with pytest.raises(ValueError, match="longer than the max_length of 20"):
            position.check_fits(TEXT + TEXT, training=False)

    def test_with_drawn_ids_decoding_reads_the_string_again(self):
        torch.manual_seed(0)
        kind = type(self.make(16, 2))
        config = ModelConfig(layers=1, heads=2, dimension=16, weight_std=0.4)
        model = GPT(
            config,
            VOCABULARY_SIZE,
            lambda d, h, layer: kind(d, h, layer, max_length=60, test_ids="drawn", test_length=30),
        )
        prompts = [encode("b12+3="), encode("b7+345=")]
        assert greedy(model, prompts, 6) == greedy(model, prompts, 6, cache=False, padding="left")

    def test_strings_that_do_not_fit(self):
        position = type(self.make(16, 2))(16, 2, max_length=20, test_length=5)
        position.check_fits(TEXT, training=True)
        with pytest.raises(ValueError, match="a string of 18 tokens is longer than the test_length of 5"):
            position.check_fits(TEXT, training=False)
        with pytest.raises(ValueError, match="longer than the max_length of 20"):
            position.check_fits(TEXT + TEXT, training=True)
        with pytest.raises(ValueError, match="position 5 is beyond the test_length of 5"):
            ids_of(position, 1, 6)
        with pytest.raises(ValueError, match="21 tokens are more than the 20 ids"):
            ids_of(position, 1, 21, exploring=True)

    def test_lengths_that_cannot_be(self):
        for wrong in (0, 21):
            with pytest.raises(ValueError, match=f"test_length must be from 1 to max_length = 20, got {wrong}"):
                type(self.make(16, 2))(16, 2, max_length=20, test_length=wrong)


class TestRandomizedAbsolute(RandomizedContract):
    make = RandomizedAbsolute

    def test_table_is_read_at_the_ids(self):
        position = RandomizedAbsolute(4, 2, max_length=60, test_length=10)
        with torch.no_grad():
            position.wrapped.table[:] = torch.arange(60)[:, None]
        tokens = torch.zeros(50, 8, dtype=torch.long)
        read = position.embed(tokens, context_of(tokens, exploring=True))[..., 0]
        assert (read.diff() > 0).all()
        assert len({tuple(row) for row in read.tolist()}) > 40


class TestRandomizedRotary(RandomizedContract):
    make = RandomizedRotary

    def test_it_turns_by_the_ids(self):
        position, q, k = RandomizedRotary(16, 2), torch.randn(1, 2, 9, 8), torch.randn(1, 2, 9, 8)
        context = context_of(torch.zeros(1, 9))
        at_ids = replace(context, positions=ids_of(position, 1, 9))
        for ours, plain in zip(position.rotate(q, k, context), Rotary(16, 2).rotate(q, k, at_ids), strict=True):
            assert torch.equal(ours, plain)


class RandomizedBiasContract(RandomizedContract):
    """Its term is a few rows and columns of that of a long string, where no table ends."""

    def test_it_is_the_term_of_a_long_string_at_the_ids(self):
        position = type(self.make(16, 2))(16, 2, max_length=60, test_length=12)
        ids = ids_of(position, 1, 12)[0]
        q = torch.randn(1, 2, 60, 8)
        long = bias_of(position.wrapped, q, torch.empty(1, 60, 16)).expand(1, 2, 60, 60)
        few = q[:, :, ids]
        short = bias_of(position, few, torch.empty(1, 12, 16))
        assert torch.allclose(short.tril(), long[:, :, ids][..., ids].tril(), atol=1e-5)

    def test_in_training_every_row_has_a_draw_of_its_own(self):
        position = self.make(16, 2)
        torch.nn.init.normal_(getattr(position.wrapped, "table", torch.empty(0)))
        q = torch.randn(1, 2, 9, 8).expand(3, 2, 9, 8)
        bias = bias_of(position, q, torch.empty(3, 9, 16), exploring=True)
        assert not torch.allclose(bias[0].tril(), bias[1].tril(), atol=1e-3)


class TestRandomizedRPE(RandomizedBiasContract):
    make = RandomizedRPE


class TestRandomizedAlibi(RandomizedBiasContract):
    make = RandomizedAlibi


class TestRandomizedFire(RandomizedBiasContract):
    make = RandomizedFire
    initial = ("wrapped.c", "wrapped.multiplier")

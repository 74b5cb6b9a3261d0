"""Randomized positions, of every embedding that has them."""

import pytest
import torch

from contracts.position import TEXT, PositionContract, causal
from ldhd.positions import RandomizedAbsolute, RandomizedAlibi, RandomizedFire, RandomizedRotary, RandomizedRPE, Rotary
from ldhd.tasks.tokens import encode


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
    initial = ("wrapped.c", "wrapped.multiplier")

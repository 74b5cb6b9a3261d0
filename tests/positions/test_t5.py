"""The bucketed relative bias of T5."""

import itertools

import pytest
import torch

from contracts.position import PositionContract, bias_of
from ldhd.positions import T5


class TestT5(PositionContract):
    def make(self, dimension, heads, layer=0):
        return T5(dimension, heads, layer, buckets=6, max_distance=9)

    @pytest.mark.parametrize(("buckets", "max_distance"), [(32, 128), (2, 4), (5, 9), (8, 64), (16, 20), (64, 300)])
    def test_buckets_and_bias_agree_with_transformers(self, buckets, max_distance):
        from transformers import T5Config
        from transformers.models.t5.modeling_t5 import T5Attention

        n = max_distance + 30
        position = T5(8, 2, buckets=buckets, max_distance=max_distance)
        theirs = T5Attention._relative_position_bucket(
            -torch.arange(n), bidirectional=False, num_buckets=buckets, max_distance=max_distance
        )
        assert [position.relation("", distance, 0) for distance in range(n)] == theirs.tolist()
        config = T5Config(
            d_model=8,
            d_kv=4,
            num_heads=2,
            relative_attention_num_buckets=buckets,
            relative_attention_max_distance=max_distance,
            is_decoder=True,
        )
        attention = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
        attention.relative_attention_bias.weight.data = position.table.detach().T.clone()
        expected = attention.compute_bias(n, n)
        found = bias_of(position, torch.randn(1, 2, n, 4), torch.randn(1, n, 8))
        assert torch.allclose(found.tril(), expected.tril(), atol=1e-6)

    def test_formula(self):
        position = T5(8, 2, buckets=6, max_distance=12)
        bias = bias_of(position, torch.randn(1, 2, 20, 4), torch.randn(1, 20, 8))[0]
        # 3, 4 | 5, 6, 7 | 8 and more: from 3 on, each bucket is wider than the one before by a factor of 4^(1/3)
        known = [0, 1, 2, 3, 3, 4, 4, 4, *[5] * 12]
        for head in range(2):
            for j in range(20):
                for i in range(j + 1):
                    assert torch.isclose(bias[head, j, i], position.table[head, known[j - i]])

    def test_settings_are_equivalent_where_buckets_have_the_same_ends(self):
        """Equal representatives mean the same classes of distances, and different ones mean different classes."""
        settings = [{"buckets": b, "max_distance": d} for b in (2, 4, 6, 8) for d in (5, 7, 12, 40)]
        embeddings = [T5(8, 2, **own) for own in settings]
        for length in (1, 2, 4, 9, 30):
            buckets = [[embedding.relation("", e, 0) for e in range(length)] for embedding in embeddings]
            classes = [[[x == y for y in row] for x in row] for row in buckets]
            ends = [T5.equivalent_settings(own, length) for own in settings]
            for one, other in itertools.combinations(range(len(settings)), 2):
                assert (classes[one] == classes[other]) == (ends[one] == ends[other])

    def test_a_limit_that_no_string_reaches_still_moves_the_buckets(self):
        near, far = ({"buckets": 8, "max_distance": limit} for limit in (40, 4000))
        assert T5.equivalent_settings(near, 30) != T5.equivalent_settings(far, 30)

    def test_wrong_options_are_refused(self):
        with pytest.raises(ValueError, match="buckets must be at least 2, got 1"):
            T5(8, 2, buckets=1)
        with pytest.raises(ValueError, match="above half of the 8 buckets, got 4"):
            T5(8, 2, buckets=8, max_distance=4)

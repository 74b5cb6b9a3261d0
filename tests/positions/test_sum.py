"""Sums of embeddings."""

import pytest
import torch

from contracts.position import PositionContract, bias_of, context_of
from ldhd.positions import RPE, Abacus, Absolute, Rotary, RPEAbsolute, RPESquare, Sum
from ldhd.tasks.tokens import encode


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
        absolute, abacus = Absolute(8, 2), Abacus(8, 2)
        total = Sum([absolute, RPE(8, 2), abacus]).embed(tokens, context_of(tokens))
        assert torch.equal(total, absolute.table[:4] + abacus.table[[0, 1, 2, 0]][None])

    def test_no_term_rotates(self):
        with pytest.raises(ValueError, match="Rotary does not only add"):
            Sum([RPE(8, 2), Rotary(8, 2)])

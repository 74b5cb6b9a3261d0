"""Embeddings that tell a few values of one distance within numbers apart."""

import pytest
import torch

from contracts.position import PositionContract
from ldhd.positions.context import Context
from ldhd.positions.measured import BEYOND, TOKENS, Measure, Measured, Rule
from ldhd.tasks.tokens import CHARACTERS, encode

TEXT = "b40+17=75e"


class Mirror(Measured):
    rule = Rule(key=Measure("=", right=True), query=Measure("="))
    kept = (-1, 0)


class Place(Measured):
    rule = Rule(key=Measure("b+"))
    kept = (1, 2)
    hides = True


class Near(Measured):
    rule = Rule(distance=True)
    kept = (0, 1)


class TestMirror(PositionContract):
    def make(self, dimension, heads, layer=0):
        return Mirror(dimension, heads, layer)


class TestPlace(PositionContract):
    hidden_below = -BEYOND

    def make(self, dimension, heads, layer=0):
        return Place(dimension, heads, layer)


class TestNear(PositionContract):
    def make(self, dimension, heads, layer=0):
        return Near(dimension, heads, layer)


def test_ids_are_those_of_the_tasks():
    assert TOKENS == CHARACTERS


def test_measures():
    assert Measure("b").values("b12+3=4") == [0, 1, 2, None, None, None, None]
    assert Measure("b+").values("b12+3=4") == [0, 1, 2, 0, 1, None, None]
    assert Measure("=", right=True).values("b12+3=4") == [None, None, None, None, 1, 0, None]


@pytest.mark.parametrize("rule", [Mirror.rule, Place.rule, Near.rule, Rule(), Rule(Measure("=", right=True))])
def test_values_are_those_of_each_string_up_to_the_query(rule):
    value, known = rule.values(torch.tensor([encode(TEXT)]), len(TEXT))
    for j in range(len(TEXT)):
        expected = rule.relations(TEXT[: j + 1])
        rows = (tensor[0, min(j, tensor.shape[1] - 1), : j + 1].tolist() for tensor in (value, known))
        assert [own if there else None for own, there in zip(*rows, strict=True)] == expected


def test_what_is_not_kept_is_hidden():
    q, tokens = torch.randn(1, 2, len(TEXT), 4), torch.tensor([encode(TEXT)])
    context = Context.causal(torch.zeros(1, len(TEXT), 8), tokens=tokens)
    bias = Place(8, 2).bias(q, q, context)[0, 0, -1]
    assert [token for token, own in zip(TEXT, bias.tolist(), strict=True) if own > -BEYOND] == ["4", "0", "1", "7"]


def test_a_model_that_does_not_tell_the_tokens_is_refused():
    q = torch.randn(1, 2, 3, 4)
    with pytest.raises(ValueError, match="Mirror measures distances between tokens"):
        Mirror(8, 2).bias(q, q, Context.causal(torch.zeros(1, 3, 8)))

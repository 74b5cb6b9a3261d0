"""What is true of several or all embeddings."""

import re

import pytest
import torch

from contracts.formulas import rpe_absolute_by_loops, rpe_square_by_loops
from ldhd.experiments.parts import options_model
from ldhd.positions import POSITIONS, RPE, Absolute, NoPosition, Rotary, RPEAbsolute, RPESquare, Sum
from ldhd.positions.anchor import natural_anchor


@pytest.mark.parametrize("kind", [RPE, RPESquare, RPEAbsolute])
def test_negative_distance_is_refused(kind):
    with pytest.raises(ValueError, match="max_distance must be at least 0, got -1"):
        kind(8, 2, max_distance=-1)


@pytest.mark.parametrize("kind", POSITIONS.values())
def test_an_embedding_describes_itself(kind):
    assert POSITIONS[kind.name] is kind
    assert kind.title
    assert re.fullmatch("#[0-9A-F]{6}", kind.color)
    assert [other.color for other in POSITIONS.values()].count(kind.color) == 1
    assert set(kind.relation_options or ()) <= options_model(kind).model_fields.keys()


@pytest.mark.parametrize("kind", [RPE, RPESquare, RPEAbsolute])
def test_settings_are_equivalent_where_no_distance_is_clipped(kind):
    """Equal representatives mean equal relations on every string that is not longer."""
    text = "b9041726="
    for length in range(1, len(text) + 1):
        queries = list(range(length))
        by_representative = {}
        for max_distance in range(12):
            options = {"max_distance": max_distance}
            representative = tuple(kind.equivalent_settings(options, length).items())
            found = kind(8, 2, **options).relations(text[:length], queries)
            assert by_representative.setdefault(representative, found) == found
        assert len(by_representative) == length + 1


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

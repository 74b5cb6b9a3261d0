"""Abacus."""

import pytest
import torch

from contracts.digit_places import DigitPlacesContract, numbered
from contracts.position import context_of
from ldhd.positions import Abacus
from ldhd.tasks.tokens import encode


class TestAbacus(DigitPlacesContract):
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
        tokens, plain = numbered(position)
        shifted = position.embed(tokens, context_of(tokens, exploring=True))[..., 0]
        offsets = (shifted - plain)[plain > 0].view(200, 5)
        assert (offsets == offsets[:, :1]).all()
        assert 0 <= offsets.min() < 10
        assert 40 < offsets.max() <= 50
        assert (shifted[plain == 0] == 0).all()
        assert torch.equal(position.embed(tokens, context_of(tokens))[..., 0], plain.float())

    def test_one_random_offset_a_batch_as_its_authors_draw_it(self):
        position = Abacus(4, 2, max_offset=50, offset_for="batch")
        tokens, plain = numbered(position)
        drawn = set()
        for _ in range(20):
            shifted = position.embed(tokens, context_of(tokens, exploring=True))[..., 0]
            offsets = (shifted - plain)[plain > 0]
            assert (offsets == offsets[0]).all()
            drawn.add(float(offsets[0]))
        assert len(drawn) > 5

    def test_number_beyond_the_table(self):
        position = Abacus(4, 2, max_offset=2, table_size=3)
        position.check_fits("b123=", training=False)
        with pytest.raises(ValueError, match="digit ids up to 5 are needed, the table holds 3"):
            position.check_fits("b123=", training=True)
        tokens = torch.tensor([encode("1234")])
        with pytest.raises(ValueError, match="digit 4 of a number is beyond the table of 3"):
            position.embed(tokens, context_of(tokens))

"""Position coupling."""

import pytest
import torch

from contracts.digit_places import DigitPlacesContract, numbered
from contracts.position import TEXT, context_of
from ldhd.positions import Abacus, Coupled
from ldhd.tasks.tokens import encode


class TestCoupled(DigitPlacesContract):
    make = Coupled

    def test_digits_of_one_significance_share_an_id(self):
        position = Coupled(8, 2)
        text = "b123+45=861e"
        ids = [position.relation(text, 11, i)[1] for i in range(12)]
        assert ids == [0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 3, 0]
        assert position.training_relations(text, 9, 4)[7] == (9, 7)

    def test_one_random_start_a_sequence_for_delimiters_too(self):
        position = Coupled(4, 2, max_offset=50)
        tokens, plain = numbered(position)
        starts = position.embed(tokens, context_of(tokens, exploring=True))[..., 0] - plain
        assert (starts == starts[:, :1]).all()
        assert 0 <= starts.min() < 10
        assert 40 < starts.max() <= 50
        assert torch.equal(position.embed(tokens, context_of(tokens))[..., 0], plain.float())

    def test_without_a_start_it_is_abacus(self):
        coupled, abacus = Coupled(8, 2, max_offset=0), Abacus(8, 2, max_offset=0)
        abacus.load_state_dict(coupled.state_dict())
        tokens = torch.tensor([encode(TEXT)])
        context = context_of(tokens, exploring=True)
        assert torch.equal(coupled.embed(tokens, context), abacus.embed(tokens, context))

    def test_number_beyond_the_table(self):
        with pytest.raises(ValueError, match="coupled: digit ids up to 5 are needed, the table holds 3"):
            Coupled(4, 2, max_offset=2, table_size=3).check_fits("b123=", training=True)

"""What the tests of embeddings by digit places (Abacus, coupled) share."""

import torch

from contracts.position import TEXT, PositionContract, context_of
from ldhd.tasks.tokens import encode


def numbered(position):
    """A string 200 times and its ids; the table then says the id that is used."""
    with torch.no_grad():
        position.table[:] = torch.arange(position.table_size + 1)[:, None]
    tokens = torch.tensor([encode("b12+345=")] * 200)
    valid = torch.ones_like(tokens, dtype=torch.bool)
    return tokens, position.ids(tokens, valid)


class DigitPlacesContract(PositionContract):
    def test_every_draw_of_training_is_one_of_the_training_relations(self):
        """The vector of token i is the row that the key's part of its relation names, for one offset in each draw."""
        position = self.make(8, 2, max_offset=4)
        tokens = torch.tensor([encode(TEXT)] * 40)
        drawn = position.embed(tokens, context_of(tokens, exploring=True))
        last = len(TEXT) - 1
        choices = zip(*(position.training_relations(TEXT, last, i) for i in range(last + 1)), strict=True)
        listed = [position.table[[key for _, key in relations]] for relations in choices]
        assert len(listed) == 5
        matches = torch.stack([(drawn == vectors).all(-1).all(-1) for vectors in listed])
        assert (matches.sum(0) == 1).all()
        assert (matches.sum(1) > 0).all()

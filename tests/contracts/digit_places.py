"""What the tests of embeddings by digit places (Abacus, coupled) share."""

import torch

from ldhd.tasks.tokens import encode


def numbered(position):
    """A string 200 times, which of its tokens are valid, and its ids; the table then says the id that is used."""
    with torch.no_grad():
        position.table[:] = torch.arange(position.table_size + 1)[:, None]
    tokens = torch.tensor([encode("b12+345=")] * 200)
    valid = torch.ones_like(tokens, dtype=torch.bool)
    return tokens, valid, position.ids(tokens, valid)

"""My position: a head learns one number for each distance up to `reach`, and one for all that is farther.

An embedding is a module with up to three hooks: `embed` adds to the token embeddings, `rotate` transforms queries and
keys, and `bias` adds to the logits of the attention. Its `relation` says what it can tell apart, which is all that the
predictor looks at. After each change run

    pytest test_my_position.py
    ldhd predict copy --position my_position:MyPosition --layers 1-2
    ldhd run copy --position my_position:MyPosition,rpe-square --out runs
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ldhd.positions import Position
from ldhd.positions.context import Context, Keys, Queries


class MyPosition(Position):
    """logit(j, i) += r_{min(j - i, reach + 1)}, with one vector r for each head."""

    title = "My position"
    """Its name in figures."""
    additive = True
    """It only adds, so that it can be one term of a sum, such as `my_position:MyPosition+rpe`."""

    def __init__(self, dimension: int, heads: int, layer: int = 0, *, reach: int = 4):
        """Arguments after `*` are its options, which are `--set position.reach=2` on the command line."""
        super().__init__(dimension, heads, layer)
        if reach < 0:
            raise ValueError(f"reach must not be negative, got {reach}")
        self.reach = reach
        self.table = nn.Parameter(torch.zeros(heads, reach + 2))

    def bias(self, q: Queries, k: Keys, context: Context) -> Tensor:
        """Return what is added to the logits of the new tokens (queries) with all tokens so far (keys)."""
        keys, queries = k.shape[-2], q.shape[-2]
        place = torch.arange(keys, device=q.device)
        distance = (place[keys - queries :, None] - place).clamp(0, self.reach + 1)
        return self.table[None, :, distance]

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        """Return the class of query position j and key position i: pairs of one class always get the same term."""
        return min(j - i, self.reach + 1)

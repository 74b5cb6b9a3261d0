"""Learned absolute position embedding (APE), as in GPT-2."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ldhd.positions.context import Context
from ldhd.positions.position import TABLE_STD, Position


class Absolute(Position):
    """x_i + p_i, with a table p of `table_size` positions.

    Radford et al., Language Models are Unsupervised Multitask Learners, 2019; the paper's Theorem 3 is about a
    linear attention with it.
    """

    name = "absolute"
    title = "APE"
    color = "#8C6D31"
    relation_options = ()
    additive = True
    some_queries = True

    def __init__(self, dimension: int, heads: int, layer: int = 0, *, table_size: int = 1024):
        super().__init__(dimension, heads, layer)
        if table_size < 1:
            raise ValueError(f"table_size must be at least 1, got {table_size}")
        self.table_size = table_size
        if layer == 0:
            self.table = nn.Parameter(TABLE_STD * torch.randn(table_size, dimension))

    def initialise(self, std: float) -> None:
        with torch.no_grad():
            self.table.mul_(std / TABLE_STD)

    def check_fits(self, tokens: Sequence[str], training: bool) -> None:
        if len(tokens) > self.table_size:
            raise ValueError(
                f"absolute: a string of {len(tokens)} tokens is longer than the table of {self.table_size}; "
                "raise table_size"
            )

    def embed(self, tokens: Int[Tensor, "B q"], context: Context) -> Float[Tensor, "B q D"]:
        # only where there are more tokens than rows, padding included, do values decide: nothing waits for the device
        if context.keys > self.table_size and (last := int(context.positions.max())) >= self.table_size:
            raise ValueError(f"absolute: position {last} is beyond the table of {self.table_size}")
        return self.table[context.positions]

    def relation(self, tokens: Sequence[str], j: int, i: int) -> tuple[int, int]:
        return j, i

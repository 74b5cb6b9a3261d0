"""What Abacus and position coupling share: every digit knows its place in its number."""

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from itertools import repeat
from typing import ClassVar, Literal, TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ldhd.positions.context import Cache, Context
from ldhd.positions.position import TABLE_STD, Position

Ids = TypeVar("Ids", int, Tensor)


class DigitPlaces(Position):
    """A learned vector for each id: 1, 2, ... along each run of digits and 0 for other tokens.

    In training the ids of a sequence are raised by one random number from 0 to `max_offset`, so that the ids of longer
    numbers are trained too; at test time they are as they are. With `offset_for="batch"` all sequences of a batch share
    the number.
    """

    additive = True
    some_queries = True
    relation_options = ("max_offset",)
    added_options: ClassVar[tuple[str, ...]] = ("offset_for",)

    def __init__(
        self,
        dimension: int,
        heads: int,
        layer: int = 0,
        *,
        max_offset: int = 99,
        table_size: int = 1024,
        digit_tokens: int = 10,
        offset_for: Literal["sequence", "batch"] = "sequence",
    ):
        super().__init__(dimension, heads, layer)
        if not 0 <= max_offset < table_size:
            raise ValueError(f"max_offset must be from 0 to table_size - 1 = {table_size - 1}, got {max_offset}")
        if offset_for not in ("sequence", "batch"):
            raise ValueError(f"offset_for must be sequence or batch, got {offset_for!r}")
        self.max_offset, self.table_size, self.digit_tokens = max_offset, table_size, digit_tokens
        self.offset_for = offset_for
        if layer == 0:
            self.table = nn.Parameter(TABLE_STD * torch.randn(table_size + 1, dimension))

    @staticmethod
    @abstractmethod
    def raised(ids: Ids, offset: Ids) -> Ids:
        """The ids of a sequence with its random offset."""

    def initialise(self, std: float) -> None:
        with torch.no_grad():
            self.table.mul_(std / TABLE_STD)

    def check_fits(self, tokens: Sequence[str], training: bool) -> None:
        largest = max(_place(tokens, index) for index in range(len(tokens))) + (self.max_offset if training else 0)
        if largest > self.table_size:
            raise ValueError(
                f"{self.name}: digit ids up to {largest} are needed, the table holds {self.table_size}; "
                "raise table_size"
            )

    def ids(
        self, tokens: Int[Tensor, "B q"], valid: Bool[Tensor, "B q"], cache: Cache | None = None
    ) -> Int[Tensor, "B q"]:
        """Return the place of each digit in its number, from 1, and 0 for other tokens (ids 0 .. 9 are digits)."""
        digit = (tokens < self.digit_tokens) & valid
        index = torch.arange(1, tokens.shape[1] + 1, device=tokens.device).expand_as(tokens)
        last_other = torch.where(digit, 0, index).cummax(dim=1).values
        ids = index - last_other
        if cache is not None:
            if "digit_run" in cache:
                ids = ids + torch.where(last_other == 0, cache["digit_run"], 0)
            cache["digit_run"] = ids[:, -1:]
        return ids

    def embed(self, tokens: Int[Tensor, "B q"], context: Context) -> Float[Tensor, "B q D"]:
        ids = self.ids(tokens, context.valid, context.cache)
        largest = self.max_offset if context.exploring else 0
        if largest:
            draws = len(ids) if self.offset_for == "sequence" else 1
            offset = torch.randint(largest + 1, (draws, 1), generator=context.generator, device=ids.device)
            ids = self.raised(ids, offset)
        # no id is larger than the number of tokens: values decide, and the device is waited for, only beyond that
        if context.keys + largest > self.table_size and (last := int(ids.max())) > self.table_size:
            raise ValueError(f"{self.name}: digit {last} of a number is beyond the table of {self.table_size}")
        return self.table[ids]

    def relation(self, tokens: Sequence[str], j: int, i: int) -> tuple[int, int]:
        return _place(tokens, j), _place(tokens, i)

    def relations(self, tokens: Sequence[str], queries: Sequence[int]) -> list[list[Hashable]]:
        places = [_place(tokens, index) for index in range(len(tokens))]
        return [[(places[j], places[i]) for i in range(j + 1)] for j in queries]

    def training_relations(self, tokens: Sequence[str], j: int, i: int) -> tuple[tuple[int, int], ...]:
        query, key = self.relation(tokens, j, i)
        offsets = range(self.max_offset + 1)
        return tuple((self.raised(query, offset), self.raised(key, offset)) for offset in offsets)

    def relations_in_training(self, tokens: Sequence[str], queries: Sequence[int]) -> list[list[list[Hashable]]]:
        places = [_place(tokens, index) for index in range(len(tokens))]
        found: list[list[list[Hashable]]] = []
        for offset in range(self.max_offset + 1):
            ids = [self.raised(place, offset) for place in places]
            found.append([list(zip(repeat(ids[j]), ids[: j + 1])) for j in queries])
        return found


def _place(tokens: Sequence[str], index: int) -> int:
    """The place of a digit in its number, from 1; 0 for other tokens."""
    start = index
    while start >= 0 and tokens[start].isdigit():
        start -= 1
    return index - start

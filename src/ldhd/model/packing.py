"""Batches without the cost of padding: strings of similar length are grouped, and only useful queries are computed."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from ldhd.model.attention import FAST_COLUMNS
from ldhd.model.config import ModelConfig

GROUP_COST = 40e6
"""What one more group costs, in multiplications of a large matrix product that take as long as its extra calls do."""

PAIR_COST = 300
"""What one pair of positions costs in each head, in the same unit: many short passes instead of one product."""


@dataclass(frozen=True)
class Group:
    """Strings of a batch that are padded to one length; the last layer computes their last `queries` tokens only."""

    rows: int
    length: int
    queries: int


@dataclass(frozen=True)
class Packing:
    """The tokens of a padded batch, group by group."""

    groups: tuple[Group, ...]
    index: Int[Tensor, " N"] | None
    """The places of the tokens in the flattened batch; None for all tokens in their order."""
    last: Int[Tensor, " L"] | None
    """The places, among these tokens, of those that the last layer computes; None for all."""
    wanted: Int[Tensor, " W"] | None
    """The places, among the latter, of those whose successors are wanted; None for all."""


def everything(strings: int, length: int, wanted: Int[Tensor, " W"] | None = None) -> Packing:
    """Return a packing that leaves the batch as it is, with the places whose successors are wanted."""
    return Packing((Group(strings, length, length),), None, None, wanted)


def last_tokens(strings: int, length: int, device: torch.device) -> Packing:
    """Return the packing of whole strings of which only the last token's successor is wanted."""
    last = torch.arange(1, strings + 1, device=device) * length - 1
    return Packing((Group(strings, length, 1),), None, last, None)


def pack(wanted: Int[Tensor, " W"], strings: int, width: int, config: ModelConfig) -> Packing:
    """Group the strings of a batch of so many rows and columns where that pays.

    `wanted` are the places in the flattened batch whose successors the model has to predict. What follows the last of
    them in a string is left out.
    """
    device = wanted.device
    rows, columns = wanted // width, wanted % width
    first = torch.full((strings,), width - 1, device=device).scatter_reduce_(0, rows, columns, "amin")
    lengths = torch.ones_like(first).scatter_reduce_(0, rows, columns + 1, "amax")
    order = lengths.argsort(stable=True)
    groups, index, last, offset = [], [], [], 0
    for start, stop, length in _cut(lengths[order].tolist(), config):
        rows = order[start:stop]
        queries = length - min(int(first[rows].min()), length - 1)
        groups.append(Group(stop - start, length, queries))
        columns = torch.arange(length, device=device)
        index.append((rows[:, None] * width + columns).flatten())
        places = offset + torch.arange((stop - start) * length, device=device)
        last.append(places.view(-1, length)[:, length - queries :].flatten())
        offset += len(places)
    packed, computed = torch.cat(index), torch.cat(last)
    place_of = torch.empty(strings * width, dtype=torch.long, device=device)
    place_of[packed[computed]] = torch.arange(len(computed), device=device)
    return Packing(tuple(groups), packed, computed, place_of[wanted])


def _cut(lengths: list[int], config: ModelConfig) -> Iterator[tuple[int, int, int]]:
    """Yield start, stop and length of each group of sorted lengths, at the smallest estimated cost in all."""
    ends = [stop for stop in range(1, len(lengths) + 1) if stop == len(lengths) or lengths[stop] != lengths[stop - 1]]
    best: dict[int, tuple[float, int]] = {0: (0.0, 0)}
    for stop in ends:
        length = lengths[stop - 1]
        pairs = length * max(length, FAST_COLUMNS)
        row = config.layers * (36 * length * config.dimension**2 + PAIR_COST * config.heads * pairs)
        best[stop] = min(
            (cost + (stop - start) * row + config.layers * GROUP_COST, start) for start, (cost, _) in best.items()
        )
    cuts = [len(lengths)]
    while cuts[-1]:
        cuts.append(best[cuts[-1]][1])
    for stop, start in zip(cuts[-2::-1], cuts[:0:-1], strict=True):
        yield start, stop, lengths[stop - 1]

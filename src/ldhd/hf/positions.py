"""Position embeddings by name, for models whose configuration is all that is known of them."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from transformers import initialization

from ldhd.positions import POSITIONS, Position, Sum

PositionFactory = Callable[[int, int, int], Position]


def position_factory(name: str, options: Mapping[str, Mapping[str, Any]]) -> PositionFactory:
    """(dimension, heads, layer) -> that layer's embedding; `name` may join terms by `+`, each with its options."""
    for term in name.split("+"):
        if term not in POSITIONS:
            raise ValueError(f"unknown position {term!r}; choose from {', '.join(POSITIONS)}")
    return partial(_make, {term: dict(options.get(term, {})) for term in name.split("+")})


def _make(options: Mapping[str, Mapping[str, Any]], dimension: int, heads: int, layer: int) -> Position:
    terms = [POSITIONS[term](dimension, heads, layer, **given) for term, given in options.items()]
    return terms[0] if len(terms) == 1 else Sum(terms)


def fill(position: Position, make: PositionFactory) -> None:
    """Give an embedding the initial values of all tensors of its own that no file held, such as ALiBi's slopes.

    transformers loads models without memory, so that what a constructor computed is lost.
    """
    with torch.device("cpu"):
        whole = make(position.dimension, position.heads, position.layer)
    fresh = next(part for part in whole.modules() if type(part) is type(position))
    for name, value in [*fresh.named_parameters(recurse=False), *fresh.named_buffers(recurse=False)]:
        initialization.copy_(getattr(position, name), value)

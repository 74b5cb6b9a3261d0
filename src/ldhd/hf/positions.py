"""Position embeddings from the names and options in a configuration."""

from collections.abc import Mapping
from typing import Any

import torch
from transformers import initialization

from ldhd.positions import POSITIONS, Position
from ldhd.positions.factory import PositionFactory, position_factory


def factory_by_name(name: str, options: Mapping[str, Mapping[str, Any]]) -> PositionFactory:
    """Return the factory of an embedding of ldhd; `name` may join terms by `+`, each with its options."""
    for term in name.split("+"):
        if term not in POSITIONS:
            raise ValueError(f"unknown position {term!r}; choose from {', '.join(POSITIONS)}")
    return position_factory({term: POSITIONS[term] for term in name.split("+")}, options)


def fill(position: Position, make: PositionFactory, std: float) -> None:
    """Give an embedding the initial values of all tensors of its own that no file held, such as ALiBi's slopes.

    transformers loads models without memory, so that what a constructor computed is lost. `std` is the standard
    deviation of the model's initial weights.
    """
    with torch.device("cpu"):
        whole = make(position.dimension, position.heads, position.layer)
    if whole.layer == 0:
        whole.initialise(std)
    fresh = next(part for part in whole.modules() if type(part) is type(position))
    for name, value in [*fresh.named_parameters(recurse=False), *fresh.named_buffers(recurse=False)]:
        initialization.copy_(getattr(position, name), value)

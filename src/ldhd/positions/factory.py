"""Embeddings for all layers of a model."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ldhd.positions.position import Position
from ldhd.positions.sum import Sum

PositionFactory = Callable[[int, int, int], Position]
"""(dimension, heads, layer) -> the embedding of that layer."""


def position_factory(kinds: Mapping[str, type[Position]], options: Mapping[str, Mapping[str, Any]]) -> PositionFactory:
    """Return the factory of an embedding, or of the sum of several: term -> class, and term -> its options."""
    return partial(_make, [(kind, kind.current_options(options.get(term, {}))) for term, kind in kinds.items()])


def _make(terms: list[tuple[type[Position], dict[str, Any]]], dimension: int, heads: int, layer: int) -> Position:
    made = [kind(dimension, heads, layer, **options) for kind, options in terms]
    return made[0] if len(made) == 1 else Sum(made)

"""What RPE-Square and RPE-Absolute share: anchors, and a table of vectors indexed by clipped distances."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from ldhd.positions.anchor import Anchor, Hard, Projections
from ldhd.positions.position import Position, Reading


class Anchored(Position):
    """An embedding that measures distances from anchors; see `Anchor` for its options."""

    additive = True
    relation_options = ("max_distance",)

    def __init__(
        self,
        dimension: int,
        heads: int,
        layer: int = 0,
        *,
        max_distance: int = 2,
        projections: Projections = "key",
        anchor_scale: float = 4.0,
        hard: Hard = False,
        anchors: int | None = None,
        top: int | None = None,
        table_std: float = 0.02,
    ):
        super().__init__(dimension, heads, layer)
        if max_distance < 0:
            raise ValueError(f"max_distance must be at least 0, got {max_distance}")
        self.max_distance = max_distance
        self.anchor = Anchor(dimension, heads, projections, anchor_scale, hard, anchors, top)
        self.table = nn.Parameter(table_std * torch.randn(heads, self.rows(max_distance), self.head_dimension))

    @staticmethod
    @abstractmethod
    def rows(max_distance: int) -> int:
        """How many rows R has."""

    def readings(self) -> tuple[Reading, ...]:
        return (Reading(anchored=True),)

    @classmethod
    def equivalent_settings(cls, settings: Mapping[str, Any], length: int) -> dict[str, Any]:
        """Distances beyond the string do not occur."""
        return {name: min(value, length) for name, value in settings.items()}

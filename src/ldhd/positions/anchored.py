"""What RPE-Square and RPE-Absolute share: anchors, and a table of vectors indexed by clipped distances."""

from abc import abstractmethod

import torch
from torch import nn

from ldhd.positions.anchor import ANCHORS, Hard, Projections
from ldhd.positions.position import Position, Reading


class Anchored(Position):
    """An embedding that measures distances from anchors, whose options `ldhd.positions.anchor` describes."""

    additive = True
    relation_options = ("max_distance",)
    distance_limits = ("max_distance",)
    removed_options = ("anchors", "top")

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
        table_std: float = 0.02,
    ):
        super().__init__(dimension, heads, layer)
        if max_distance < 0:
            raise ValueError(f"max_distance must be at least 0, got {max_distance}")
        self.max_distance = max_distance
        if projections not in ANCHORS:
            raise ValueError(f"projections must be one of {', '.join(ANCHORS)}, got {projections!r}")
        # anchors that share the projections of the attention need the queries of all tokens
        self.some_queries = projections != "shared"
        self.anchor = ANCHORS[projections](dimension, heads, anchor_scale, hard)
        self.table = nn.Parameter(table_std * torch.randn(heads, self.rows(max_distance), self.head_dimension))

    @property
    def needs_pairs(self) -> bool:
        return True

    @staticmethod
    @abstractmethod
    def rows(max_distance: int) -> int:
        """Return the number of rows of R."""

    def readings(self) -> tuple[Reading, ...]:
        return (Reading(anchored=True),)

    def anchors(self) -> dict[int, nn.Module]:
        return {0: self.anchor}

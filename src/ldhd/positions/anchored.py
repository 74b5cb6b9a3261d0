"""What RPE-Square and RPE-Absolute share: anchors, and a table of vectors indexed by clipped distances."""

from abc import abstractmethod

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from ldhd.positions.anchor import Anchor, Projections
from ldhd.positions.position import Cache, Position


class Anchored(Position):
    """An embedding that measures distances from anchors; see `Anchor` for its options."""

    additive = True

    def __init__(
        self,
        dimension: int,
        heads: int,
        layer: int = 0,
        *,
        max_distance: int = 2,
        projections: Projections = "key",
        anchor_scale: float = 4.0,
        hard: bool = False,
        anchors: int | None = None,
        table_std: float = 0.02,
    ):
        super().__init__(dimension, heads, layer)
        if max_distance < 0:
            raise ValueError(f"max_distance must be at least 0, got {max_distance}")
        self.max_distance = max_distance
        self.anchor = Anchor(dimension, heads, projections, anchor_scale, hard, anchors)
        self.table = nn.Parameter(table_std * torch.randn(heads, self.rows(max_distance), self.head_dimension))

    @staticmethod
    @abstractmethod
    def rows(max_distance: int) -> int:
        """How many rows R has."""


def all_rows(distances: Float[Tensor, "B A q k"], cache: Cache | None) -> Float[Tensor, "B A k k"]:
    """The rows of the new positions under those kept from earlier ones, which `cache` is made to hold too."""
    if cache is not None:
        if "distances" in cache:
            earlier = F.pad(cache["distances"], (0, distances.shape[-1] - cache["distances"].shape[-1]))
            distances = torch.cat([earlier, distances], dim=-2)
        cache["distances"] = distances
    return distances

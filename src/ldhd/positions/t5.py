"""The bucketed relative bias of T5."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ldhd.positions.context import Queries
from ldhd.positions.relative import Relative


class T5(Relative):
    """softmax(q.k / sqrt(d) + t_{h, bucket(j - i)}), a learned scalar for each head and bucket of distances.

    The first half of the `buckets` holds one distance each. The others divide the distances up to `max_distance`
    evenly on a logarithmic scale, and the last one holds all distances beyond. T5 does not divide q.k by sqrt(d) and
    has one table for all layers; here every layer has its own. The initial standard deviation is that of T5, the
    inverse square root of the model's dimension.
    Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer, 2020.
    """

    name = "t5"
    title = "T5"
    color = "#999933"
    by_distance = True
    relation_options = ("buckets", "max_distance")
    bucket_of_distance: Tensor

    def __init__(self, dimension: int, heads: int, layer: int = 0, *, buckets: int = 32, max_distance: int = 128):
        super().__init__(dimension, heads, layer)
        if buckets < 2:
            raise ValueError(f"buckets must be at least 2, got {buckets}")
        if max_distance <= buckets // 2:
            raise ValueError(f"max_distance must be above half of the {buckets} buckets, got {max_distance}")
        self.buckets, self.max_distance = buckets, max_distance
        self.table = nn.Parameter(dimension**-0.5 * torch.randn(heads, buckets))
        distances = range(max_distance + 1)
        known = torch.tensor([bucket(distance, buckets, max_distance) for distance in distances])
        self.register_buffer("bucket_of_distance", known, persistent=False)

    def bias_at(self, q: Queries, queries: Int[Tensor, "#B q"], keys: Int[Tensor, "#B k"]) -> Float[Tensor, "#B H q k"]:
        distance = (queries[:, :, None] - keys[:, None, :]).clamp(0, self.max_distance)
        return self.table[:, self.bucket_of_distance[distance]].movedim(0, 1).to(q.dtype)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        return bucket(j - i, self.buckets, self.max_distance)

    @classmethod
    def equivalent_settings(cls, settings: Mapping[str, Any], length: int) -> dict[str, Any]:
        """Return the distances at which a bucket ends, among those that occur."""
        found = [bucket(distance, **settings) for distance in range(length)]
        return {"ends": [distance for distance, (own, following) in enumerate(pairwise(found)) if own != following]}


def bucket(distance: int, buckets: int, max_distance: int) -> int:
    """Return the bucket of a distance, from 0 on."""
    half = buckets // 2
    if distance < half:
        return distance
    share = math.log(distance / half) / math.log(max_distance / half)
    return min(half + int(share * (buckets - half)), buckets - 1)

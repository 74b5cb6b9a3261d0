"""Kernelized relative positions (KERPLE)."""

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ldhd.positions.context import Queries
from ldhd.positions.relative import Relative

LARGEST_POWER = 2.0
"""Beyond it, -|x|^p is no conditionally positive definite kernel."""


class Kerple(Relative):
    """softmax(q.k / sqrt(d) - p_h log(1 + a_h (j - i))), with learned p and a; `kernel="power"`: - a_h (j - i)^p_h.

    p_h starts uniformly in [0, 2] and a_h in [0, 1], as in its authors' code (chijames/KERPLE,
    megatron/mpu/layers.py), which keeps both positive by raising them to 0.01; here their absolute values are used.
    The power is at most 2. With power 1 and the slopes of ALiBi for a_h it is ALiBi.
    Chi, Fan, Ramadge and Rudnicky, KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation, 2022.
    """

    name = "kerple"
    title = "KERPLE"
    color = "#6A3D9A"
    by_distance = True
    relation_options = ()
    falling = True  # p and a are learned, but no value of them prefers the farther of two keys

    def __init__(self, dimension: int, heads: int, layer: int = 0, *, kernel: Literal["log", "power"] = "log"):
        super().__init__(dimension, heads, layer)
        if kernel not in ("log", "power"):
            raise ValueError(f"kernel must be log or power, got {kernel!r}")
        self.kernel = kernel
        self.p = nn.Parameter(2 * torch.rand(heads))
        self.a = nn.Parameter(torch.rand(heads))

    def bias_at(self, q: Queries, queries: Int[Tensor, "#B q"], keys: Int[Tensor, "#B k"]) -> Float[Tensor, "#B H q k"]:
        distance = (queries[:, None, :, None] - keys[:, None, None, :]).clamp(min=0)
        p, a = self.p.abs()[:, None, None], self.a.abs()[:, None, None]
        if self.kernel == "log":
            return (-p * torch.log1p(a * distance)).to(q.dtype)
        return (-a * distance ** p.clamp(max=LARGEST_POWER)).to(q.dtype)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> int:
        return j - i

"""Functional interpolation for relative positions (FIRE)."""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from ldhd.positions.context import Queries
from ldhd.positions.relative import Relative

WIDTH = 32
START = 0.1
"""The hidden neurons of f and the first value of c: with L = 512, those of its authors' listing, as it stands in
mcleish7/arithmetic, cramming/architectures/embeddings.py (`mlp_width`, `init_c`, `init_L`)."""

SMALLEST = 1e-6
"""Added to the divisor, which is 0 for the first token if L is (`eps` of the same listing)."""


class Fire(Relative):
    """softmax(q.k / sqrt(d) + f(psi(j - i) / psi(max(L, j)))), psi(x) = log(c x + 1), with learned f, c and L.

    f: R -> R^heads has one hidden layer of 32 ReLUs; j counts from 0. From position L on what f reads is from 0 to 1
    at any length. L = |m| `threshold`, where m is learned and starts at 1; 512 is the paper's start, of training
    strings four times as long. Each layer has its own f, c and L.
    Li et al., Functional Interpolation for Relative Positions Improves Long Context Transformers, 2024.
    """

    name = "fire"
    title = "FIRE"
    color = "#E34A33"
    relation_options = ("threshold",)
    enumerable = False  # c and L, on which the relation depends, are learned

    def __init__(self, dimension: int, heads: int, layer: int = 0, *, threshold: float = 512.0):
        super().__init__(dimension, heads, layer)
        if threshold <= 0:
            raise ValueError(f"threshold must be positive, got {threshold}")
        self.threshold = threshold
        self.c = nn.Parameter(torch.tensor(START))
        self.multiplier = nn.Parameter(torch.tensor(1.0))
        # parameters of its own, not linear layers: a model would give those its initial values, too small for f to bend
        self.inner, self.inner_bias = _uniform(1.0, WIDTH, 1), _uniform(1.0, WIDTH)
        self.outer, self.outer_bias = _uniform(WIDTH**-0.5, heads, WIDTH), _uniform(WIDTH**-0.5, heads)

    def bias_at(self, q: Queries, queries: Int[Tensor, "#B q"], keys: Int[Tensor, "#B k"]) -> Float[Tensor, "#B H q k"]:
        distance = (queries[:, :, None] - keys[:, None, :]).clamp(min=0)
        longest = torch.maximum(self.multiplier.abs() * self.threshold, queries[:, :, None])
        share = self._psi(distance) / (self._psi(longest) + SMALLEST)
        hidden = F.linear(share[..., None], self.inner, self.inner_bias).relu()
        return F.linear(hidden, self.outer, self.outer_bias).movedim(-1, 1).to(q.dtype)

    def _psi(self, x: Tensor) -> Tensor:
        return torch.log1p(self.c.abs() * x)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> float:
        """Return what f reads before training: it depends on the distance up to L, and on both positions beyond.

        Pairs with one such number get one term for every f as long as c and L keep their initial values.
        """
        return round(math.log1p(START * (j - i)) / math.log1p(START * max(self.threshold, j)), 9)


def _uniform(bound: float, *shape: int) -> nn.Parameter:
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))

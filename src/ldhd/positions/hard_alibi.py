"""Hard-ALiBi: heads that see nothing but the last tokens."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ldhd.positions.context import Queries
from ldhd.positions.position import Reading
from ldhd.positions.relative import Relative

BEYOND = -1000.0
"""What is added to the logits of keys outside a window: nothing is left of them."""


class HardAlibi(Relative):
    """Head h = 1 .. m sees the keys with j - i < h alone; the other heads see every key and know no position (NoPE).

    m is a `share` of the heads. In the authors' code (sjelassi/transformers_ssm_copy, synthetic_exps/main.py) 8 of 12
    heads have windows.
    Jelassi, Brandfonbrener, Kakade and Malach, Repeat After Me: Transformers are Better than State Space Models at
    Copying, 2024.
    """

    name = "hard-alibi"
    title = "Hard-ALiBi"
    color = "#1F78B4"
    by_distance = True
    relation_options = ("share",)

    def __init__(self, dimension: int, heads: int, layer: int = 0, *, share: float = 2 / 3):
        super().__init__(dimension, heads, layer)
        if not 0 < share < 1:
            raise ValueError(f"share must be between 0 and 1, got {share}")
        self.windows = min(max(round(share * heads), 1), max(heads - 1, 1))

    def bias_at(self, q: Queries, queries: Int[Tensor, "#B q"], keys: Int[Tensor, "#B k"]) -> Float[Tensor, "#B H q k"]:
        distance = (queries[:, :, None] - keys[:, None, :])[:, None]
        head = torch.arange(1, self.heads + 1, device=q.device)[:, None, None]
        return BEYOND * ((distance >= head) & (head <= self.windows)).to(q.dtype)

    def relation(self, tokens: Sequence[str], j: int, i: int) -> tuple[bool, ...]:
        """Return for each window, the smallest first, whether the key lies in it."""
        return tuple(j - i < window for window in range(1, self.windows + 1))

    def readings(self) -> tuple[Reading, ...]:
        names = [f" with a window of {window}" for window in range(1, self.windows + 1)]
        return tuple(Reading(name, component=index) for index, name in enumerate(names))

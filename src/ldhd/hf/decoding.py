"""The cache of a GPT-2 with another position embedding."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from transformers import Cache
from transformers.cache_utils import DynamicLayer


class PositionedLayer(DynamicLayer):
    """Keys and values as usual, and the cache of the position embedding; it cannot be shortened."""

    is_croppable = False

    def __init__(self, **rest: Any):
        super().__init__(**rest)
        self.kept: dict[str, Tensor] = {}
        self.whole = True
        """False once the embedding has not cached some tokens, because gradients were on."""

    def reset(self) -> None:
        super().reset()
        self.kept, self.whole = {}, True

    def crop(self, tokens_to_remove: int) -> None:
        if tokens_to_remove:
            raise ValueError("this cache cannot be cut back; generate without an assistant")

    def reorder_cache(self, beam_idx: Any) -> None:
        super().reorder_cache(beam_idx)
        self._change(lambda tensor: tensor.index_select(0, beam_idx.to(tensor.device)))

    def batch_select_indices(self, indices: Tensor) -> None:
        super().batch_select_indices(indices)
        self._change(lambda tensor: tensor[indices.to(tensor.device)])

    def batch_repeat_interleave(self, repeats: int) -> None:
        super().batch_repeat_interleave(repeats)
        self._change(lambda tensor: tensor.repeat_interleave(repeats, dim=0))

    def _change(self, change: Callable[[Tensor], Tensor]) -> None:
        """Change the rows, the first dimension of every cached tensor."""
        self.kept = {name: change(tensor) for name, tensor in self.kept.items()}


def position_cache(cache: Cache | None, index: int) -> dict[str, Tensor] | None:
    """Return the cache of the embedding of a layer, None if it is not to cache; empty layers are replaced by ours."""
    if cache is None:
        return None
    layer = _positioned(cache, index)
    seen = layer.get_seq_length()
    if torch.is_grad_enabled():
        if seen:
            raise ValueError("a model goes on from a cache without gradients only; use torch.no_grad()")
        layer.whole = False
        return None
    if seen and not layer.whole:
        raise ValueError("this cache was filled with gradients on; fill it under torch.no_grad()")
    return layer.kept


def _positioned(cache: Cache, index: int) -> PositionedLayer:
    while len(cache.layers) <= index:
        cache.layers.append(PositionedLayer())
    found = cache.layers[index]
    if type(found) is DynamicLayer and found.get_seq_length() == 0:
        found = cache.layers[index] = PositionedLayer()
    if not isinstance(found, PositionedLayer):
        raise ValueError(f"a swapped position embedding needs an empty DynamicCache to start with, got {cache!r}")
    return found

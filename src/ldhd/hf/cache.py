"""The cache that `generate` keeps between tokens."""

from collections.abc import Callable
from typing import Any

from torch import Tensor
from transformers import Cache

from ldhd.model.gpt import DecodingCache


class RowOperations:
    """What `generate` does to the rows of a cache, the first dimension of every cached tensor."""

    def change_rows(self, change: Callable[[Tensor], Tensor]) -> None:
        """Change every cached tensor."""
        raise NotImplementedError

    def batch_select_indices(self, indices: Tensor) -> None:
        self.change_rows(lambda tensor: tensor[indices.to(tensor.device)])

    def reorder_cache(self, beam_idx: Any) -> None:
        self.batch_select_indices(beam_idx)

    def batch_repeat_interleave(self, repeats: int) -> None:
        self.change_rows(lambda tensor: tensor.repeat_interleave(repeats, dim=0))


class LdhdCache(RowOperations, Cache):
    """The cache of a GPT of ldhd as one of transformers: it can be reordered for beam search, but not shortened."""

    is_croppable = False

    def __init__(self, state: DecodingCache):
        super().__init__(layers=[])
        self.state = state

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self.state.seen

    def get_max_length(self, layer_idx: int | None = None) -> int:
        return -1

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:
        return self.state.seen + query_length, 0

    def crop(self, *arguments: Any) -> None:
        raise ValueError("the cache of an ldhd model cannot be cut back; generate without an assistant")

    def change_rows(self, change: Callable[[Tensor], Tensor]) -> None:
        for kept in [*self.state.layers, *self.state.positions]:
            for name, tensor in kept.items():
                kept[name] = change(tensor)
        if self.state.valid is not None:
            self.state.valid = change(self.state.valid)

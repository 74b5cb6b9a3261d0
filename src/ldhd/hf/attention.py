"""Attention with a position embedding of ldhd, through the interfaces of transformers.

A model calls its attention function with queries, keys and values. An embedding also needs the hidden states that the
projections read and its part of the cache; a hook that runs before the attention stores these.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface, Cache
from transformers.cache_utils import DynamicLayer
from transformers.masking_utils import causal_mask_function, sdpa_mask

from ldhd.hf.cache import RowOperations
from ldhd.positions import Position
from ldhd.positions.context import Context, Nearby, key_positions

NAME = "ldhd_position"
ONE_TEXT = "a swapped position embedding reads one text a row"


class PositionedLayer(RowOperations, DynamicLayer):
    """Keys and values as usual, and the cache of the position embedding; it cannot be shortened."""

    is_croppable = False

    keys: Tensor | None
    values: Tensor | None

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

    def change_rows(self, change: Callable[[Tensor], Tensor]) -> None:
        if self.keys is not None and self.values is not None and self.get_seq_length():
            self.keys, self.values = change(self.keys), change(self.values)
        self.kept = {name: change(tensor) for name, tensor in self.kept.items()}


def position_cache(cache: Cache | None, index: int) -> dict[str, Tensor] | None:
    """Return the cache of the embedding of a layer, None if it is not to cache; empty layers are replaced by ours."""
    if cache is None:
        return None
    while len(cache.layers) <= index:
        cache.layers.append(PositionedLayer())
    layer = cache.layers[index]
    if type(layer) is DynamicLayer and layer.get_seq_length() == 0:
        layer = cache.layers[index] = PositionedLayer()
    if not isinstance(layer, PositionedLayer):
        raise ValueError(f"a swapped position embedding needs an empty DynamicCache to start with, got {cache!r}")
    seen = layer.get_seq_length()
    if torch.is_grad_enabled():
        if seen:
            raise ValueError("a model goes on from a cache without gradients only; use torch.no_grad()")
        layer.whole = False
        return None
    if seen and not layer.whole:
        raise ValueError("this cache was filled with gradients on; fill it under torch.no_grad()")
    return layer.kept


def hand_over(module: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Store what the embedding needs, before an attention, until the attention function takes it."""
    chosen = module.config._attn_implementation
    if chosen != NAME:
        raise ValueError(f"the attention {chosen!r} leaves out this model's position embedding; set it to {NAME!r}")
    hidden = arguments[0] if arguments else named["hidden_states"]
    module.handed = hidden, position_cache(named.get("past_key_values"), module.layer_idx)


def refuse_several_texts(module: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Refuse rows that contain several texts, before the layers, since distances are counted through the whole row."""
    mask, ids = named.get("attention_mask"), named.get("position_ids")
    if getattr(named.get("past_key_values"), "is_compileable", False):
        return  # generate makes the whole mask for such a cache, which `position_cache` refuses with better reason
    if mask is not None and mask.ndim != 2:
        raise ValueError(f"{ONE_TEXT}: give a mask of padding, (batch, length), not one of shape {tuple(mask.shape)}")
    if ids is None or ids.shape[-1] < 2 or torch.compiler.is_compiling():
        return
    falls = ids[:, 1:] < ids[:, :-1]
    if mask is not None:
        real = mask[:, -ids.shape[-1] :].bool()
        falls = falls & real[:, 1:] & real[:, :-1]  # ids of padding mean nothing
    if falls.any():
        raise ValueError(f"{ONE_TEXT}: position_ids begin again within a row")


def attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor,
    scaling: float,
    dropout: float = 0.0,
    penalties: list[Tensor] | None = None,
    **rest: Any,
) -> tuple[Tensor, Tensor]:
    """Return softmax(q.k scaling + bias) v; keys are cached unrotated and rotated here if the embedding rotates."""
    hidden, cache = module.__dict__.pop("handed")
    position, visible = module.position, attention_mask
    assert isinstance(position, Position)
    query = query * scaling
    if len(key[0]) < len(query[0]):  # several heads of queries share one of keys and values
        groups = len(query[0]) // len(key[0])
        key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    every = _context(visible[:, :, -1:].expand(-1, -1, key.shape[-2], -1), len(key))
    context = replace(
        _context(visible, len(key)), hidden=hidden, cache=cache, exploring=module.training, penalties=penalties
    )
    if query.shape == key.shape:
        query, key = position.rotate(query, key, context)
    else:
        query, key = position.rotate(query, query, context)[0], position.rotate(key, key, every)[1]
    term = position.bias(query, key, context)
    assert not isinstance(term, Nearby)
    logits = query @ key.transpose(-1, -2) + term
    weights = logits.masked_fill(~visible, -torch.inf).softmax(-1, dtype=torch.float32).to(value.dtype)
    mixed = F.dropout(weights, dropout, module.training) @ value
    return mixed.transpose(1, 2), weights


def _context(visible: Tensor, batch: int) -> Context:
    """Return the context of the last queries of a mask."""
    queries = visible.shape[-2]
    positions = key_positions(visible).expand(batch, -1)[:, -queries:]
    return Context(positions, visible[:, 0, -1, -queries:].expand(batch, -1), visible)


def visible_mask(q_length: int, kv_length: int, device: Any = "cpu", **rest: Any) -> Tensor:
    """Return True where a query may attend; a padding token sees itself, so that no row is empty."""
    if rest.get("mask_function", causal_mask_function) is not causal_mask_function:
        raise ValueError(f"{ONE_TEXT}: packed or otherwise masked texts are not taken")
    rest["allow_is_causal_skip"] = False
    mask = sdpa_mask(q_length=q_length, kv_length=kv_length, device=device, **rest)
    assert mask is not None
    index = torch.arange(kv_length, device=device)
    return mask | (index == index[kv_length - q_length :, None])


AttentionInterface.register(NAME, attention)
AttentionMaskInterface.register(NAME, visible_mask)

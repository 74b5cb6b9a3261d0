"""Attention with a position embedding of ldhd, through the interfaces of transformers.

GPT-2 hands its attention function queries, keys and values. What an embedding needs besides, the hidden states that the
projections read and its part of the cache, is handed over by a hook that runs before the attention.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import causal_mask_function, sdpa_mask

from ldhd.hf.decoding import position_cache
from ldhd.positions import Position
from ldhd.positions.relative import key_positions

NAME = "ldhd_position"


def hand_over(module: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Before an attention: keep what its embedding needs until the attention function takes it."""
    chosen = module.config._attn_implementation
    if chosen != NAME:
        raise ValueError(f"the attention {chosen!r} leaves out this model's position embedding; set it to {NAME!r}")
    hidden = arguments[0] if arguments else named["hidden_states"]
    module.handed = hidden, position_cache(named.get("past_key_values"), module.layer_idx)


def attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor,
    scaling: float,
    dropout: float = 0.0,
    **rest: Any,
) -> tuple[Tensor, Tensor]:
    """softmax((q.k + bias) scaling) v; keys are cached as they come and turned here, where an embedding turns them."""
    hidden, cache = module.__dict__.pop("handed")
    position, visible = module.position, attention_mask
    assert isinstance(position, Position)
    positions = key_positions(visible).expand(len(key), -1)
    if query.shape == key.shape:
        query, key = position.rotate(query, key, positions)
    else:
        query = position.rotate(query, query, positions[:, -query.shape[-2] :])[0]
        key = position.rotate(key, key, positions)[1]
    logits = query @ key.transpose(-1, -2) + position.bias(query, key, hidden, visible, cache)
    weights = (logits * scaling).masked_fill(~visible, -torch.inf).softmax(-1, dtype=torch.float32).to(value.dtype)
    mixed = F.dropout(weights, dropout, module.training) @ value
    return mixed.transpose(1, 2), weights


def visible_mask(q_length: int, kv_length: int, device: Any = "cpu", **rest: Any) -> Tensor:
    """True where a query may look; a padding token sees itself, so that no row is empty."""
    if rest.get("mask_function", causal_mask_function) is not causal_mask_function:
        raise ValueError("a swapped position embedding reads one text a row: packed or otherwise masked texts are not")
    rest["allow_is_causal_skip"] = False
    mask = sdpa_mask(q_length=q_length, kv_length=kv_length, device=device, **rest)
    assert mask is not None
    index = torch.arange(kv_length, device=device)
    return mask | (index == index[kv_length - q_length :, None])


AttentionInterface.register(NAME, attention)
AttentionMaskInterface.register(NAME, visible_mask)

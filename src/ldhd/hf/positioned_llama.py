"""Llama, and models that are built like it, with a position embedding of ldhd instead of their rotary one.

Each family is a configuration and a model of transformers; all keep their layers in `model.layers`, with the attention
`self_attn`, and compute the angles of the rotary embedding once, in `model.rotary_emb`.
"""

from functools import wraps
from typing import Any

import torch
from torch import Tensor, nn
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
)
from transformers.utils import can_return_tuple

from ldhd.hf.positioned import LoadedByName, PositionedModel


class PositionedLlamaConfig(LoadedByName, LlamaConfig):
    """The configuration of Llama with the name and options of the embedding."""

    model_type = "ldhd-llama"
    position: str = "none"
    position_options: dict[str, Any] | None = None


class PositionedQwen2Config(LoadedByName, Qwen2Config):
    """The configuration of Qwen 2 with the name and options of the embedding."""

    model_type = "ldhd-qwen2"
    position: str = "none"
    position_options: dict[str, Any] | None = None


class PositionedMistralConfig(LoadedByName, MistralConfig):
    """The configuration of Mistral with the name and options of the embedding."""

    model_type = "ldhd-mistral"
    position: str = "none"
    position_options: dict[str, Any] | None = None


class NoRotation(nn.Module):
    """A replacement for the rotary embedding that turns every query and key by the angle 0, at any length."""

    def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        one = torch.ones(1, 1, 1, dtype=x.dtype, device=x.device)
        return one, torch.zeros_like(one)


class _PositionedLlama(PositionedModel):
    """What the families share."""

    def inner(self) -> nn.Module:
        model: nn.Module = self.get_submodule("model")  # type: ignore[attr-defined]
        return model

    def attentions(self) -> list[nn.Module]:
        layers: Any = self.inner().get_submodule("layers")
        return [layer.get_submodule("self_attn") for layer in layers]

    def remove_own_position(self) -> None:
        self.inner().add_module("rotary_emb", NoRotation())


class PositionedLlamaForCausalLM(_PositionedLlama, LlamaForCausalLM):
    """Llama with another position embedding in its attention; `swap_position` makes one."""

    config_class = PositionedLlamaConfig
    config: PositionedLlamaConfig

    @can_return_tuple
    @wraps(LlamaForCausalLM.forward)
    def forward(self, *arguments: Any, **named: Any) -> Any:
        return self.with_penalties(super().forward, arguments, named)


class PositionedQwen2ForCausalLM(_PositionedLlama, Qwen2ForCausalLM):
    """Qwen 2 with another position embedding in its attention; `swap_position` makes one."""

    config_class = PositionedQwen2Config
    config: PositionedQwen2Config

    @can_return_tuple
    @wraps(Qwen2ForCausalLM.forward)
    def forward(self, *arguments: Any, **named: Any) -> Any:
        return self.with_penalties(super().forward, arguments, named)


class PositionedMistralForCausalLM(_PositionedLlama, MistralForCausalLM):
    """Mistral with another position embedding in its attention; `swap_position` makes one."""

    config_class = PositionedMistralConfig
    config: PositionedMistralConfig

    @can_return_tuple
    @wraps(MistralForCausalLM.forward)
    def forward(self, *arguments: Any, **named: Any) -> Any:
        return self.with_penalties(super().forward, arguments, named)

"""GPT-2 with a position embedding of ldhd instead of its own."""

from functools import wraps
from typing import Any

import torch
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.utils import can_return_tuple

from ldhd.hf.positioned import LoadedByName, PositionedModel


class PositionedGPT2Config(LoadedByName, GPT2Config):
    """The configuration of GPT-2 with the name and options of the embedding; `n_positions` is no limit any more."""

    model_type = "ldhd-gpt2"
    position: str = "none"
    position_options: dict[str, Any] | None = None


class NoTable(nn.Module):
    """A replacement for GPT-2's table of positions that adds nothing, at any length."""

    def forward(self, position_ids: Tensor) -> Tensor:
        return torch.zeros((), device=position_ids.device)


class PositionedGPT2ForCausalLM(PositionedModel, GPT2LMHeadModel):
    """GPT-2 with another position embedding in its attention; `swap_position` makes one."""

    config_class = PositionedGPT2Config
    config: PositionedGPT2Config

    @can_return_tuple
    @wraps(GPT2LMHeadModel.forward)
    def forward(self, *arguments: Any, **named: Any) -> Any:
        return self.with_penalties(super().forward, arguments, named)

    def inner(self) -> nn.Module:
        return self.get_submodule("transformer")

    def attentions(self) -> list[nn.Module]:
        return [block.get_submodule("attn") for block in self.transformer.h]

    def remove_own_position(self) -> None:
        self.inner().add_module("wpe", NoTable())

"""GPT-2 with a position embedding of ldhd instead of its own, and how to give an existing GPT-2 one."""

from functools import wraps
from typing import Any

import torch
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.utils import can_return_tuple

from ldhd.experiments.parts import position_options
from ldhd.hf.attention import NAME, hand_over, refuse_several_texts
from ldhd.hf.positions import factory_by_name, fill
from ldhd.positions import POSITIONS, Position
from ldhd.positions.factory import PositionFactory


class PositionedGPT2Config(GPT2Config):
    """The configuration of GPT-2 with the name and options of the embedding; `n_positions` is no limit any more."""

    model_type = "ldhd-gpt2"
    position: str = "none"
    position_options: dict[str, Any] | None = None


class NoTable(nn.Module):
    """A replacement for GPT-2's table of positions that adds nothing, at any length."""

    def forward(self, position_ids: Tensor) -> Tensor:
        return torch.zeros((), device=position_ids.device)


class PositionedGPT2ForCausalLM(GPT2LMHeadModel):
    """GPT-2 with another position embedding in its attention; `swap_position` makes one."""

    config_class = PositionedGPT2Config
    config: PositionedGPT2Config

    def __init__(self, config: PositionedGPT2Config):
        super().__init__(config)
        self.install()
        self.post_init()

    def install(self) -> None:
        """Give each layer the embedding that the configuration names."""
        make = self._factory()
        if not isinstance(self.transformer.wpe, NoTable):
            self.transformer.register_forward_pre_hook(refuse_several_texts, with_kwargs=True)
        self.transformer.add_module("wpe", NoTable())
        for layer, attention in enumerate(self.attentions()):
            if not hasattr(attention, "position"):
                attention.register_forward_pre_hook(hand_over, with_kwargs=True)
            attention.add_module("position", make(self.config.n_embd, self.config.n_head, layer))
        self.set_attn_implementation(NAME)

    @can_return_tuple
    @wraps(GPT2LMHeadModel.forward)
    def forward(self, *arguments: Any, **named: Any) -> Any:
        """Return what GPT-2 returns; a loss from labels includes the penalties of the position embedding."""
        penalties: list[Tensor] = []
        output = super().forward(*arguments, **named, penalties=penalties, return_dict=True)
        if output.loss is not None:
            output.loss = sum(penalties, output.loss)
        return output

    def attentions(self) -> list[nn.Module]:
        """Return the attention module of each layer."""
        return [block.get_submodule("attn") for block in self.transformer.h]

    def initialize_weights(self) -> None:
        """Initialise as usual, and then the tensors of embeddings that are in no file."""
        super().initialize_weights()
        for module in self.modules():
            if isinstance(module, Position):
                fill(module, self._factory(), self.config.initializer_range)

    def _factory(self) -> PositionFactory:
        return factory_by_name(self.config.position, self.config.position_options or {})


def swap_position(model: Any, position: str, **options: Any) -> PositionedGPT2ForCausalLM:
    """Replace the position embedding of a GPT-2 of transformers in place, keeping all other weights.

    `position` is one of `swappable()`, such as `rpe-square`, or several that add joined by `+`;
    `options` are those of the embedding, such as `max_distance=3`. The model is changed and returned. It can be
    trained, decoded with a cache and saved as before; `import ldhd.hf` before it is loaded again.
    """
    if not isinstance(model, GPT2LMHeadModel):
        raise ValueError(f"swap_position takes a GPT2LMHeadModel, not a {type(model).__name__}")
    if model.config.add_cross_attention:
        raise ValueError("swap_position takes a GPT-2 without cross-attention")
    for term in position.split("+"):
        if term not in swappable():
            raise ValueError(f"cannot swap in {term!r}; choose from {', '.join(swappable())}, or several joined by +")
    checked = position_options(position, options)
    old = model.config
    values = {key: value for key, value in old.to_diff_dict().items() if key != "model_type"}
    new = PositionedGPT2Config(**{**values, "position": position, "position_options": checked})
    new._attn_implementation = old._attn_implementation
    for module in model.modules():
        if getattr(module, "config", None) is old:
            setattr(module, "config", new)  # noqa: B010
    model.__class__ = PositionedGPT2ForCausalLM
    swapped: Any = model
    swapped.install()
    for attention in swapped.attentions():
        attention.position.apply(swapped._init_weights)
        attention.position.to(swapped.transformer.wte.weight)
    return swapped


def swappable() -> list[str]:
    """Return the names of embeddings that act in the attention only."""
    return [name for name, kind in POSITIONS.items() if kind.embed is Position.embed]

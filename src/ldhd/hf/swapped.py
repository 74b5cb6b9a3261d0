"""How to give an existing model of transformers a position embedding of ldhd."""

from typing import Any

from transformers import GPT2LMHeadModel, LlamaForCausalLM, MistralForCausalLM, PreTrainedModel, Qwen2ForCausalLM

from ldhd.experiments.parts import position_options
from ldhd.hf.positioned_gpt2 import PositionedGPT2ForCausalLM
from ldhd.hf.positioned_llama import (
    PositionedLlamaForCausalLM,
    PositionedMistralForCausalLM,
    PositionedQwen2ForCausalLM,
)
from ldhd.positions import POSITIONS, Position

FAMILIES: dict[type[PreTrainedModel], Any] = {
    GPT2LMHeadModel: PositionedGPT2ForCausalLM,
    LlamaForCausalLM: PositionedLlamaForCausalLM,
    Qwen2ForCausalLM: PositionedQwen2ForCausalLM,
    MistralForCausalLM: PositionedMistralForCausalLM,
}
"""The models that can be given another position embedding, and what they become."""


def swap_position(model: Any, position: str, **options: Any) -> Any:
    """Replace the position embedding of a model of transformers in place, keeping all other weights.

    `model` is a `GPT2LMHeadModel`, or a model for causal language modelling of Llama, Qwen 2 or Mistral. `position` is
    one of `swappable()`, such as `rpe-square`, or several that add joined by `+`; `options` are those of the embedding,
    such as `max_distance=3`. The model is changed and returned. It can be trained, decoded with a cache and saved as
    before; `import ldhd.hf` before it is loaded again.
    """
    kind = next((own for family, own in FAMILIES.items() if isinstance(model, family)), None)
    if kind is None:
        known = ", ".join(family.__name__ for family in FAMILIES)
        raise ValueError(f"swap_position takes one of {known}, not a {type(model).__name__}")
    old = model.config
    if getattr(old, "add_cross_attention", False):
        raise ValueError("swap_position takes a GPT-2 without cross-attention")
    if getattr(old, "head_dim", None) not in (None, old.hidden_size // old.num_attention_heads):
        size = f"{old.num_attention_heads} heads of dimension {old.head_dim}"
        raise ValueError(f"swap_position takes heads that share the {old.hidden_size} hidden dimensions, not {size}")
    for term in position.split("+"):
        if term not in swappable():
            raise ValueError(f"cannot swap in {term!r}; choose from {', '.join(swappable())}, or several joined by +")
    checked = position_options(position, options)
    values = {key: value for key, value in old.to_diff_dict().items() if key != "model_type"}
    new = kind.config_class(**{**values, "position": position, "position_options": checked})
    new._attn_implementation = old._attn_implementation
    for module in model.modules():
        if getattr(module, "config", None) is old:
            module.config = new
    model.__class__ = kind
    model.install()
    for attention in model.attentions():
        attention.position.apply(model._init_weights)
        attention.position.to(model.get_input_embeddings().weight)
    return model


def swappable() -> list[str]:
    """Return the names of embeddings that act in the attention only."""
    return [name for name, kind in POSITIONS.items() if kind.embed is Position.embed]

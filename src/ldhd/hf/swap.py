"""Replacing the position embedding of an existing GPT-2."""

from typing import Any

from transformers import GPT2LMHeadModel

from ldhd.experiments.parts import position_options, position_terms
from ldhd.hf.positioned_gpt2 import PositionedGPT2Config, PositionedGPT2ForCausalLM
from ldhd.positions import POSITIONS, Position


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
    _check(position)
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


def _check(position: str) -> None:
    for term in position.split("+"):
        if term not in swappable():
            raise ValueError(f"cannot swap in {term!r}; choose from {', '.join(swappable())}, or several joined by +")
    position_terms(position)

"""What a model attends to while it reads: attention weights, the position term of the logits, and anchors."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ldhd.model.attention import Attention
from ldhd.model.gpt import GPT, Block
from ldhd.positions.anchor import Anchors


@dataclass
class Recording:
    """The attention of each layer, none in recurrent ones, and the anchors of each of its anchored terms."""

    attention: list[Float[Tensor, "B H n n"]] = field(default_factory=list)
    terms: list[Float[Tensor, "B H n n"]] = field(default_factory=list)
    """What the position embedding adds to the logits, scaled as they are; no entry where it adds nothing."""
    anchors: dict[tuple[int, int], Float[Tensor, "B H n n"]] = field(default_factory=dict)
    """Weights of the anchors by layer and term of the position embedding."""


@torch.no_grad()
def record_attention(model: GPT, tokens: Int[Tensor, "B n"]) -> Recording:
    """Return what every token of some strings attends to, as in a test; padding may stand on the right."""
    with _recorded(model) as recording:
        model(tokens, exploring=False)
    return recording


@contextmanager
def _recorded(model: GPT) -> Iterator[Recording]:
    recording = Recording()

    def attention(module: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, _, bias, context = inputs
        weights = output[..., : context.keys]
        recording.attention.append(weights.cpu())
        if isinstance(bias, Tensor):
            term = (bias * module.factor(context, len(bias), bias.shape[-2])).masked_fill(~context.visible, 0.0)
            recording.terms.append(term.expand_as(weights).cpu())

    def anchors_of(place: tuple[int, int]) -> Any:
        def hook(module: nn.Module, inputs: Any, output: Anchors) -> None:
            recording.anchors[place] = output.weights().cpu()

        return hook

    handles = []
    for layer, block in enumerate(model.blocks):
        assert isinstance(block, Block)
        if not isinstance(block.attention, Attention):
            continue
        handles.append(block.attention.weights.register_forward_hook(attention))
        for term, module in block.attention.position.anchors().items():
            handles.append(module.register_forward_hook(anchors_of((layer, term))))
    try:
        yield recording
    finally:
        for handle in handles:
            handle.remove()

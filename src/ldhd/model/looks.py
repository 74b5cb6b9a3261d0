"""What a model looks at while it reads: attention weights, the position term of the logits, and anchors."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ldhd.model.gpt import GPT, AttentionWeights
from ldhd.positions.anchor import Anchor, Anchors


@dataclass
class Looks:
    """Attention of each layer, and the anchors of each of its anchored terms."""

    attention: list[Float[Tensor, "B H n n"]] = field(default_factory=list)
    terms: list[Float[Tensor, "B H n n"]] = field(default_factory=list)
    """What the position embedding adds to the logits, scaled as they are; no entry where it adds nothing."""
    anchors: dict[tuple[int, int], Float[Tensor, "B A n n"]] = field(default_factory=dict)
    """By layer and term of the position embedding, with one anchor for all heads or one for each."""


@torch.no_grad()
def looks(model: GPT, tokens: Int[Tensor, "B n"]) -> Looks:
    """Where every token of some strings looks; padding may stand on the right."""
    with _watched(model) as found:
        was_training = model.training
        model.eval()
        model(tokens)
        model.train(was_training)
    return found


@contextmanager
def _watched(model: GPT) -> Iterator[Looks]:
    found = Looks()

    def attention(module: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, _, bias, visible = inputs
        found.attention.append(output.cpu())
        if isinstance(bias, Tensor):
            term = (bias * module.factor(visible, len(bias))).masked_fill(~visible, 0.0)
            found.terms.append(term.expand_as(output).cpu())

    def anchors_of(place: tuple[int, int]) -> Any:
        def hook(module: nn.Module, inputs: Any, output: Anchors) -> None:
            found.anchors[place] = output.weights().cpu()

        return hook

    handles = []
    for layer, block in enumerate(model.blocks):
        for name, module in block.named_modules():
            if isinstance(module, AttentionWeights):
                handles.append(module.register_forward_hook(attention))
            elif isinstance(module, Anchor):
                handles.append(module.register_forward_hook(anchors_of((layer, _term(name)))))
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


def _term(module: str) -> int:
    """Which term of a sum of embeddings a module belongs to, by its name; 0 if there is no sum."""
    parts = module.split(".")
    return int(parts[parts.index("terms") + 1]) if "terms" in parts else 0

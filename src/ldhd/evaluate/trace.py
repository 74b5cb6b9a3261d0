"""What a model looks at while it writes one answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ldhd.evaluate.decode import greedy
from ldhd.model import GPT
from ldhd.model.gpt import AttentionWeights
from ldhd.positions.anchor import Anchor, Anchors
from ldhd.tasks import Instance, Task
from ldhd.tasks.tokens import decode, encode


@dataclass(frozen=True)
class Trace:
    """One instance and the model's view of it. Attention and anchors are those along the right answer."""

    instance: Instance
    output: str
    first_error: int | None
    """Index of the first wrong token of the output, None if the output is the answer."""
    attention: list[Float[Tensor, "H n n"]]
    anchors: list[Float[Tensor, "A n n"]]
    """One entry a layer (and an anchored term), with one anchor for all heads or one for each; empty without."""

    def slots(self, needs: list[dict[str, int | None]]) -> list[dict[str, float | None]]:
        """For each answer token and needed slot, the largest attention any head pays to it."""
        start = len(self.instance.prompt) - 1
        return [
            {
                slot: None
                if index is None
                else max(float(layer[:, start + k, index].max()) for layer in self.attention)
                for slot, index in needed.items()
            }
            for k, needed in enumerate(needs)
        ]


def trace(model: GPT, task: Task, prompt: str) -> Trace:
    """Decode one prompt, then read the attention along its right answer."""
    instance = task.read(prompt)
    output = decode(greedy(model, [encode(prompt)], len(instance.answer))[0])
    attention, anchors = weights(model, instance.text)
    wrong = (k for k, token in enumerate(instance.answer) if output[k : k + 1] != token)
    return Trace(instance, output, next(wrong, None), attention, anchors)


@torch.no_grad()
def weights(model: GPT, text: str) -> tuple[list[Tensor], list[Tensor]]:
    """Attention weights and anchor weights of every layer on one string, `e` excluded as a query."""
    found: dict[type, list[Tensor]] = {AttentionWeights: [], Anchor: []}

    def keep(kind: type) -> Callable[..., None]:
        def hook(module: Any, inputs: Any, output: Tensor | Anchors) -> None:
            weights = output.weights() if isinstance(output, Anchors) else output
            found[kind].append(weights[0].cpu())

        return hook

    modules = [module for module in model.modules() if type(module) in found]
    handles = [module.register_forward_hook(keep(type(module))) for module in modules]
    try:
        model.eval()
        device = next(model.parameters()).device
        model(torch.tensor([encode(text)[:-1]], device=device))
    finally:
        for handle in handles:
            handle.remove()
    return found[AttentionWeights], found[Anchor]

"""Why a model learns or does not: how sharp its anchors are, and whether any head attends to what is needed."""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ldhd import seeds
from ldhd.model import GPT
from ldhd.model.recording import record_attention
from ldhd.tasks import Task
from ldhd.train.data import to_tensors

INSTANCES = 16


def diagnosis(model: GPT, task: Task, scale: int, seed: int) -> dict[str, Any]:
    """Return two measures on instances of one scale.

    `anchor_entropy` is the entropy of each head's anchors in nats, for each layer and anchored term, averaged over
    positions. `needed` is for each slot the largest attention that any head pays to it, averaged over the answer tokens
    that need it. Both are empty for a model without attention.
    """
    stream = seeds.generator(seed, "diagnosis", scale)
    instances = [task.sample(scale, stream) for _ in range(INSTANCES)]
    inputs, _ = to_tensors(instances, vocabulary=task.vocabulary)
    found = record_attention(model, inputs.to(next(model.parameters()).device))
    if not found.attention:
        return {"anchor_entropy": [], "needed": {}}
    real = torch.tensor([[place < len(i.text) - 1 for place in range(inputs.shape[1])] for i in instances])
    best = torch.stack([layer.amax(1) for layer in found.attention]).amax(0)
    paid: dict[str, list[float]] = {}
    for row, instance in enumerate(instances):
        for query, needs in enumerate(task.needs(instance), start=len(instance.prompt) - 1):
            for slot, index in needs.items():
                if index is not None:
                    paid.setdefault(slot, []).append(float(best[row, query, index]))
    return {
        "anchor_entropy": [mean_entropy(weights, real).tolist() for weights in found.anchors.values()],
        "needed": {slot: sum(values) / len(values) for slot, values in paid.items()},
    }


def mean_entropy(weights: Float[Tensor, "B A n n"], real: Bool[Tensor, "B n"]) -> Float[Tensor, " A"]:
    """Return the entropy of each head's weights, averaged over the positions that are not padding."""
    entropy = torch.special.entr(weights).sum(-1)
    return (entropy * real[:, None]).sum((0, 2)) / real.sum()

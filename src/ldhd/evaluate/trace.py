"""What a model attends to while it writes one answer."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ldhd.boolean.memory import check_memory
from ldhd.evaluate.decode import greedy
from ldhd.model import GPT, ModelConfig
from ldhd.model.recording import record_attention
from ldhd.tasks import Instance, Needs
from ldhd.tasks.tokens import VOCABULARY, Vocabulary


@dataclass(frozen=True)
class Trace:
    """One instance and what the model attends to. Attention and anchors are those along the right answer."""

    instance: Instance
    output: str
    first_error: int | None
    """Index of the first wrong token of the output, None if the output is the answer."""
    attention: list[Float[Tensor, "H n n"]]
    terms: list[Float[Tensor, "H n n"]]
    """What the position embedding adds to the logits of each layer; empty if it adds nothing."""
    anchors: dict[tuple[int, int], Float[Tensor, "H n n"]]
    """Weights of the anchors by layer and term of the position embedding."""

    def slots(self, needs: Needs) -> list[dict[str, float | None]]:
        """Return for each answer token and needed slot the largest attention that any head pays to it."""
        start = len(self.instance.prompt) - 1
        return [
            {
                slot: None
                if index is None
                else max((float(layer[:, start + k, index].max()) for layer in self.attention), default=None)
                for slot, index in needed.items()
            }
            for k, needed in enumerate(needs)
        ]

    def document(self, needs: Needs, position: str) -> dict[str, Any]:
        """Return the trace as in trace.json, to three decimals.

        Attention and position terms are those of the queries that write the answer, by layer, head, answer token and
        index in the text; anchors are by head, position and index.
        """
        names = position.split("+")
        first = len(self.instance.prompt) - 1
        return {
            "text": self.instance.text,
            "prompt": len(self.instance.prompt),
            "scale": self.instance.scale,
            "output": self.output,
            "first_error": self.first_error,
            "needs": needs,
            "attention": [_rounded(layer[:, first:]) for layer in self.attention],
            "terms": [_rounded(layer[:, first:]) for layer in self.terms],
            "anchors": [
                {"layer": layer, "term": names[term], "weights": _rounded(weights)}
                for (layer, term), weights in self.anchors.items()
            ],
        }


def check_trace(config: ModelConfig, tokens: int) -> None:
    """Raise ValueError if the attention of all layers over a string of so many tokens does not fit into memory."""
    if config.architecture == "transformer":
        pairs = (2 * config.layers + 2) * config.heads * tokens**2  # what each layer keeps, and what one computes
        check_memory(pairs, f"to look at the attention over {tokens} tokens", bytes_each=4)


def trace(model: GPT, instance: Instance, vocabulary: Vocabulary = VOCABULARY) -> Trace:
    """Decode a prompt, then read the attention along its right answer, `e` excluded as a query.

    Raises ValueError if the string is too long for that; see `check_trace`.
    """
    check_trace(model.config, len(instance.text))
    prompt = vocabulary.encode(instance.prompt)
    output = vocabulary.decode(greedy(model, [prompt], len(instance.answer), vocabulary=vocabulary)[0])
    wrong = (k for k, token in enumerate(instance.answer) if output[k : k + 1] != token)
    device = next(model.parameters()).device
    found = record_attention(model, torch.tensor([vocabulary.encode(instance.text)[:-1]], device=device))
    return Trace(
        instance,
        output,
        next(wrong, None),
        attention=[layer[0] for layer in found.attention],
        terms=[layer[0] for layer in found.terms],
        anchors={place: weights[0] for place, weights in found.anchors.items()},
    )


def _rounded(weights: Tensor) -> list[Any]:
    # on the CPU, since some devices have no float64
    return (weights.cpu().double() * 1000).round().div(1000).tolist()

"""Transformers that read the word of a point and give its value: `ldhd.model.GPT` with any embedding.

The word x_1 .. x_n of a point is written `b x_1 .. x_n =`, a 1 for each -1 and a 0 for each 1, and the value is the
logit of the token `e` after it. Where N0 < N the coordinates after the last -1 are blanks and n = n(x), as with the
advice of PLAA; otherwise, or with the reading `whole`, n = N.
"""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from ldhd import seeds
from ldhd.bias.embedding import embedding_options
from ldhd.bias.training import Ensemble
from ldhd.experiments.parts import build_model
from ldhd.model import GPT, ModelConfig
from ldhd.model.attention import Attention, AttentionWeights
from ldhd.model.gelu import GELU
from ldhd.model.gpt import MLP
from ldhd.model.packing import last_tokens
from ldhd.positions.context import Context
from ldhd.tasks.tokens import PADDING, encode

AttentionKind = Literal["softmax", "linear"]
Reading = Literal["word", "whole"]

BEGIN, EQUALS, VALUE = encode("b=e")


class LinearWeights(AttentionWeights):
    """Attention without a softmax: the weights are the logits q.k + bias of the visible keys themselves."""

    def forward(self, q: Tensor, k: Tensor, bias: Tensor | float, context: Context) -> Tensor:
        return (q @ k.mT + bias).masked_fill(~context.visible[..., -q.shape[-2] :, :], 0.0)

    def plain(self) -> bool:
        return False


class SoftmaxWeights(LinearWeights):
    """The softmax of `AttentionWeights` in operations that can be batched over models."""

    def forward(self, q: Tensor, k: Tensor, bias: Tensor | float, context: Context) -> Tensor:
        logits = (q @ k.mT + bias).masked_fill(~context.visible[..., -q.shape[-2] :, :], -torch.inf)
        weights = (logits - logits.amax(-1, keepdim=True)).exp()
        return weights / weights.sum(-1, keepdim=True)


class Transformers(Ensemble):
    """GPTs that differ in their seed alone, with weights that are stacked where the embedding allows it.

    An embedding with a gradient of its own, such as RPE-Square, cannot be batched; its models are called in turn.
    """

    def __init__(
        self,
        dimension: int,
        config: ModelConfig,
        position: str,
        options: dict[str, Any],
        attention: AttentionKind,
        reading: Reading,
        chosen: Sequence[int],
    ) -> None:
        self.dimension, self.reading = dimension, reading
        self.models: list[GPT] = []
        for seed in chosen:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seeds.derive(seed, "bias", "transformer"))
                model = build_model(config, position, embedding_options(position, dimension, options))
            _make_plain(model, SoftmaxWeights if attention == "softmax" else LinearWeights)
            self.models.append(model)
        self.weights: dict[str, Tensor] | None = stack_module_state(self.models)[0]
        try:
            self(torch.arange(2))
        except RuntimeError as error:
            if "setup_context" not in str(error):  # torch's hint for gradients that cannot be batched
                raise
            self.weights = None

    def parameters(self) -> Sequence[Tensor]:
        if self.weights is not None:
            return list(self.weights.values())
        return [parameter for model in self.models for parameter in model.parameters()]

    def __call__(self, rows: Tensor) -> Tensor:
        tokens = self.tokens(rows.reshape(-1)).unflatten(0, rows.shape)
        if self.weights is None:
            own = tokens if rows.ndim == 2 else [tokens] * len(self.models)
            return torch.stack([_values(model, mine) for model, mine in zip(self.models, own, strict=True)])
        if rows.ndim == 1:
            return vmap(lambda weights: _values(self.models[0], tokens, weights))(self.weights)
        turns = zip(range(len(self.models)), tokens, strict=True)  # different strings have different padding
        return torch.stack([_values(self.models[0], mine, self._of(place)) for place, mine in turns])

    def _of(self, place: int) -> dict[str, Tensor]:
        assert self.weights is not None
        return {name: weights[place] for name, weights in self.weights.items()}

    def tokens(self, rows: Tensor) -> Tensor:
        """Return the strings of these points, padded on the left: (m, longest)."""
        bits = rows[:, None] >> torch.arange(self.dimension) & 1
        lengths = (bits * torch.arange(1, self.dimension + 1)).amax(1)
        if self.reading == "whole":
            lengths = torch.full_like(lengths, self.dimension)
        longest = int(lengths.max())
        place = torch.arange(longest + 1) - (longest - lengths[:, None])  # of each column, 0 for b
        symbols = bits.gather(1, (place - 1).clamp(min=0, max=self.dimension - 1))
        symbols = symbols.masked_fill(place == 0, BEGIN).masked_fill(place < 0, PADDING)
        return torch.cat([symbols, torch.full((len(rows), 1), EQUALS)], dim=1)


def _values(model: GPT, tokens: Tensor, weights: dict[str, Tensor] | None = None) -> Tensor:
    """Return the logit of `e` after each string, for the model's own weights or for others."""
    valid = tokens != PADDING
    inputs = (tokens, None if bool(valid.all()) else valid)
    how = {"packing": last_tokens(len(tokens), tokens.shape[1], tokens.device), "exploring": False}
    logits: Tensor = model(*inputs, **how) if weights is None else functional_call(model, weights, inputs, how)
    return logits[:, VALUE]


def _make_plain(model: GPT, weights: type[LinearWeights]) -> None:
    """Choose the attention of all layers, and replace what has a gradient of its own."""
    for module in model.modules():
        if isinstance(module, Attention):
            module.weights = weights(model.config)
        elif isinstance(module, MLP):
            for place, part in enumerate(module):
                if isinstance(part, GELU):
                    module[place] = nn.GELU(approximate="tanh")

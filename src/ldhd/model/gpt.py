"""A GPT-2-style decoder that never names a position embedding: it calls the three hooks of whatever it is given.

Letters: B batch, q new tokens, k all tokens seen (cached and new), H heads, d head dimension, D dimension,
V vocabulary.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ldhd.model.config import ModelConfig
from ldhd.model.gelu import GELU
from ldhd.positions import Position
from ldhd.positions.cache import append

PositionFactory = Callable[[int, int, int], Position]
"""(dimension, heads, layer) -> that layer's position embedding."""


@dataclass
class Cache:
    """What incremental decoding keeps: a dict a layer, and which of the tokens seen so far are valid."""

    layers: list[dict[str, Tensor]]
    positions: list[dict[str, Tensor]]
    seen: int = 0
    valid: Bool[Tensor, "B k"] | None = None
    """None if all are."""


class AttentionWeights(nn.Module):
    """softmax((q.k + bias) / sqrt(d)), with a scale that grows with length and a null key where wanted."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.scale = 1 / math.sqrt(config.dimension // config.heads)
        self.reference = math.log1p(config.log_length_reference) if config.log_length else None
        self.sharpen = config.sharpen
        if config.null_key:
            shape = config.heads, config.dimension // config.heads, 1
            self.null_key = nn.Parameter(config.weight_std * torch.randn(shape))
        self.null_lead = config.null_lead / self.scale

    def forward(
        self,
        q: Float[Tensor, "B H q d"],
        k: Float[Tensor, "B H k d"],
        bias: Float[Tensor, "#B H q k"] | float,
        visible: Bool[Tensor, "#B 1 q k"],
    ) -> Float[Tensor, "B H q k"]:
        """Rows sum to one, or to less by what went to the null key."""
        scale = self.factor(visible, len(q))
        q = q * scale
        # scaled queries and a mask to add save two passes over all pairs, one of them in the backward pass
        logits = q @ k.transpose(-1, -2)
        if isinstance(bias, Tensor):
            logits = logits.addcmul_(bias, scale) if isinstance(scale, Tensor) else logits.add_(bias, alpha=scale)
        logits.add_(torch.zeros_like(visible, dtype=logits.dtype).masked_fill_(~visible, -torch.inf))
        if not hasattr(self, "null_key"):
            return logits.softmax(-1)
        null = q[..., : self.null_key.shape[1]] @ self.null_key + self.null_lead * scale
        return torch.cat([logits, null], dim=-1).softmax(-1)[..., :-1]

    def factor(self, visible: Bool[Tensor, "#B 1 q k"], batch: int) -> Float[Tensor, "#B 1 #q 1"] | float:
        """What the logits of each query are multiplied by, in training at random for each sequence of the batch."""
        scale: Tensor | float = self.scale * self.sharpen
        if self.training and self.sharpen > 1:
            scale = self.scale * self.sharpen ** torch.rand(batch, 1, 1, 1, device=visible.device)
        return scale if self.reference is None else scale * visible.sum(-1, keepdim=True).log1p() / self.reference

    def plain(self) -> bool:
        """Whether nobody looks at the weights and they are a softmax of scaled logits and nothing more."""
        return not hasattr(self, "null_key") and not self._forward_hooks


FUSED_FROM = 768
"""Queries from which on torch's fused attention is faster on a CPU, for embeddings that add nothing to the logits."""


class Attention(nn.Module):
    def __init__(self, config: ModelConfig, position: Position):
        super().__init__()
        self.heads = config.heads
        if config.position_only:
            self.constants = nn.Parameter(torch.randn(2, 1, config.heads, 1, position.head_dimension))
            self.values = nn.Linear(config.dimension, config.dimension)
        else:
            self.qkv = nn.Linear(config.dimension, 3 * config.dimension)
        self.out = nn.Linear(config.dimension, config.dimension)
        self.weights = AttentionWeights(config)
        self.position = position
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "B q D"],
        positions: Int[Tensor, "B q"],
        visible: Bool[Tensor, "#B 1 q k"],
        cache: dict[str, Tensor] | None,
        position_cache: dict[str, Tensor] | None,
    ) -> Float[Tensor, "B q D"]:
        q, k, v = self._project(x)
        q, k = self.position.rotate(q, k, positions)
        k, v = (append(cache, name, new, -2, visible.shape[-1]) for name, new in (("k", k), ("v", v)))
        bias = self.position.bias(q, k, x, visible, position_cache)
        if isinstance(bias, float) and self.weights.plain() and (q.is_cuda or q.shape[-2] >= FUSED_FROM):
            dropped = self.dropout.p if self.training else 0.0
            q = q * self.weights.factor(visible, len(q))
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=visible, dropout_p=dropped, scale=1.0)
        else:
            mixed = self.dropout(self.weights(q, k, bias, visible)) @ v
        return self.out(mixed.transpose(1, 2).flatten(-2))

    def _project(self, x: Float[Tensor, "B q D"]) -> tuple[Tensor, Tensor, Tensor]:
        if not hasattr(self, "constants"):
            q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
            return q, k, v
        v = self.values(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        q, k = (constant.expand_as(v) for constant in self.constants)
        return q, k, v


class MLP(nn.Sequential):
    def __init__(self, dimension: int):
        super().__init__(nn.Linear(dimension, 4 * dimension), GELU(), nn.Linear(4 * dimension, dimension))


class Block(nn.Module):
    """Pre-norm: x + attention(norm(x)), then x + mlp(norm(x)), once or several times."""

    def __init__(self, config: ModelConfig, position: Position):
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.dimension)
        self.attention = Attention(config, position)
        self.mlp_norm = nn.LayerNorm(config.dimension)
        self.mlp = MLP(config.dimension)
        self.further_norms = nn.ModuleList(nn.LayerNorm(config.dimension) for _ in range(config.mlps - 1))
        self.further_mlps = nn.ModuleList(MLP(config.dimension) for _ in range(config.mlps - 1))
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "B q D"],
        positions: Int[Tensor, "B q"],
        visible: Bool[Tensor, "#B 1 q k"],
        cache: dict[str, Tensor] | None,
        position_cache: dict[str, Tensor] | None,
        places: Int[Tensor, " N"] | None = None,
    ) -> Float[Tensor, "B q D"] | Float[Tensor, "N D"]:
        """Of all tokens, or of those at `places` in the flattened batch."""
        attended = self.attention(self.attention_norm(x), positions, visible, cache, position_cache)
        x = x + self.dropout(attended)
        if places is not None:
            x = x.flatten(0, 1).index_select(0, places)
        x = x + self.dropout(self.mlp(self.mlp_norm(x)))
        for norm, mlp in zip(self.further_norms, self.further_mlps, strict=True):
            x = x + self.dropout(mlp(norm(x)))
        return x


class GPT(nn.Module):
    """Token ids -> logits of the next token, embeddings tied with the output."""

    def __init__(self, config: ModelConfig, vocabulary_size: int, position: PositionFactory):
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(vocabulary_size, config.dimension)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(
            Block(config, position(config.dimension, config.heads, layer)) for layer in range(config.layers)
        )
        self.norm = nn.LayerNorm(config.dimension)
        self._initialise()

    def forward(
        self,
        tokens: Int[Tensor, "B q"],
        valid: Bool[Tensor, "B q"] | None = None,
        cache: Cache | None = None,
        places: Int[Tensor, " N"] | None = None,
    ) -> Float[Tensor, "B q V"] | Float[Tensor, "N V"]:
        """`valid` is False on padding, which may stand on either side of a row but not inside it.

        With a cache, `tokens` are those that follow what the cache has seen; padding then stands on the left, and
        there is no gradient. `places` says after which tokens of the flattened batch the next one is wanted; what the
        last layer would do for the others is left out.
        """
        with torch.set_grad_enabled(torch.is_grad_enabled() and cache is None):
            x, positions, visible = self._read(tokens, valid, cache)
            last = len(self.blocks) - 1
            for layer, block in enumerate(self.blocks):
                kept = (cache.layers[layer], cache.positions[layer]) if cache is not None else (None, None)
                x = block(x, positions, visible, *kept, places=places if layer == last else None)
            return F.linear(self.norm(x), self.tokens.weight)

    def _read(
        self, tokens: Int[Tensor, "B q"], valid: Bool[Tensor, "B q"] | None, cache: Cache | None
    ) -> tuple[Float[Tensor, "B q D"], Int[Tensor, "B q"], Bool[Tensor, "#B 1 q k"]]:
        """What the first layer sees, the position of each token, and which keys it may look at."""
        (batch, queries), seen = tokens.shape, 0 if cache is None else cache.seen
        keys = seen + queries
        every = valid if cache is None else _valid_so_far(cache, valid, tokens)
        if every is None:
            key = torch.arange(keys, device=tokens.device)
            positions = key[seen:].expand(batch, queries)
            visible = (key <= key[seen:, None])[None, None]
            valid = torch.ones(1, 1, dtype=torch.bool, device=tokens.device).expand(batch, queries)
        else:
            positions = (every.cumsum(1) - 1).clamp(min=0)[:, seen:]
            visible = _visible(every, queries)
            valid = every[:, seen:]
        if cache is not None:
            cache.seen, cache.valid = keys, every
        x = self.tokens(tokens) + self.position.embed(tokens, positions, valid, cache.positions[0] if cache else None)
        return self.dropout(x), positions, visible

    def new_cache(self) -> Cache:
        return Cache([{} for _ in self.blocks], [{} for _ in self.blocks])

    @property
    def position(self) -> Position:
        """The first layer's position embedding, the one whose `embed` is used."""
        first = self.blocks[0]
        assert isinstance(first, Block)
        return first.attention.position

    def _initialise(self) -> None:
        """GPT-2's: normal weights, zero biases, and residual outputs smaller by the number of them."""
        std = self.config.weight_std
        last = [module[-1] for module in self.modules() if isinstance(module, MLP)]
        last += [module.out for module in self.modules() if isinstance(module, Attention)]
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=std / math.sqrt(len(last)) if module in last else std)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=std)


def _visible(valid: Bool[Tensor, "B k"], queries: int) -> Bool[Tensor, "B 1 q k"]:
    """Causal, without padding; a padding token sees itself, so that no row is empty."""
    key = torch.arange(valid.shape[1], device=valid.device)
    query = key[valid.shape[1] - queries :, None]
    return (key <= query) & (valid[:, None, None, :] | (key == query))


def _valid_so_far(
    cache: Cache, valid: Bool[Tensor, "B q"] | None, tokens: Int[Tensor, "B q"]
) -> Bool[Tensor, "B k"] | None:
    if valid is None and cache.valid is None:
        return None
    one = torch.ones(1, 1, dtype=torch.bool, device=tokens.device)
    earlier = one.expand(len(tokens), cache.seen) if cache.valid is None else cache.valid
    return torch.cat([earlier, one.expand_as(tokens) if valid is None else valid], dim=1)

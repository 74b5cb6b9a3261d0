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
from ldhd.positions import Position

PositionFactory = Callable[[int, int, int], Position]
"""(dimension, heads, layer) -> that layer's position embedding."""


@dataclass
class Cache:
    """What incremental decoding keeps: a dict a layer, and which of the tokens seen so far are valid."""

    layers: list[dict[str, Tensor]]
    positions: list[dict[str, Tensor]]
    valid: Bool[Tensor, "B k"] | None = None
    seen: Int[Tensor, "B 1"] | int = 0


class AttentionWeights(nn.Module):
    """softmax((q.k + bias) / sqrt(d)), with a scale that grows with length and a null key where wanted."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.scale = 1 / math.sqrt(config.dimension // config.heads)
        self.reference = math.log1p(config.log_length_reference) if config.log_length else None
        if config.null_key:
            shape = config.heads, config.dimension // config.heads, 1
            self.null_key = nn.Parameter(config.weight_std * torch.randn(shape))

    def forward(
        self, q: Float[Tensor, "B H q d"], logits: Float[Tensor, "B H q k"], visible: Bool[Tensor, "#B 1 q k"]
    ) -> Float[Tensor, "B H q k"]:
        """Rows sum to one, or to less by what went to the null key."""
        scale: Tensor | float = self.scale
        if self.reference is not None:
            scale = scale * visible.sum(-1, keepdim=True).log1p() / self.reference
        logits = (logits * scale).masked_fill(~visible, -torch.inf)
        if not hasattr(self, "null_key"):
            return logits.softmax(-1)
        null = q[..., : self.null_key.shape[1]] @ self.null_key * scale
        return torch.cat([logits, null], dim=-1).softmax(-1)[..., :-1]


class Attention(nn.Module):
    def __init__(self, config: ModelConfig, position: Position):
        super().__init__()
        self.heads = config.heads
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
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        q, k = self.position.rotate(q, k, positions)
        if cache is not None:
            if cache:
                k, v = torch.cat([cache["k"], k], dim=-2), torch.cat([cache["v"], v], dim=-2)
            cache["k"], cache["v"] = k, v
        logits = q @ k.transpose(-1, -2) + self.position.bias(q, k, x, visible, position_cache)
        mixed = self.dropout(self.weights(q, logits, visible)) @ v
        return self.out(mixed.transpose(1, 2).flatten(-2))


class Block(nn.Module):
    """Pre-norm: x + attention(norm(x)), then x + mlp(norm(x))."""

    def __init__(self, config: ModelConfig, position: Position):
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.dimension)
        self.attention = Attention(config, position)
        self.mlp_norm = nn.LayerNorm(config.dimension)
        self.mlp = nn.Sequential(
            nn.Linear(config.dimension, 4 * config.dimension),
            nn.GELU(approximate="tanh"),
            nn.Linear(4 * config.dimension, config.dimension),
        )
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "B q D"],
        positions: Int[Tensor, "B q"],
        visible: Bool[Tensor, "#B 1 q k"],
        cache: dict[str, Tensor] | None,
        position_cache: dict[str, Tensor] | None,
    ) -> Float[Tensor, "B q D"]:
        attended = self.attention(self.attention_norm(x), positions, visible, cache, position_cache)
        x = x + self.dropout(attended)
        return x + self.dropout(self.mlp(self.mlp_norm(x)))


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
        self, tokens: Int[Tensor, "B q"], valid: Bool[Tensor, "B q"] | None = None, cache: Cache | None = None
    ) -> Float[Tensor, "B q V"]:
        """`valid` is False on padding, which may stand on either side of a row but not inside it.

        With a cache, `tokens` are those that follow what the cache has seen; padding then stands on the left.
        """
        valid = torch.ones_like(tokens, dtype=torch.bool) if valid is None else valid
        seen: Tensor | int = 0 if cache is None else cache.seen
        counted = valid.cumsum(1) + seen
        positions = (counted - 1).clamp(min=0)
        visible = self._visible(valid, cache)
        if cache is not None:
            cache.seen = counted[:, -1:]
        x = self.tokens(tokens) + self.position.embed(tokens, positions, valid, cache.positions[0] if cache else None)
        x = self.dropout(x)
        for layer, block in enumerate(self.blocks):
            kept = (cache.layers[layer], cache.positions[layer]) if cache is not None else (None, None)
            x = block(x, positions, visible, *kept)
        return F.linear(self.norm(x), self.tokens.weight)

    def new_cache(self) -> Cache:
        return Cache([{} for _ in self.blocks], [{} for _ in self.blocks])

    @property
    def position(self) -> Position:
        """The first layer's position embedding, the one whose `embed` is used."""
        first = self.blocks[0]
        assert isinstance(first, Block)
        return first.attention.position

    @staticmethod
    def _visible(valid: Bool[Tensor, "B q"], cache: Cache | None) -> Bool[Tensor, "#B 1 q k"]:
        """Causal, without padding; a padding token sees itself, so that no row is empty."""
        queries = valid.shape[1]
        if cache is not None:
            valid = valid if cache.valid is None else torch.cat([cache.valid, valid], dim=1)
            cache.valid = valid
        keys = valid.shape[1]
        causal = torch.ones(queries, keys, dtype=torch.bool, device=valid.device).tril(keys - queries)
        itself = torch.eye(keys, dtype=torch.bool, device=valid.device)[keys - queries :]
        return causal & (valid[:, None, None, :] | itself)

    def _initialise(self) -> None:
        """GPT-2's: normal weights, zero biases, and residual outputs smaller by the number of them."""
        std = self.config.weight_std
        for name, module in self.named_modules():
            if isinstance(module, nn.Linear):
                residual = name.endswith(("attention.out", "mlp.2"))
                nn.init.normal_(module.weight, std=std / math.sqrt(2 * self.config.layers) if residual else std)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=std)

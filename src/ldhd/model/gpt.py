"""A GPT-2-style decoder that never names a position embedding: it calls the three hooks of any embedding.

Letters: B batch, q new tokens, k all tokens seen (cached and new), H heads, d head dimension, D dimension,
V vocabulary.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ldhd.model.config import ModelConfig
from ldhd.model.gelu import GELU
from ldhd.positions import Position
from ldhd.positions.cache import append
from ldhd.positions.context import Context

PositionFactory = Callable[[int, int, int], Position]
"""Makes the position embedding of a layer from dimension, heads and layer."""


@dataclass
class DecodingCache:
    """What incremental decoding keeps: keys, values and what the embedding keeps for each layer, and the padding."""

    layers: list[dict[str, Tensor]]
    positions: list[dict[str, Tensor]]
    seen: int = 0
    valid: Bool[Tensor, "B k"] | None = None
    """Which of the tokens seen so far are not padding; None if all are."""


class AttentionWeights(nn.Module):
    """softmax(factor (q.k + bias)), where q is divided by sqrt(d) already, with a null key where wanted."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.reference = math.log1p(config.log_length_reference) if config.log_length else None
        self.sharpen, self.null_lead = config.sharpen, config.null_lead
        shape = config.heads, config.dimension // config.heads, 1
        self.null_key = nn.Parameter(config.weight_std * torch.randn(shape)) if config.null_key else None

    def forward(
        self,
        q: Float[Tensor, "B H q d"],
        k: Float[Tensor, "B H k d"],
        bias: Float[Tensor, "#B H q k"] | float,
        context: Context,
    ) -> Float[Tensor, "B H q k"]:
        """Return rows that sum to one, or to less by what the null key takes."""
        factor, visible = self.factor(context, len(q)), context.visible
        q = q * factor
        # scaled queries and a mask to add save two passes over all pairs, one of them in the backward pass
        logits = q @ k.transpose(-1, -2)
        if isinstance(bias, Tensor):
            logits = logits.addcmul_(bias, factor) if isinstance(factor, Tensor) else logits.add_(bias, alpha=factor)
        logits.add_(torch.zeros_like(visible, dtype=logits.dtype).masked_fill_(~visible, -torch.inf))
        if self.null_key is None:
            return logits.softmax(-1)
        null = q[..., : self.null_key.shape[1]] @ self.null_key + self.null_lead * factor
        return torch.cat([logits, null], dim=-1).softmax(-1)[..., :-1]

    def factor(self, context: Context, batch: int) -> Float[Tensor, "#B 1 #q 1"] | float:
        """Return what the logits of each query are multiplied by, drawn for each sequence while exploring."""
        factor: Tensor | float = self.sharpen
        if context.exploring and self.sharpen > 1:
            draw = torch.rand(batch, 1, 1, 1, generator=context.generator, device=context.visible.device)
            factor = self.sharpen**draw
        if self.reference is None:
            return factor
        return factor * context.visible.sum(-1, keepdim=True).log1p() / self.reference

    def plain(self) -> bool:
        """Whether the weights are a softmax of scaled logits and nothing more, and no hook reads them."""
        return self.null_key is None and not self._forward_hooks


FUSED_FROM = 768
"""Queries from which on torch's fused attention is faster on a CPU, for embeddings that add nothing to the logits."""


class Attention(nn.Module):
    """Multi-head attention that calls the hooks of a position embedding."""

    def __init__(self, config: ModelConfig, position: Position):
        super().__init__()
        self.heads, self.dropout = config.heads, config.dropout
        self.scale = 1 / math.sqrt(position.head_dimension)
        self.constants: nn.Parameter | None = None  # queries and keys of all tokens, where they are the same
        if config.position_only:
            self.constants = nn.Parameter(torch.randn(2, 1, config.heads, 1, position.head_dimension))
            self.values = nn.Linear(config.dimension, config.dimension)
        else:
            self.qkv = nn.Linear(config.dimension, 3 * config.dimension)
        self.out = nn.Linear(config.dimension, config.dimension)
        self.weights = AttentionWeights(config)
        self.position = position

    def forward(
        self, x: Float[Tensor, "B q D"], context: Context, cache: dict[str, Tensor] | None = None
    ) -> Float[Tensor, "B q D"]:
        """Return the mixed values; `cache` holds the keys and values of earlier tokens."""
        context = replace(context, hidden=x)
        q, k, v = self._project(x)
        q, k = self.position.rotate(self.scale * q, k, context)
        k, v = (append(cache, name, new, -2, context.keys) for name, new in (("k", k), ("v", v)))
        bias = self.position.bias(q, k, context)
        if isinstance(bias, float) and self.weights.plain() and (q.is_cuda or q.shape[-2] >= FUSED_FROM):
            dropped = self.dropout if context.exploring else 0.0
            q = q * self.weights.factor(context, len(q))
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=context.visible, dropout_p=dropped, scale=1.0)
        else:
            mixed = F.dropout(self.weights(q, k, bias, context), self.dropout, context.exploring) @ v
        return self.out(mixed.transpose(1, 2).flatten(-2))

    def _project(self, x: Float[Tensor, "B q D"]) -> tuple[Tensor, Tensor, Tensor]:
        if self.constants is None:
            q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
            return q, k, v
        v = self.values(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        q, k = (constant.expand_as(v) for constant in self.constants)
        return q, k, v


class MLP(nn.Sequential):
    """Two linear layers with a GELU between them, four times as wide inside."""

    def __init__(self, dimension: int):
        super().__init__(nn.Linear(dimension, 4 * dimension), GELU(), nn.Linear(4 * dimension, dimension))


class Block(nn.Module):
    """Pre-norm: x + attention(norm(x)), then x + mlp(norm(x)), once or several times."""

    def __init__(self, config: ModelConfig, position: Position):
        super().__init__()
        self.dropout = config.dropout
        self.attention_norm = nn.LayerNorm(config.dimension)
        self.attention = Attention(config, position)
        # the names of the first MLP and of the others are those of stored weights
        self.mlp_norm = nn.LayerNorm(config.dimension)
        self.mlp = MLP(config.dimension)
        self.further_norms = nn.ModuleList(nn.LayerNorm(config.dimension) for _ in range(config.mlps - 1))
        self.further_mlps = nn.ModuleList(MLP(config.dimension) for _ in range(config.mlps - 1))

    def forward(
        self,
        x: Float[Tensor, "B q D"],
        context: Context,
        cache: dict[str, Tensor] | None = None,
        places: Int[Tensor, " N"] | None = None,
    ) -> Float[Tensor, "B q D"] | Float[Tensor, "N D"]:
        """Return the states of all tokens, or of those at `places` in the flattened batch."""
        x = x + self._dropped(self.attention(self.attention_norm(x), context, cache), context)
        if places is not None:
            x = x.flatten(0, 1).index_select(0, places)
        for norm, mlp in self.mlps():
            x = x + self._dropped(mlp(norm(x)), context)
        return x

    def mlps(self) -> list[tuple[nn.Module, nn.Module]]:
        """Return the MLPs in their order, each with the norm before it."""
        return [(self.mlp_norm, self.mlp), *zip(self.further_norms, self.further_mlps, strict=True)]

    def _dropped(self, x: Tensor, context: Context) -> Tensor:
        return F.dropout(x, self.dropout, context.exploring)


class GPT(nn.Module):
    """Token ids -> logits of the next token, embeddings tied with the output."""

    def __init__(
        self,
        config: ModelConfig,
        vocabulary_size: int,
        position: PositionFactory,
        table_std: float | None = None,
    ):
        """Make a model with random weights.

        Tables that `position` adds to the token embeddings start with the standard deviation `table_std`, which is
        `config.weight_std` by default, as that of the token embeddings is.
        """
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(vocabulary_size, config.dimension)
        self.blocks = nn.ModuleList(
            Block(config, position(config.dimension, config.heads, layer)) for layer in range(config.layers)
        )
        self.norm = nn.LayerNorm(config.dimension)
        self._initialise()
        self.position.initialise(config.weight_std if table_std is None else table_std)

    def forward(
        self,
        tokens: Int[Tensor, "B q"],
        valid: Bool[Tensor, "B q"] | None = None,
        cache: DecodingCache | None = None,
        places: Int[Tensor, " N"] | None = None,
        *,
        exploring: bool | None = None,
        generator: torch.Generator | None = None,
        penalties: list[Tensor] | None = None,
    ) -> Float[Tensor, "B q V"] | Float[Tensor, "N V"]:
        """Return the logits of the token after each of `tokens`.

        `valid` is False on padding, which may stand on either side of a row but not inside it. With a cache, `tokens`
        are those that follow what the cache has seen; padding then stands on the left, and there is no gradient.
        `places` are the tokens of the flattened batch whose successors are wanted; the last layer leaves the others
        out. `exploring`, `generator` and `penalties` are those of `Context`; dropout, which draws from torch's global
        stream, is active while exploring. By default a module in training mode explores.
        """
        with torch.set_grad_enabled(torch.is_grad_enabled() and cache is None):
            exploring = self.training if exploring is None else exploring
            context = replace(
                self._context(tokens, valid, cache), exploring=exploring, generator=generator, penalties=penalties
            )
            first = None if cache is None else cache.positions[0]
            x = self.tokens(tokens) + self.position.embed(tokens, replace(context, cache=first))
            x = F.dropout(x, self.config.dropout, exploring)
            last = len(self.blocks) - 1
            for layer, block in enumerate(self.blocks):
                kept, own = (None, None) if cache is None else (cache.layers[layer], cache.positions[layer])
                x = block(x, replace(context, cache=own), kept, places if layer == last else None)
            return F.linear(self.norm(x), self.tokens.weight)

    def _context(
        self, tokens: Int[Tensor, "B q"], valid: Bool[Tensor, "B q"] | None, cache: DecodingCache | None
    ) -> Context:
        """Return the positions of the new tokens and which keys they may attend to; the cache counts them as seen."""
        (batch, queries), seen = tokens.shape, 0 if cache is None else cache.seen
        keys = seen + queries
        every = valid if cache is None else _valid_so_far(cache, valid, tokens)
        if cache is not None:
            cache.seen, cache.valid = keys, every
        if every is None:
            key = torch.arange(keys, device=tokens.device)
            everything = torch.ones(1, 1, dtype=torch.bool, device=tokens.device).expand(batch, queries)
            return Context(key[seen:].expand(batch, queries), everything, (key <= key[seen:, None])[None, None])
        return Context((every.cumsum(1) - 1).clamp(min=0)[:, seen:], every[:, seen:], _visible(every, queries))

    def new_cache(self) -> DecodingCache:
        return DecodingCache([{} for _ in self.blocks], [{} for _ in self.blocks])

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
    cache: DecodingCache, valid: Bool[Tensor, "B q"] | None, tokens: Int[Tensor, "B q"]
) -> Bool[Tensor, "B k"] | None:
    if valid is None and cache.valid is None:
        return None
    one = torch.ones(1, 1, dtype=torch.bool, device=tokens.device)
    earlier = one.expand(len(tokens), cache.seen) if cache.valid is None else cache.valid
    return torch.cat([earlier, one.expand_as(tokens) if valid is None else valid], dim=1)

"""A GPT-2-style decoder that never names a position embedding: it calls the three hooks of any embedding.

Letters: B batch, q new tokens, k all tokens seen (cached and new), D dimension, V vocabulary, N the new tokens of all
strings, L those that the last layer computes, W those whose successors are wanted.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from ldhd.model.attention import Attention
from ldhd.model.config import ModelConfig
from ldhd.model.gelu import GELU
from ldhd.model.packing import Packing, everything
from ldhd.model.recurrent import LSTM, StateSpace
from ldhd.positions import Position
from ldhd.positions.context import Context, causal

MIXERS: dict[str, type[Attention] | type[LSTM] | type[StateSpace]] = {
    "transformer": Attention,
    "lstm": LSTM,
    "ssm": StateSpace,
}
"""What mixes the tokens in a block, by the architecture of the model."""

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


class MLP(nn.Sequential):
    """Two linear layers with a GELU between them, four times as wide inside."""

    def __init__(self, dimension: int):
        super().__init__(nn.Linear(dimension, 4 * dimension), GELU(), nn.Linear(4 * dimension, dimension))


class Block(nn.Module):
    """Pre-norm: x + attention(norm(x)), then x + mlp(norm(x)), once or several times; see `MIXERS` for attention."""

    def __init__(self, config: ModelConfig, position: Position):
        super().__init__()
        self.dropout = config.dropout_of("residual")
        self.attention_norm = nn.LayerNorm(config.dimension)
        # the names of what mixes tokens, of the first MLP and of the others are those of stored weights
        self.attention = MIXERS[config.architecture](config, position)
        self.mlp_norm = nn.LayerNorm(config.dimension)
        self.mlp = MLP(config.dimension)
        self.further_norms = nn.ModuleList(nn.LayerNorm(config.dimension) for _ in range(config.mlps - 1))
        self.further_mlps = nn.ModuleList(MLP(config.dimension) for _ in range(config.mlps - 1))

    def forward(
        self,
        x: Float[Tensor, "N D"],
        contexts: list[Context],
        queries: list[int],
        cache: dict[str, Tensor] | None = None,
        last: Int[Tensor, " L"] | None = None,
        wanted: Int[Tensor, " W"] | None = None,
    ) -> Float[Tensor, "W D"]:
        """Return the states of all tokens, or those that are `wanted` of the `last` ones, where these are given."""
        mixed = self.attention(self.attention_norm(x), contexts, queries, cache)
        # `index_select` is several times faster than indexing, in both directions
        x = (x if last is None else x.index_select(0, last)) + self._dropped(mixed, contexts[0])
        if wanted is not None:
            x = x.index_select(0, wanted)
        for norm, mlp in self.mlps():
            x = x + self._dropped(mlp(norm(x)), contexts[0])
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
        packing: Packing | None = None,
        *,
        exploring: bool | None = None,
        generator: torch.Generator | None = None,
        penalties: list[Tensor] | None = None,
    ) -> Float[Tensor, "B q V"] | Float[Tensor, "W V"]:
        """Return the logits of the token after each of `tokens`.

        `valid` is False on padding, which may stand on either side of a row but not inside it. With a cache, `tokens`
        are those that follow what the cache has seen; padding then stands on the left, and there is no gradient.
        `packing` says which successors are wanted, so that the last layer can leave the others out, and may split a
        batch that is padded on the right into groups of similar length if the model is `packable`. `exploring`,
        `generator` and `penalties` are those of `Context`; dropout, which draws from torch's global stream, is active
        while exploring. By default a module in training mode explores.
        """
        with torch.set_grad_enabled(torch.is_grad_enabled() and cache is None):
            exploring = self.training if exploring is None else exploring
            # where a prompt is read for its last token alone, a table of all pairs is not needed
            last = cache is not None and packing is not None and self.reads_prompts_once
            context = replace(
                self._context(tokens, valid, cache, last),
                tokens=tokens,
                exploring=exploring,
                generator=generator,
                penalties=penalties,
            )
            first = None if cache is None else cache.positions[0]
            added = self.position.embed(tokens, replace(context, cache=first))
            contexts, whole = [context], packing is None
            packing = everything(*tokens.shape) if packing is None else packing
            ids = tokens.flatten()
            if isinstance(added, Tensor):
                added = added.expand(*tokens.shape, -1).flatten(0, 1)
            if packing.index is not None:
                ids = ids[packing.index]
                added = added.index_select(0, packing.index) if isinstance(added, Tensor) else added
                own = ids.split([group.rows * group.length for group in packing.groups])
                contexts = [
                    replace(context.up_to(group.length, group.rows), tokens=part.view(group.rows, group.length))
                    for group, part in zip(packing.groups, own, strict=True)
                ]
            x = self.tokens(ids) + added
            queries = [group.queries for group in packing.groups]
            lengths = [context.valid.shape[1] for context in contexts]
            x = F.dropout(x, self.config.dropout_of("embedding"), exploring)
            for layer, block in enumerate(self.blocks):
                kept, own = (None, None) if cache is None else (cache.layers[layer], cache.positions[layer])
                mine = [replace(context, cache=own) for context in contexts]
                if layer < len(self.blocks) - 1:
                    x = block(x, mine, lengths, kept)
                else:
                    x = block(x, mine, queries, kept, packing.last, packing.wanted)
            logits = F.linear(self.norm(x), self.tokens.weight)
            return logits.unflatten(0, tokens.shape) if whole else logits

    @property
    def packable(self) -> bool:
        """Whether padding is of no account and nothing is drawn for each string, so that batches can be packed."""
        positions = [block.attention.position for block in self.blocks if isinstance(block, Block)]
        return self.config.sharpen == 1 and not any(position.reads_padding for position in positions)

    @property
    def redraws(self) -> bool:
        """Whether positions of tests are drawn for each length, so that decoding can keep nothing of earlier tokens."""
        return any(block.attention.position.redraws for block in self.blocks if isinstance(block, Block))

    @property
    def reads_prompts_once(self) -> bool:
        """Whether decoding computes the attention of the last token of a prompt only, not that of all pairs."""
        return len(self.blocks) == 1 and self.position.some_queries

    @property
    def needs_pairs(self) -> bool:
        """Whether decoding takes memory that grows with the square of the length."""
        return not self.reads_prompts_once or self.position.needs_pairs

    def _context(
        self, tokens: Int[Tensor, "B q"], valid: Bool[Tensor, "B q"] | None, cache: DecodingCache | None, last: bool
    ) -> Context:
        """Return the positions of the new tokens and which keys they, or the last, may attend to.

        The cache counts the new tokens as seen.
        """
        (batch, queries), seen = tokens.shape, 0 if cache is None else cache.seen
        keys = seen + queries
        every = valid if cache is None else _valid_so_far(cache, valid, tokens)
        if cache is not None:
            cache.seen, cache.valid = keys, every
        one = torch.ones(1, 1, dtype=torch.bool, device=tokens.device)
        if every is not None:
            visible = every[:, None, None, :] if last else causal(every, queries)
            return Context((every.cumsum(1) - 1).clamp(min=0)[:, seen:], every[:, seen:], visible)
        valid, positions = one.expand(batch, queries), torch.arange(seen, keys, device=tokens.device)
        if queries == 1 or last:
            return Context(positions.expand(batch, queries), valid, one.expand(1, 1, 1, keys), all_visible=True)
        key = torch.arange(keys, device=tokens.device)
        return Context(positions.expand(batch, queries), valid, (key <= positions[:, None])[None, None])

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
        last += [module.out for module in self.modules() if isinstance(module, (Attention, StateSpace))]
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=std / math.sqrt(len(last)) if module in last else std)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=std)


def _valid_so_far(
    cache: DecodingCache, valid: Bool[Tensor, "B q"] | None, tokens: Int[Tensor, "B q"]
) -> Bool[Tensor, "B k"] | None:
    if valid is None and cache.valid is None:
        return None
    one = torch.ones(1, 1, dtype=torch.bool, device=tokens.device)
    earlier = one.expand(len(tokens), cache.seen) if cache.valid is None else cache.valid
    return torch.cat([earlier, one.expand_as(tokens) if valid is None else valid], dim=1)

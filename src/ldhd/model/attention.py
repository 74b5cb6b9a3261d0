"""Multi-head attention that calls the hooks of a position embedding.

Letters: B strings, n new tokens, q queries (the last q new tokens), k all tokens seen (cached and new), H heads, d head
dimension, D dimension, P columns of the attention weights: the keys, the null key, and some that nothing attends to.
"""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import Function
from torch.utils.checkpoint import checkpoint

from ldhd.model.config import ModelConfig
from ldhd.positions import Position
from ldhd.positions.cache import append
from ldhd.positions.context import Context, Nearby

FUSED_FROM = 768
"""Queries from which on torch's fused attention is faster on a CPU, for embeddings that add nothing to the logits."""

CHUNKED_FROM = 2**28
"""Pairs of positions, over all heads and strings, from which on whole strings are attended to in chunks of queries."""

NEGLIGIBLE = 50.0
"""How far below the null key a logit has no weight: 10^10 such keys together have 2e-12 of its weight."""

FAST_COLUMNS = 16
"""With fewer columns torch's softmax takes ten times as long on a CPU, so that there are always as many."""


class AttentionWeights(nn.Module):
    """softmax(factor (q.k + bias)), where q is divided by sqrt(d) already, with a null key where wanted."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.reference = math.log1p(config.log_length_reference) if config.log_length else None
        self.sharpen, self.null_lead = config.sharpen, config.null_lead
        shape = config.heads, config.dimension // config.heads, 1
        self.ssmax = nn.Parameter(torch.ones(config.heads, 1, 1)) if config.ssmax else None
        self.null_key = nn.Parameter(config.weight_std * torch.randn(shape)) if config.null_key else None

    def forward(
        self,
        q: Float[Tensor, "B H q d"],
        k: Float[Tensor, "B H k d"],
        bias: Float[Tensor, "#B H q k"] | float,
        context: Context,
    ) -> Float[Tensor, "B H q P"]:
        """Return rows that sum to one: the weights of all keys, then that of the null key, then zeros."""
        queries, keys = q.shape[-2], k.shape[-2]
        rest = max(FAST_COLUMNS - keys, 0 if self.null_key is None else 1)
        factor = self.factor(context, q.shape[0], queries)
        null = None
        if self.null_key is not None:
            wider = q.shape[-1] - self.null_key.shape[1]  # by what `rotate` has added
            null = (F.pad(self.null_key.mT, (0, wider)) if wider else self.null_key.mT).to(k.dtype)
        if isinstance(factor, Tensor) or factor != 1:
            q = (q * factor).to(k.dtype)  # autocast leaves `factor` in float32, and the backward pass needs one type
        if queries > 1:
            columns = _extended(k, null, rest)
            mask = self._mask(q, context.visible[..., -queries:, :], rest, factor)
            return _Softmax.apply(q, columns, bias if isinstance(bias, Tensor) else None, factor, mask)
        logits = q @ k.mT
        if isinstance(bias, Tensor):
            logits = logits + (bias if isinstance(factor, float) and factor == 1 else bias * factor)
        if not context.all_visible:
            logits = logits.masked_fill(~context.visible[..., -1:, :], -torch.inf)
        if null is not None:
            logits = torch.cat([logits, (q * null).sum(-1, keepdim=True) + self.null_lead * factor], dim=-1)
        missing = FAST_COLUMNS - logits.shape[-1]
        return (F.pad(logits, (0, missing), value=-torch.inf) if missing > 0 else logits).softmax(-1)

    def _mask(self, q: Tensor, visible: Tensor, rest: int, factor: Tensor | float) -> Float[Tensor, "#B 1 q P"]:
        """Return what is added to the logits: -inf where there is nothing to see, and the lead of the null key."""
        keys = visible.shape[-1]
        mask = q.new_zeros(*visible.shape[:-1], keys + rest)
        mask[..., :keys].masked_fill_(~visible, -torch.inf)
        mask[..., keys:] = -torch.inf
        if self.null_key is None:
            return mask
        mask[..., keys : keys + 1] = 0.0
        if not self.null_lead:
            return mask
        return mask + factor * F.pad(torch.full_like(mask[..., :1], self.null_lead), (keys, rest - 1))

    def factor(self, context: Context, batch: int, queries: int) -> Float[Tensor, "#B 1 #q 1"] | float:
        """Return what the logits of the last new tokens are multiplied by, drawn for each sequence while exploring."""
        factor: Tensor | float = self.sharpen
        if context.exploring and self.sharpen > 1:
            draw = torch.rand(batch, 1, 1, 1, generator=context.generator, device=context.visible.device)
            factor = self.sharpen**draw
        if self.reference is None:
            return factor
        if context.all_visible:
            return factor * math.log1p(context.keys) / self.reference
        return factor * context.visible[..., -queries:, :].sum(-1, keepdim=True).log1p() / self.reference

    def negligible(self, q: Float[Tensor, "H d"], k: Float[Tensor, "H d"], context: Context) -> float:
        """Return `Context.negligible` where all queries are q and all keys are k; infinity without a null key."""
        factor = self.factor(context, 1, 1)
        if self.null_key is None or self.ssmax is not None or isinstance(factor, Tensor):
            return math.inf
        ahead = float((q * (k - self.null_key[..., 0])).sum(-1).max()) - self.null_lead
        return ahead + NEGLIGIBLE / factor

    def plain(self) -> bool:
        """Whether the weights are a softmax of scaled logits and nothing more, and no hook reads them."""
        return self.null_key is None and not self._forward_hooks


def _extended(k: Float[Tensor, "B H k d"], null: Tensor | None, rest: int) -> Float[Tensor, "B H P d"]:
    """Append the null key and zeros to the keys: cheaper than to append columns to the logits."""
    if not rest:
        return k
    zeros = k.new_zeros(1, 1, 1, 1).expand(*k.shape[:2], rest - (null is not None), k.shape[-1])
    return torch.cat([k, zeros] if null is None else [k, null.expand(k.shape[0], -1, -1, -1), zeros], dim=2)


class _Softmax(Function):
    """softmax(q.k + factor bias + mask), where `bias` has the first columns only; its backward pass copies nothing."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, bias: Tensor | None, factor: Tensor | float, mask: Tensor) -> Tensor:
        logits = q @ k.mT
        if bias is not None:
            own = logits[..., : bias.shape[-1]]
            bias = bias.to(logits.dtype)
            if isinstance(factor, Tensor):
                own.addcmul_(bias, factor)
            else:
                own.add_(bias, alpha=factor)
        weights = logits.add_(mask).softmax(-1)
        ctx.save_for_backward(q, k, weights, *([factor] if isinstance(factor, Tensor) else []))
        ctx.factor, ctx.bias = factor, None if bias is None else (bias.shape, bias.dtype)
        return weights

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        q, k, weights, *factor = ctx.saved_tensors
        inner = torch.ops.aten._softmax_backward_data(gradient, weights, -1, weights.dtype)
        to_bias = None
        if ctx.bias is not None:
            shape, dtype = ctx.bias
            to_bias = inner[..., : shape[-1]]
            if factor or ctx.factor != 1:
                to_bias = to_bias * (factor[0] if factor else ctx.factor)
            to_bias = to_bias.sum_to_size(shape).to(dtype)
        inner = inner.to(q.dtype)
        return inner @ k, inner.mT @ q, to_bias, None, None


class Attention(nn.Module):
    """Multi-head attention that calls the hooks of a position embedding."""

    def __init__(self, config: ModelConfig, position: Position):
        super().__init__()
        self.heads, self.dropout = config.heads, config.dropout_of("attention")
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
        self,
        x: Float[Tensor, "N D"],
        contexts: list[Context],
        queries: list[int],
        cache: dict[str, Tensor] | None = None,
    ) -> Float[Tensor, "L D"]:
        """Return the mixed values of the last `queries` tokens of each string.

        `x` holds the new tokens of all strings, group by group; each group of strings of one length has its context.
        `cache` holds the keys and values of earlier tokens.
        """
        sizes = [context.valid.numel() for context in contexts]
        projected = (self.qkv(x) if self.constants is None else self.values(x)).split(sizes)
        groups = zip(x.split(sizes), projected, contexts, queries, strict=True)
        mixed = [self._attend(hidden, own, context, last, cache) for hidden, own, context, last in groups]
        return self.out(mixed[0] if len(mixed) == 1 else torch.cat(mixed))

    def _attend(
        self, hidden: Tensor, projected: Tensor, context: Context, queries: int, cache: dict[str, Tensor] | None
    ) -> Float[Tensor, "Bq D"]:
        strings, new = context.valid.shape
        context = replace(context, hidden=hidden.view(strings, new, -1))
        q, k, v = self._split(projected.view(strings, new, -1))
        q, k = self.position.rotate(self.scale * q, k, context)
        k, v = (append(cache, name, own, -2, context.keys) for name, own in (("k", k), ("v", v)))
        if queries < new and self.position.some_queries:
            q = q[..., new - queries :, :]
        if cache is not None and q.shape[-2] == 1 and self.constants is not None:
            context = replace(context, negligible=partial(self.weights.negligible, q[0, :, 0], k[0, :, 0], context))
        mixed = self._chunked(q, k, v, context)[..., -queries:, :]
        return mixed.transpose(1, 2).reshape(strings * queries, -1)

    def _chunked(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> Float[Tensor, "B H q d"]:
        """Attend in chunks of queries where memory counts; the backward pass computes the weights of a chunk again."""
        (queries, keys), position = (q.shape[-2], k.shape[-2]), self.position
        pairs = q.shape[0] * self.heads * keys
        # what is drawn for each string, or read by a hook, is needed at once
        divisible = position.some_queries and not position.reads_padding and self.weights.sharpen == 1
        divisible = divisible and not self.weights._forward_hooks
        if queries * pairs < CHUNKED_FROM or context.cache is not None or not divisible:
            return self._mixed(q, k, v, context)
        chunks, end = [], keys - queries
        for own in q.split(max(1, CHUNKED_FROM // (4 * pairs)), dim=-2):
            end += own.shape[-2]
            chunk = own, k[..., :end, :], v[..., :end, :], context.up_to(end)
            mixed = checkpoint(self._mixed, *chunk, use_reentrant=False) if own.requires_grad else self._mixed(*chunk)
            chunks.append(mixed)
        return torch.cat(chunks, dim=-2)

    def _mixed(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> Float[Tensor, "B H q d"]:
        bias = self.position.bias(q, k, context)
        if isinstance(bias, Nearby):
            k, v, context = bias.select(k), bias.select(v), replace(context, all_visible=True)
            bias = bias.term
        if self.weights.ssmax is not None:
            q, bias = q * self.weights.ssmax, bias * self.weights.ssmax if isinstance(bias, Tensor) else bias
        dropped = self.dropout if context.exploring else 0.0
        if isinstance(bias, float) and self.weights.plain() and (q.is_cuda or q.shape[-2] >= FUSED_FROM):
            factor, visible = (
                self.weights.factor(context, q.shape[0], q.shape[-2]),
                context.visible[..., -q.shape[-2] :, :],
            )
            return F.scaled_dot_product_attention(q * factor, k, v, attn_mask=visible, dropout_p=dropped, scale=1.0)
        weights = F.dropout(self.weights(q, k, bias, context), dropped)
        if q.shape[-2] == 1:
            return weights[..., : v.shape[-2]] @ v
        rest = weights.shape[-1] - v.shape[-2]
        return weights @ (F.pad(v, (0, 0, 0, rest)) if rest else v)

    def _split(self, x: Float[Tensor, "B n _"]) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values of each head."""
        if self.constants is None:
            q, k, v = x.unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
            return q, k, v
        v = x.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        q, k = (constant.expand_as(v) for constant in self.constants)
        return q, k, v

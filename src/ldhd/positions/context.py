"""What a position embedding may use besides queries and keys."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Cache = dict[str, Tensor]
"""What an embedding keeps of earlier tokens in incremental decoding: tensors by name, with room for tokens to come."""

Queries = Float[Tensor, "B H q d"]
Keys = Float[Tensor, "B H k d"]


@dataclass(frozen=True)
class Context:
    """One forward pass through a layer, as its position embedding sees it.

    Letters: B batch, n new tokens, k all tokens seen (cached and new), D dimension of the model.
    """

    positions: Int[Tensor, "B n"]
    """Position of each new token, counted from 0 among the tokens that are not padding."""
    valid: Bool[Tensor, "B n"]
    """Which of the new tokens are not padding."""
    visible: Bool[Tensor, "#B 1 #n k"]
    """Which keys each new token may attend to. A padding token sees itself, so that no row is empty. Where a prompt is
    read for its last token alone, there is only the row of that token."""
    all_visible: bool = False
    """Whether every new token may attend to every key, as in decoding token by token without padding."""
    hidden: Float[Tensor, "B n D"] | None = None
    """The hidden states that the attention's projections read; None in `embed` and `rotate`."""
    tokens: Int[Tensor, "B n"] | None = None
    """The ids of the new tokens; None in a model that does not tell them."""
    cache: Cache | None = None
    """The embedding's own cache in incremental decoding, None otherwise."""
    exploring: bool = False
    """Whether the model is in the exploratory phase of training: anchors that are hard in tests are soft, and ids,
    offsets and the visibility of distant keys are random."""
    generator: torch.Generator | None = None
    """Source of all random numbers; None is torch's global stream."""
    penalties: list[Tensor] | None = None
    """Collects scalar terms that are to be added to the loss; None if nobody adds them."""
    negligible: Callable[[], float] = lambda: math.inf
    """Returns by how much a logit has to be lowered for its key to have no weight beside the null key, where one query
    decodes, so that an embedding may return `Nearby`; infinite where that is not known."""

    @property
    def new(self) -> int:
        """The number of new tokens, padding included."""
        return self.valid.shape[1]

    @property
    def keys(self) -> int:
        """The number of tokens seen so far, the new ones and padding included."""
        return self.visible.shape[-1]

    def every_row(self) -> Bool[Tensor, "#B 1 n k"]:
        """Return `visible` with the rows of all new tokens, a table of n x k."""
        if self.visible.shape[-2] == self.new:
            return self.visible
        return causal(self.visible[:, 0, 0], self.new)

    def up_to(self, length: int, strings: int | None = None) -> "Context":
        """Return the context of the first tokens of all strings, or of some of them, where there is no cache."""
        return replace(
            self,
            positions=self.positions[:strings, :length],
            valid=self.valid[:strings, :length],
            visible=self.visible[:strings, :, :length, :length],
            hidden=None if self.hidden is None else self.hidden[:strings, :length],
            tokens=None if self.tokens is None else self.tokens[:strings, :length],
        )

    @staticmethod
    def causal(hidden: Float[Tensor, "B n D"], **rest: Any) -> "Context":
        """The context of whole strings without padding; `rest` sets further fields."""
        batch, length, _ = hidden.shape
        index = torch.arange(length, device=hidden.device)
        valid = torch.ones(1, 1, dtype=torch.bool, device=hidden.device).expand(batch, length)
        visible = (index <= index[:, None])[None, None]
        return Context(index.expand(batch, length), valid, visible, hidden=hidden, **rest)


@dataclass(frozen=True)
class Nearby:
    """The position term of one query for the few keys that are not hidden from it; the number m of columns is the
    largest of all heads."""

    index: Int[Tensor, "B H m"]
    """Where the keys are; anything where a head sees fewer."""
    term: Float[Tensor, "B H 1 m"]
    """What is added to their logits; -inf where a head sees fewer."""

    def select(self, x: Float[Tensor, "B H k d"]) -> Float[Tensor, "B H m d"]:
        """Return the rows of these keys."""
        return x.gather(-2, self.index[..., None].expand(-1, -1, -1, x.shape[-1]))


def causal(valid: Bool[Tensor, "B k"], queries: int) -> Bool[Tensor, "B 1 q k"]:
    """Return which keys the last tokens may attend to: those up to them without padding; a padding token sees itself,
    so that no row is empty."""
    key = torch.arange(valid.shape[1], device=valid.device)
    query = key[valid.shape[1] - queries :, None]
    return (key <= query) & (valid[:, None, None, :] | (key == query))


def key_positions(visible: Bool[Tensor, "#B 1 n k"]) -> Int[Tensor, "#B k"]:
    """The position of each key, counted from 0 among the keys that are not padding."""
    return (visible[:, 0, -1].cumsum(-1) - 1).clamp(min=0)

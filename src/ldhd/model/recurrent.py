"""Layers that read tokens one after another, in the place of attention: an LSTM and a selective state-space model.

Letters: B strings, n new tokens, D dimension, N the new tokens of all strings, L those that are wanted, E inner
dimension, S numbers of a state for each inner dimension, K width of the convolution.
"""

import math
from abc import ABC, abstractmethod

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from ldhd.model.config import ModelConfig
from ldhd.positions import NoPosition, Position
from ldhd.positions.context import Context

State = dict[str, Tensor]
"""What a layer keeps of earlier tokens: of the same size however many there were."""


class Recurrence(nn.Module, ABC):
    """A layer with the calls of `Attention`. It knows the order of tokens, so its position embedding is `none`."""

    def __init__(self, config: ModelConfig, position: Position):
        super().__init__()
        if not isinstance(position, NoPosition):
            raise ValueError(
                f"a model of architecture {config.architecture} has no attention: its position must be none, "
                f"got {position.name or type(position).__name__}"
            )
        self.position = position

    def forward(
        self, x: Float[Tensor, "N D"], contexts: list[Context], queries: list[int], cache: State | None = None
    ) -> Float[Tensor, "L D"]:
        """Return what the layer makes of the last `queries` tokens of each string; `cache` holds its state."""
        found = []
        sizes = [context.valid.numel() for context in contexts]
        for own, context, last in zip(x.split(sizes), contexts, queries, strict=True):
            strings, new = context.valid.shape
            read = self.read(own.view(strings, new, -1), context.valid, {} if cache is None else cache)
            found.append(read[:, new - last :].flatten(0, 1))
        return torch.cat(found)

    @abstractmethod
    def read(self, x: Float[Tensor, "B n D"], valid: Bool[Tensor, "B n"], state: State) -> Float[Tensor, "B n D"]:
        """Read tokens, starting from `state` and updating it; padding leaves the state as it is."""


class LSTM(Recurrence):
    """c = f c + i g, h = o tanh(c), with gates i, f, o and g of the token and of h.

    Hochreiter and Schmidhuber, Long Short-Term Memory, 1997; its weights start as those of torch do.
    """

    def __init__(self, config: ModelConfig, position: Position):
        super().__init__(config, position)
        self.cell = nn.LSTMCell(config.dimension, config.dimension)

    def read(self, x: Float[Tensor, "B n D"], valid: Bool[Tensor, "B n"], state: State) -> Float[Tensor, "B n D"]:
        zeros = x.new_zeros(x.shape[0], x.shape[2])
        h, c = state.get("h", zeros), state.get("c", zeros)
        outputs = []
        for token, real in zip(x.unbind(1), valid[..., None].unbind(1), strict=True):
            new_h, new_c = self.cell(token, (h, c))
            h, c = torch.where(real, new_h, h), torch.where(real, new_c, c)
            outputs.append(h)
        state["h"], state["c"] = h, c
        return torch.stack(outputs, dim=1)


class StateSpace(Recurrence):
    """h = exp(dt A) h + dt B u, y = C h + D u, with a diagonal A < 0; dt, B and C depend on the token.

    u is the token after a projection, a causal convolution over `WIDTH` tokens and SiLU; y is multiplied by SiLU of
    another projection. Sizes and initial values are those of the paper; projections start with `config.weight_std`.
    Gu and Dao, Mamba: Linear-Time Sequence Modeling with Selective State Spaces, 2023.
    """

    EXPAND, STATES, WIDTH = 2, 16, 4
    SHORTEST, LONGEST = 1e-3, 1e-1
    """Bounds of the initial steps dt, uniform in their logarithm."""

    def __init__(self, config: ModelConfig, position: Position):
        super().__init__(config, position)
        inner, rank = self.EXPAND * config.dimension, math.ceil(config.dimension / 16)
        self.into = nn.Linear(config.dimension, 2 * inner, bias=False)
        self.out = nn.Linear(inner, config.dimension, bias=False)
        self.convolution = nn.Parameter(torch.empty(inner, self.WIDTH).uniform_(-1, 1) / math.sqrt(self.WIDTH))
        self.convolution_bias = nn.Parameter(torch.empty(inner).uniform_(-1, 1) / math.sqrt(self.WIDTH))
        self.selective = nn.Linear(inner, rank + 2 * self.STATES, bias=False)
        self.step = nn.Parameter(torch.empty(inner, rank).uniform_(-1, 1) / math.sqrt(rank))
        first = torch.exp(torch.empty(inner).uniform_(math.log(self.SHORTEST), math.log(self.LONGEST)))
        self.step_bias = nn.Parameter(first + torch.log(-torch.expm1(-first)))  # its softplus is `first`
        self.log_decay = nn.Parameter(torch.arange(1.0, self.STATES + 1).log().repeat(inner, 1))
        self.skip = nn.Parameter(torch.ones(inner))

    def read(self, x: Float[Tensor, "B n D"], valid: Bool[Tensor, "B n"], state: State) -> Float[Tensor, "B n D"]:
        u, gate = (self.into(x) * valid[..., None]).chunk(2, dim=-1)
        u = F.silu(self._convolved(u, state)) * valid[..., None]
        split = [self.step.shape[1], self.STATES, self.STATES]
        rates, to_state, from_state = self.selective(u).split(split, dim=-1)
        dt = F.softplus(rates @ self.step.mT + self.step_bias) * valid[..., None]
        decay = -self.log_decay.exp()
        h = state.get("h", x.new_zeros(*u[:, 0].shape, self.STATES))
        outputs = []
        steps = zip(*(part.unbind(1) for part in (u, dt, to_state, from_state)), strict=True)
        for token, own_dt, b, c in steps:
            h = torch.exp(own_dt[..., None] * decay) * h + (own_dt * token)[..., None] * b[:, None]
            outputs.append((h @ c[..., None])[..., 0])
        state["h"] = h
        return self.out((torch.stack(outputs, dim=1) + self.skip * u) * F.silu(gate))

    def _convolved(self, u: Float[Tensor, "B n E"], state: State) -> Float[Tensor, "B n E"]:
        before = state.get("u", u.new_zeros(u.shape[0], self.WIDTH - 1, u.shape[2]))
        every = torch.cat([before, u], dim=1)
        state["u"] = every[:, -(self.WIDTH - 1) :]
        return (every.unfold(1, self.WIDTH, 1) * self.convolution).sum(-1) + self.convolution_bias

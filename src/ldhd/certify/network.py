"""The network on contexts: the state that attention leaves is a sum of one vector for each visible token."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ldhd.certify.contexts import Contexts, digits_at, right_tokens
from ldhd.certify.heads import Head, attention_of
from ldhd.certify.rounding import FUNCTION, UNIT, Affine, gamma, gelu, gelu_error, normalised, normalising_error
from ldhd.certify.shapes import View
from ldhd.model import GPT
from ldhd.model.gpt import MLP, Block
from ldhd.tasks.tokens import CHARACTERS

Array = NDArray[np.float64]

FAINT = 1e-5
"""How little a digit can move the state for its slot to be bounded instead of enumerated."""

CHUNK = 8192
"""Contexts that are computed at once."""


@dataclass(frozen=True)
class Attended:
    """The state after attention as a function of a context."""

    base: Array
    """What the delimiters and the biases contribute."""
    slots: Array
    """What each digit in each slot contributes: slots x digits x dimension."""
    rounding: float
    """A bound on the error of the state in float32, `drift` included."""
    drift: float
    """A bound on what hidden keys contribute and on what faint slots change."""
    faint: frozenset[int] = frozenset()
    """Slots whose digit hardly matters; the base has the mean of what its digits contribute."""

    def without_faint(self, base: int) -> "Attended":
        """Return the same with the slots that hardly matter for the digits below `base` taken out."""
        own = self.slots[:, :base]
        mean = own.mean(1)
        radii = np.linalg.norm(own - mean[:, None], axis=-1).max(1, initial=0.0)
        faint = np.flatnonzero(radii < FAINT)
        slots = self.slots.copy()
        slots[faint] = 0.0
        moved = float(radii[faint].sum())
        base_state = self.base + mean[faint].sum(0)
        return Attended(base_state, slots, self.rounding + moved, self.drift + moved, frozenset(faint.tolist()))

    def states(self, contexts: Contexts) -> Array:
        """Return the state in each context."""
        states = np.repeat(self.base[None], len(contexts), 0)
        for slot, contributions in enumerate(self.slots):
            states += contributions[digits_at(contexts, slot)]
        return states


def attend(model: GPT, heads: list[Head], view: View) -> Attended:
    """Return the state after attention in a view, whose classes alone determine the weights."""
    embedded = model.tokens.weight.detach().double().numpy()
    base = attention_of(model).out.bias.detach().double().numpy().copy()
    slots = np.zeros((view.slots, 10, len(base)))
    drift, rounding = 0.0, gamma(4) * (np.linalg.norm(base) + np.linalg.norm(embedded, axis=1).max())
    for head, keys in zip(heads, view.keys, strict=True):
        total = head.null + sum(head.weights[m] for m, _ in keys)
        sizes = np.linalg.norm(head.values, axis=1)
        for m, source in keys:
            share = head.weights[m] / total
            if isinstance(source, str):
                rows = [CHARACTERS.index(source)]
                base += share * head.values[rows[0]]
            else:
                rows = list(range(10))
                slots[source] += share * head.values[:10]
            relative = 2.1 * head.logit_error + (2 * FUNCTION + 64) * UNIT
            rounding += share * (relative * sizes[rows].max() + head.value_errors[rows].max())
        drift += 2 * head.hidden * float(sizes.max())
    if isinstance(view.query, str):
        base += embedded[CHARACTERS.index(view.query)]
    else:
        slots[view.query] += embedded[:10]
    return Attended(base, slots, float(rounding) + drift, drift)


class Network:
    """What follows the attention, in float64, with bounds on the errors of float32."""

    def __init__(self, model: GPT):
        block = model.blocks[0]
        assert isinstance(block, Block)
        self.layers = []
        for norm, mlp in block.mlps():
            assert isinstance(norm, torch.nn.LayerNorm)
            assert isinstance(mlp, MLP)
            first, last = mlp[0], mlp[2]
            assert isinstance(first, torch.nn.Linear)
            assert isinstance(last, torch.nn.Linear)
            self.layers.append((norm.eps, Affine(first, norm), Affine(last)))
        self.epsilon = model.norm.eps
        tokens = model.tokens.weight.detach().double()
        self.tokens = tokens * model.norm.weight.detach().double()
        self.offsets = tokens @ model.norm.bias.detach().double()
        self.stretch = torch.cdist(self.tokens, self.tokens) * (1 + 1e-9)
        shift = tokens.abs() @ model.norm.bias.detach().double().abs()
        self.sizes = self.tokens.norm(dim=1), shift

    @torch.inference_mode()
    def judge(self, attended: Attended, contexts: Contexts, unit: float = UNIT) -> tuple[Array, Array]:
        """Return the smallest margin of the right token in each context, and a bound on its error in float32.

        With `unit` 0 it is the error in exact arithmetic, from hidden keys and faint slots alone.
        """
        error = attended.rounding if unit else attended.drift
        parts = []
        for first in range(0, len(contexts), CHUNK):
            own = contexts[first : first + CHUNK]
            right = torch.from_numpy(right_tokens(own))
            parts.append(self._judge(torch.from_numpy(attended.states(own)), right, error, unit))
        margins, errors = (torch.cat(column).numpy() for column in zip(*parts, strict=True))
        return margins, errors

    @torch.inference_mode()
    def logits(self, state: Array) -> Array:
        """Return the logits after one state."""
        x = torch.from_numpy(state)[None]
        for epsilon, widen, narrow in self.layers:
            x = x + narrow(gelu(widen(normalised(x, epsilon))))
        logits: Array = (normalised(x, self.epsilon) @ self.tokens.T + self.offsets)[0].numpy()
        return logits

    def _judge(self, x: Tensor, right: Tensor, start: float, unit: float) -> tuple[Tensor, Tensor]:
        error = torch.full((len(x), 1), start, dtype=x.dtype)
        for epsilon, widen, narrow in self.layers:
            hidden, own = normalised(x, epsilon), normalising_error(x, error, epsilon, unit)
            wide, own = widen(hidden), widen.error(hidden, own, unit)
            active, own = gelu(wide), gelu_error(wide, own, unit)
            added, own = narrow(active), narrow.error(active, own, unit)
            x = x + added
            error = error + own + 2 * unit * x.norm(dim=-1, keepdim=True)
        final, error = normalised(x, self.epsilon), normalising_error(x, error, self.epsilon, unit)
        logits = final @ self.tokens.T + self.offsets
        margins = logits.gather(1, right[:, None]) - logits
        margins.scatter_(1, right[:, None], torch.inf)
        size, shift = self.sizes
        magnitude = final.norm(dim=-1, keepdim=True) * (size[right][:, None] + size) + shift[right][:, None] + shift
        errors = self.stretch[right] * error + gamma(final.shape[-1] + 4, unit) * magnitude
        # the token that comes closest when the errors are taken off
        closest = (margins - errors).argmin(1, keepdim=True)
        # where a norm could divide by 0, infinities cancel: nothing is known
        return margins.amin(1), errors.gather(1, closest)[:, 0].nan_to_num(nan=torch.inf)

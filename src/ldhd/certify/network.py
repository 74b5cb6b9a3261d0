"""The network on contexts: the state that attention leaves is a sum of one vector for each visible token."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ldhd.certify.contexts import Contexts, digits_at, right_tokens
from ldhd.certify.heads import Head, attention_of
from ldhd.certify.rounding import FUNCTION, UNIT, Error, Normalised, Residual, Steps, gamma, normalise, normalised
from ldhd.certify.shapes import View
from ldhd.model import GPT
from ldhd.model.gpt import MLP, Block
from ldhd.tasks.tokens import CHARACTERS

Array = NDArray[np.float64]

CHUNK = 4096
"""Contexts that are computed at once, or vectors of what perturbs them."""

FAINT = 1e-4
"""How little a digit can move the state for the norm of that to be all that is followed."""

CLEAR = 0.25
"""An error bound below this share of its margin is good enough; another one is computed more tightly."""


@dataclass(frozen=True)
class Attended:
    """The state after attention as a function of a context."""

    base: Array
    """What the delimiters and the biases contribute."""
    slots: Array
    """What each digit in each slot contributes: slots x digits x dimension."""
    rounding: float
    """A bound on the norm of the error of the state in float32, `drift` included."""
    drift: float
    """A bound on the norm of what hidden keys contribute."""
    spread: Array | None = None
    """How far each digit in each slot that is bounded instead of enumerated moves the state from the mean, which the
    base contains: bounded slots x digits x dimension. Of those that move it by little only the norm is in `drift`."""

    def radii(self, digits: int) -> Array:
        """Return how far a digit below `digits` in each slot can move the state from the mean."""
        own = self.slots[:, :digits]
        found: Array = np.linalg.norm(own - own.mean(1, keepdims=True), axis=-1).max(1, initial=0.0)
        return found

    def enumerating(self, slots: Sequence[int], digits: int) -> "Attended":
        """Return the same with these slots alone, in this order; the others are bounded, for digits below `digits`."""
        own = np.delete(self.slots, slots, 0)[:, :digits]
        spread = own - own.mean(1, keepdims=True)
        radii = np.linalg.norm(spread, axis=-1).max(1, initial=0.0)
        faint = float(radii[radii < FAINT].sum())
        return replace(
            self,
            base=self.base + own.mean(1).sum(0),
            slots=self.slots[list(slots)],
            spread=spread[radii >= FAINT],
            rounding=self.rounding + faint,
            drift=self.drift + faint,
        )

    def lines(self) -> Tensor:
        """Return `spread`, of no slots where all are enumerated."""
        return (
            torch.zeros(0, 1, len(self.base), dtype=torch.float64) if self.spread is None else torch.tensor(self.spread)
        )

    def error(self, rows: int, unit: float) -> Error:
        """Return the difference to the state with other digits in the bounded slots and with other errors."""
        rest = torch.full((rows, 1), self.rounding if unit else self.drift, dtype=torch.float64)
        return Error(self.lines().expand(rows, -1, -1, -1), rest)

    def moves(self, gradient: Tensor, unit: float) -> Tensor:
        """Return a bound on how far the same can move a number with this gradient with respect to the state."""
        moved = gradient.norm(dim=-1) * (self.rounding if unit else self.drift)
        for directions in self.lines():
            moved = moved + (gradient @ directions.T).abs().amax(-1)
        return moved

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
        # logits that are off by e move a share p by at most p (1 - p) (exp(2 e) - 1)
        bends = np.expm1(2 * (head.logit_error + FUNCTION * UNIT))
        for m, source in keys:
            share = head.weights[m] / total
            if isinstance(source, str):
                rows = [CHARACTERS.index(source)]
                base += share * head.values[rows[0]]
            else:
                rows = list(range(10))
                slots[source] += share * head.values[:10]
            off = share * (1 - share) * bends + share * (64 + FUNCTION) * UNIT
            rounding += off * sizes[rows].max() + share * head.value_errors[rows].max()
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
            self.layers.append(Residual(norm, first, last))
        self.epsilon = model.norm.eps
        tokens = model.tokens.weight.detach().double()
        self.tokens = tokens * model.norm.weight.detach().double()
        self.offsets = tokens @ model.norm.bias.detach().double()
        self.stretch = torch.cdist(self.tokens, self.tokens) * (1 + 1e-9)
        self.sizes = self.tokens.norm(dim=1), tokens.abs() @ model.norm.bias.detach().double().abs()

    @torch.inference_mode()
    def judge(self, attended: Attended, contexts: Contexts, unit: float = UNIT) -> tuple[Array, Array]:
        """Return the smallest margin of the right token in each context, and a bound on its error in float32.

        The error counts all digits in bounded slots. With `unit` 0 it is that of exact arithmetic, from hidden keys and
        bounded slots alone.
        """
        size = max(1, CHUNK * 4 // (4 + attended.lines().shape[:2].numel()))
        parts = [self._judge(attended, contexts[first : first + size], unit) for first in range(0, len(contexts), size)]
        margins, errors = (torch.cat(column).numpy() for column in zip(*parts, strict=True))
        return margins, errors

    @torch.inference_mode()
    def logits(self, state: Array) -> Array:
        """Return the logits after one state."""
        x = torch.from_numpy(state)[None]
        for layer in self.layers:
            x = layer(x)
        logits: Array = (normalised(x, self.epsilon) @ self.tokens.T + self.offsets)[0].numpy()
        return logits

    def _judge(self, attended: Attended, contexts: Contexts, unit: float) -> tuple[Tensor, Tensor]:
        x, right = torch.from_numpy(attended.states(contexts)), torch.from_numpy(right_tokens(contexts))
        error = attended.error(len(x), unit)
        steps = []
        for layer in self.layers:
            x, error, own = layer.bounded(x, error, unit)
            steps.append(own)
        norm = normalise(x, error, self.epsilon, unit)
        logits = norm.output @ self.tokens.T + self.offsets
        margins = logits.gather(1, right[:, None]) - logits
        margins.scatter_(1, right[:, None], torch.inf)
        size, shift = self.sizes
        magnitude = norm.output.norm(dim=-1, keepdim=True) + norm.error.norm()
        magnitude = magnitude * (size[right][:, None] + size) + shift[right][:, None] + shift
        rounding = gamma(x.shape[-1] + 4, unit) * magnitude
        errors = self.stretch[right] * norm.error.norm() + rounding
        for pairs in ((margins > 0) & ~(errors < CLEAR * margins)).nonzero().split(CHUNK):
            rows, rivals = pairs.unbind(1)
            gradient = self.tokens[right[rows]] - self.tokens[rivals]
            traced = self._traced(attended, gradient, norm, steps, rows, unit) + rounding[rows, rivals]
            errors[rows, rivals] = errors[rows, rivals].minimum(traced.nan_to_num(nan=torch.inf))
        # the token that comes closest when the errors are taken off
        closest = (margins - errors).argmin(1, keepdim=True)
        # where a norm could divide by 0, infinities cancel: nothing is known
        return margins.amin(1), errors.gather(1, closest)[:, 0].nan_to_num(nan=torch.inf)

    def _traced(
        self, attended: Attended, gradient: Tensor, norm: Normalised, steps: list[Steps], rows: Tensor, unit: float
    ) -> Tensor:
        """Return bounds on the errors of margins, each with its gradient with respect to the output of the norm."""
        errors = gradient.norm(dim=-1) * norm.added[rows, 0]
        gradient = norm.back(gradient, rows)
        for layer, own in zip(self.layers[::-1], steps[::-1], strict=True):
            added, gradient = layer.back(gradient, own, rows)
            errors = errors + added
        return errors + attended.moves(gradient, unit)

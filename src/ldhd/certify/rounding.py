"""How far float32 can be from the exact result, whatever the order of its sums (Higham 2002, chapters 3 and 4).

Two bounds are computed for each context. On the way forward, the norm of the error of every hidden state: a layer
multiplies what comes in by how much it stretches differences *in this context* and adds its own rounding. On the way
back, the error of one margin: the difference of two computations, one exact and one perturbed, is a sum of what is
added at each step (rounding, and what the linear part of the step leaves out) times the derivative of the margin with
respect to that step. That is an identity, no approximation; the forward bounds say how large the second part can be.

Assumed is IEEE float32 with rounding to nearest, and that exp, sigmoid and the square root are right to `FUNCTION`
units.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

UNIT = 2.0**-24
FUNCTION = 16
GELU_SLOPE = 1.13
"""The largest slope of GELU, in absolute value."""
GELU_CURVATURE = 0.8
"""The largest second derivative of GELU, in absolute value."""


def gamma(terms: int, unit: float = UNIT) -> float:
    """Return the relative error of a sum of so many rounded products, in any order; `unit` is 0 in exact arithmetic."""
    return terms * unit / (1 - terms * unit)


def largest_stretch(weight: Tensor) -> float:
    """Return the spectral norm of a matrix."""
    return float(torch.linalg.matrix_norm(weight, 2)) * (1 + 1e-9)


def normalised(x: Tensor, epsilon: float) -> Tensor:
    """Return (x - mean) / deviation of each row."""
    return nn.functional.layer_norm(x, x.shape[-1:], eps=epsilon)


@dataclass(frozen=True)
class Normalised:
    """(x - mean) / deviation of each row, and bounds on the norms of its errors where x itself has errors."""

    output: Tensor
    deviation: Tensor
    error: Tensor
    added: Tensor
    """The part of the error that is no linear function of those of x: rounding, and what the derivative leaves out."""

    def back(self, gradient: Tensor, rows: Tensor) -> Tensor:
        """Return the gradient with respect to x of some rows, given that with respect to the output."""
        output, deviation = self.output[rows], self.deviation[rows]
        along = output * (output * gradient).mean(-1, keepdim=True)
        return (gradient - gradient.mean(-1, keepdim=True) - along) / deviation


def normalise(x: Tensor, errors: Tensor | float, epsilon: float, unit: float = UNIT) -> Normalised:
    """Normalise the rows of x, which have `errors`.

    The computed mean is off by at most gamma(d) times the root mean square of x, the variance by a share of d units
    times that over the deviation. The function v / sqrt(|v|^2 + c) has a derivative of at most 1 / s and a second one
    of at most 2 / (sqrt(3) s^2) where s is the smallest value of that root.
    """
    d = x.shape[-1]
    deviation = (x.var(-1, correction=0, keepdim=True) + epsilon).sqrt()
    least = deviation - errors / d**0.5
    least = torch.where(least > 0, least, torch.nan)
    size = (x.norm(dim=-1, keepdim=True) + errors) / d**0.5
    rounding = (2 * d * size / least + FUNCTION) * unit * d**0.5
    bends = errors * errors / (d**0.5 * least * least)
    # where the norm could divide by 0, nothing is known
    error, added = ((part + rounding).nan_to_num(nan=torch.inf) for part in (errors / least, bends))
    return Normalised(normalised(x, epsilon), deviation, error, added)


class Affine:
    """A linear layer in float64, the norm before it folded in, with the numbers that bound its errors."""

    def __init__(self, layer: nn.Linear, norm: nn.LayerNorm | None = None):
        weight, bias = layer.weight.detach().double(), layer.bias.detach().double()
        self.sizes, self.offsets = weight.abs(), bias.abs()
        if norm is not None:
            scale, shift = norm.weight.detach().double(), norm.bias.detach().double()
            self.sizes, self.offsets = weight.abs() * scale.abs(), weight.abs() @ shift.abs() + bias.abs()
            weight, bias = weight * scale, weight @ shift + bias
        self.weight, self.bias = weight, bias
        self.stretch, self.lengths = largest_stretch(weight), weight.norm(dim=1)
        self.terms = weight.shape[1] + 4

    def __call__(self, x: Tensor) -> Tensor:
        return x @ self.weight.T + self.bias

    def rounding(self, size: Tensor, unit: float) -> Tensor:
        """Return a bound on the rounding error of each output, given bounds on the inputs' absolute values."""
        return gamma(self.terms, unit) * (size @ self.sizes.T + self.offsets)


@dataclass(frozen=True)
class Steps:
    """What happened in a `Residual`, for the way back: bounds on what is added to each step beside its linear part."""

    norm: Normalised
    slopes: Tensor
    at_wide: Tensor
    at_active: Tensor
    at_output: Tensor


class Residual:
    """x + narrow(gelu(widen(normalised x))), with bounds on its errors."""

    def __init__(self, norm: nn.LayerNorm, first: nn.Linear, last: nn.Linear):
        self.epsilon = norm.eps
        self.widen, self.narrow = Affine(first, norm), Affine(last)
        # s.M.s is the squared Frobenius norm of V diag(s) W
        narrow, wide = self.narrow.weight, self.widen.weight
        self.product = (narrow.T @ narrow) * (wide @ wide.T)

    def __call__(self, x: Tensor) -> Tensor:
        return x + self.narrow(gelu(self.widen(normalised(x, self.epsilon))))

    def bounded(self, x: Tensor, error: Tensor, unit: float) -> tuple[Tensor, Tensor, Steps]:
        """Return the output, a bound on the norm of its error where x has one of norm `error`, and the steps."""
        norm = normalise(x, error, self.epsilon, unit)
        wide = self.widen(norm.output)
        at_wide = self.widen.rounding(norm.output.abs() + norm.error, unit)
        moved = self.widen.lengths * norm.error + at_wide
        # by the mean value theorem the change of GELU is a slope times `moved`, the slope one from nearby
        slopes, turned = gelu_slope(wide), (GELU_CURVATURE * moved).clamp(max=2 * GELU_SLOPE)
        largest = (slopes.abs() + turned).clamp(max=GELU_SLOPE)
        active, rounded = gelu(wide), FUNCTION * unit * (wide.abs() + moved)
        output = x + self.narrow(active)
        at_output = self.narrow.rounding(active.abs() + largest * moved + rounded, unit)
        stretch = _root(slopes, self.product) + _root(turned, self.product.abs())
        own = stretch * norm.error + self.narrow.stretch * _length(largest * at_wide + rounded) + _length(at_output)
        # the two sums of the residual stream
        at_output = at_output + 2 * unit * (output.abs() + error + own)
        steps = Steps(norm, slopes, at_wide, rounded + GELU_CURVATURE / 2 * moved * moved, at_output)
        return output, error + own + 2 * unit * (_length(output) + error + own), steps

    def back(self, gradient: Tensor, steps: Steps, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the steps of some rows add to the error of a margin, and the gradient with respect to x."""
        added = (gradient.abs() * steps.at_output[rows]).sum(-1)
        inner = gradient @ self.narrow.weight
        added = added + (inner.abs() * steps.at_active[rows]).sum(-1)
        inner = inner * steps.slopes[rows]
        added = added + (inner.abs() * steps.at_wide[rows]).sum(-1)
        inner = inner @ self.widen.weight
        added = added + inner.norm(dim=-1) * steps.norm.added[rows, 0]
        return added, gradient + steps.norm.back(inner, rows)


def gelu(x: Tensor) -> Tensor:
    return nn.functional.gelu(x, approximate="tanh")


def gelu_slope(x: Tensor) -> Tensor:
    """Return the derivative of `gelu`."""
    inside = (2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)
    bend = (2 / torch.pi) ** 0.5 * (1 + 3 * 0.044715 * x**2)
    share = torch.sigmoid(2 * inside)
    return share + 2 * x * share * (1 - share) * bend


def _length(x: Tensor) -> Tensor:
    return x.norm(dim=-1, keepdim=True)


def _root(x: Tensor, product: Tensor) -> Tensor:
    # a little more than 0, where rounding of the sum could hide something
    return ((x @ product * x).sum(-1, keepdim=True).clamp(min=0) + 1e-12 * product.abs().sum()).sqrt()

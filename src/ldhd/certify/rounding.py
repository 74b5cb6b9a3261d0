"""How far float32 can be from the exact result, whatever the order of its sums (Higham 2002, chapters 3 and 4).

Two bounds are computed for each context. On the way forward, the error of every hidden state: what each value of a few
unknown digits changes, as a vector that goes through the linear part of each layer *in this context*, and the norm of
all the rest: rounding, and what the linear part of a layer leaves out. On the way back, the error of one margin: the
difference of two computations, one exact and one perturbed, is a sum of what is added at each step beside its linear
part, times the derivative of the margin with respect to that step. That is an identity, no approximation; the forward
bounds say how much can be added.

Assumed is IEEE float32 with rounding to nearest, and that exp, sigmoid and the square root are right to `FUNCTION`
units.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

UNIT = 2.0**-24
FUNCTION = 16
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
class Error:
    """A bound on what perturbs the rows of x: one vector of each group of `lines`, and any vector of norm `rest`."""

    lines: Tensor
    """Rows x groups x vectors of a group x dimension."""
    rest: Tensor
    """Rows x 1."""

    def norm(self) -> Tensor:
        """Return a bound on the norm of all of it."""
        return self.lines.norm(dim=-1).amax(-1).sum(-1, keepdim=True) + self.rest


@dataclass(frozen=True)
class Normalised:
    """(x - mean) / deviation of each row, with the error that it has where x has one."""

    output: Tensor
    deviation: Tensor
    error: Error
    added: Tensor
    """A bound on the norm of the part of the error that is no linear function of that of x: rounding, and what the
    derivative leaves out."""

    def back(self, gradient: Tensor, rows: Tensor) -> Tensor:
        """Return the gradient with respect to x of some rows, given that with respect to the output."""
        return _normalising_derivative(gradient, self.output[rows], self.deviation[rows])


def normalise(x: Tensor, error: Error, epsilon: float, unit: float = UNIT) -> Normalised:
    """Normalise the rows of x.

    The computed mean is off by at most gamma(d) times the root mean square of x, the variance by a share of d units
    times that over the deviation. The function v / sqrt(|v|^2 + c) has a derivative of at most 1 / s and a second one
    of at most 2 / (sqrt(3) s^2) where s is the smallest value of that root.
    """
    d = x.shape[-1]
    deviation = (x.var(-1, correction=0, keepdim=True) + epsilon).sqrt()
    norm = error.norm()
    least = deviation - norm / d**0.5
    least = torch.where(least > 0, least, torch.nan)
    size = (x.norm(dim=-1, keepdim=True) + norm) / d**0.5
    added = (2 * d * size / least + FUNCTION) * unit * d**0.5 + norm * norm / (d**0.5 * least * least)
    added = added.nan_to_num(nan=torch.inf)  # where the norm could divide by 0, nothing is known
    output = normalised(x, epsilon)
    lines = _normalising_derivative(error.lines, output[:, None, None], deviation[:, None, None])
    return Normalised(output, deviation, Error(lines, error.rest / deviation + added), added)


def _normalising_derivative(x: Tensor, output: Tensor, deviation: Tensor) -> Tensor:
    """Multiply by the derivative of `normalised`, which is symmetric."""
    return (x - x.mean(-1, keepdim=True) - output * (output * x).mean(-1, keepdim=True)) / deviation


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

    def bounded(self, x: Tensor, error: Error, unit: float) -> tuple[Tensor, Error, Steps]:
        """Return the output, the error that it has where x has one, and the steps."""
        norm = normalise(x, error, self.epsilon, unit)
        wide, lines = self.widen(norm.output), norm.error.lines @ self.widen.weight.T
        at_wide = self.widen.rounding(norm.output.abs() + norm.error.norm(), unit)
        moved = lines.abs().amax(-2).sum(-2) + self.widen.lengths * norm.error.rest + at_wide
        slopes, active = gelu_slope(wide), gelu(wide)
        at_active = FUNCTION * unit * (wide.abs() + moved) + GELU_CURVATURE / 2 * moved * moved
        output = x + self.narrow(active)
        at_output = self.narrow.rounding(active.abs() + slopes.abs() * moved + at_active, unit)
        stretch = (slopes @ self.product * slopes).sum(-1, keepdim=True).clamp(min=0).sqrt() * (1 + 1e-9) + 1e-9
        rest = error.rest + stretch * norm.error.rest
        rest = rest + self.narrow.stretch * _length(slopes.abs() * at_wide + at_active)
        lines = error.lines + (slopes[:, None, None] * lines) @ self.narrow.weight.T
        # the two sums of the residual stream round, too
        size = output.abs() + lines.abs().amax(-2).sum(-2) + rest + _length(at_output)
        at_output = at_output + 2 * unit * size
        steps = Steps(norm, slopes, at_wide, at_active, at_output)
        return output, Error(lines, rest + _length(at_output)), steps

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

"""How far float32 can be from the exact result, whatever the order of its sums (Higham 2002, chapters 3 and 4).

An error is a bound on the norm of the difference of two vectors. A layer multiplies what comes in by how much it can
stretch differences, and adds its own rounding. Assumed is IEEE float32 with rounding to nearest, and that exp, sigmoid
and the square root are right to `FUNCTION` units.
"""

import torch
from torch import Tensor, nn

UNIT = 2.0**-24
FUNCTION = 16
GELU_SLOPE = 1.13
"""The largest slope of GELU, in absolute value."""


def gamma(terms: int, unit: float = UNIT) -> float:
    """Return the relative error of a sum of so many rounded products, in any order; `unit` is 0 in exact arithmetic."""
    return terms * unit / (1 - terms * unit)


def largest_stretch(weight: Tensor) -> float:
    """Return the spectral norm of a matrix."""
    return float(torch.linalg.matrix_norm(weight, 2)) * (1 + 1e-9)


def normalised(x: Tensor, epsilon: float) -> Tensor:
    """Return (x - mean) / deviation of each row."""
    return nn.functional.layer_norm(x, x.shape[-1:], eps=epsilon)


def normalising_error(x: Tensor, errors: Tensor | float, epsilon: float, unit: float = UNIT) -> Tensor:
    """Return the errors of `normalised(x)` where x itself has `errors`.

    The computed mean is off by at most gamma(d) times the root mean square of x, the variance by a share of d units
    times that over the deviation.
    """
    d = x.shape[-1]
    deviation = (x.var(-1, correction=0, keepdim=True) + epsilon).sqrt()
    least = deviation - errors / d**0.5
    stretched = torch.where(least > 0, errors / least.clamp(min=1e-300), torch.inf)
    return stretched + (2 * d * x.norm(dim=-1, keepdim=True) / d**0.5 / deviation + FUNCTION) * unit * d**0.5


class Affine:
    """A linear layer in float64, the norm before it folded in, with the numbers that bound its errors."""

    def __init__(self, layer: nn.Linear, norm: nn.LayerNorm | None = None):
        weight, bias = layer.weight.detach().double(), layer.bias.detach().double()
        size = (weight.abs(), bias.abs())
        if norm is not None:
            scale, shift = norm.weight.detach().double(), norm.bias.detach().double()
            size = weight.abs() * scale.abs(), weight.abs() @ shift.abs() + bias.abs()
            weight, bias = weight * scale, weight @ shift + bias
        self.weight, self.bias = weight, bias
        self.stretch, self.rounding, self.offset = (
            largest_stretch(weight),
            largest_stretch(size[0]),
            float(size[1].norm()),
        )
        self.terms = weight.shape[1] + 4

    def __call__(self, x: Tensor) -> Tensor:
        return x @ self.weight.T + self.bias

    def error(self, x: Tensor, errors: Tensor, unit: float) -> Tensor:
        """Return the errors of the output, given the exact input and its errors."""
        return self.stretch * errors + gamma(self.terms, unit) * (
            self.rounding * (x.norm(dim=-1, keepdim=True) + errors) + self.offset
        )


def gelu(x: Tensor) -> Tensor:
    return nn.functional.gelu(x, approximate="tanh")


def gelu_error(x: Tensor, errors: Tensor, unit: float) -> Tensor:
    return GELU_SLOPE * errors + FUNCTION * unit * (x.norm(dim=-1, keepdim=True) + errors)

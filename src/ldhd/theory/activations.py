"""Activations of random feature models, and their products averaged over Gaussian arguments.

A feature is sigma(a) with a Gaussian, so the kernel of infinitely many features needs only

    E[sigma(a) sigma(b)],    (a, b) ~ N(0, [[p, c], [c, q]]),

for which some activations have a formula and all others get quadrature.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Per Gaussian variable. Exact for polynomials of degree < 200; error about 1e-9 for tanh at variance 1.
QUADRATURE_NODES = 100


@dataclass(frozen=True)
class Activation:
    """sigma, and its mean product as a function of the arrays p, q, c where a formula is known."""

    name: str
    function: Callable[[Floats], Floats]
    formula: Callable[[Floats, Floats, Floats], Floats] | None = None

    def __call__(self, values: Floats) -> Floats:
        return self.function(values)

    def mean_product(self, first: Floats, second: Floats, covariance: Floats) -> Floats:
        """E[sigma(a) sigma(b)] for a, b with these variances and covariances, elementwise."""
        if self.formula is not None:
            return self.formula(first, second, covariance)
        return mean_product_by_quadrature(self.function, first, second, covariance)


def mean_product_by_quadrature(
    function: Callable[[Floats], Floats], first: Floats, second: Floats, covariance: Floats
) -> Floats:
    """E[sigma(a) sigma(b)] by Gauss-Hermite quadrature in a and in what a does not explain of b.

    Accurate for smooth activations only: a kink as ReLU's costs all but about three digits.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(QUADRATURE_NODES)
    weights = weights / np.sum(weights)
    result = np.empty(np.shape(covariance))
    for index in np.ndindex(result.shape):
        p, q, c = first[index], second[index], covariance[index]
        explained = c / np.sqrt(p) * nodes[:, None]
        rest = np.sqrt(np.maximum(q - c**2 / p, 0)) * nodes[None, :]
        result[index] = (weights * function(np.sqrt(p) * nodes)) @ (function(explained + rest) @ weights)
    return result


def polynomial(degree: int) -> Activation:
    """(1 + x)^degree, strongly expressive up to that degree (Abbe et al., arXiv 2301.13105) and silent beyond it."""
    if degree < 0:
        raise ValueError(f"the degree of a polynomial is a whole number from 0 up, got {degree!r}")
    return Activation(f"(1+x)^{degree}", lambda values: (1 + values) ** degree)


def _relu_formula(first: Floats, second: Floats, covariance: Floats) -> Floats:
    """sqrt(pq) (sin t + (pi - t) cos t) / 2 pi with cos t the correlation (Cho and Saul, 2009)."""
    scale = np.sqrt(first * second)
    cosine = np.clip(covariance / scale, -1, 1)
    angle = np.arccos(cosine)
    return scale * (np.sin(angle) + (np.pi - angle) * cosine) / (2 * np.pi)


def _shifted_sine_formula(first: Floats, second: Floats, covariance: Floats) -> Floats:
    """sin a sin b is half of cos(a - b) - cos(a + b), and E[cos(g + m)] = exp(-var(g)/2) cos(m)."""
    half = (first + second) / 2
    return (np.exp(covariance - half) - np.cos(2.0) * np.exp(-covariance - half)) / 2


RELU = Activation("relu", lambda values: np.maximum(values, 0), _relu_formula)
EXPONENTIAL = Activation("exp", np.exp, lambda first, second, covariance: np.exp((first + second) / 2 + covariance))
SHIFTED_SINE = Activation("sin(1+x)", lambda values: np.sin(1 + values), _shifted_sine_formula)
TANH = Activation("tanh", np.tanh)
ACTIVATIONS = {activation.name: activation for activation in (RELU, EXPONENTIAL, SHIFTED_SINE, TANH)}

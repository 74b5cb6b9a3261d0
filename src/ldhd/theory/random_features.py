"""Random feature models with projection (Definition 4), trained from zero by gradient descent.

    f(x; a) = sum over k of a_k phi_k(x),    phi_k(x) = sigma(<w_k, V^T x> + b_k) / sqrt(K),

with w_k ~ N(0, I_r / r) and b_k ~ N(0, 1 / r) fixed and a trained on the loss

    L(a) = 1 / (2 m) sum over the m training points of (f(x; a) - y)^2.

The plain random feature model (RFM) is V = I.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ldhd.boolean.projection import check_orthonormal
from ldhd.theory.activations import Activation, Floats
from ldhd.theory.feature_kernel import check_training_set


@dataclass(frozen=True, eq=False)
class RandomFeatures:
    """K sampled features: `weights` has shape (K, r), `biases` (K,), V (N, r)."""

    activation: Activation
    V: Floats
    weights: Floats
    biases: Floats

    @property
    def count(self) -> int:
        return len(self.biases)

    def __call__(self, points: Any) -> Floats:
        """[i, k] = phi_k(points[i])."""
        projections = np.asarray(points, np.float64) @ self.V
        return self.activation(projections @ self.weights.T + self.biases) / np.sqrt(self.count)


def sample_features(activation: Activation, V: Any, count: int, generator: np.random.Generator) -> RandomFeatures:
    """Draw K = `count` features."""
    V = check_orthonormal(np.asarray(V))
    if count < 1:
        raise ValueError(f"the number K of features is a whole number from 1 up, got {count!r}")
    deviation = 1 / np.sqrt(V.shape[1])
    weights = generator.normal(scale=deviation, size=(count, V.shape[1]))
    return RandomFeatures(activation, V, weights, generator.normal(scale=deviation, size=count))


@dataclass(frozen=True, eq=False)
class FeatureModel:
    """f(x; a), with the largest error on its training points and the steps of descent taken (0 if solved directly)."""

    features: RandomFeatures
    a: Floats
    residual: float
    steps: int = 0

    def __call__(self, points: Any) -> Floats:
        return self.features(points) @ self.a


def minimum_norm(features: RandomFeatures, points: Any, values: Any) -> FeatureModel:
    """The limit of gradient descent from zero: the least squares solution of least ||a||."""
    points, values = check_training_set(points, values, len(features.V))
    matrix = features(points)
    a = np.linalg.lstsq(matrix, values, rcond=None)[0]
    return FeatureModel(features, a, float(np.max(np.abs(matrix @ a - values))))


def train(
    features: RandomFeatures, points: Any, values: Any, tolerance: float = 1e-8, max_steps: int = 1_000_000
) -> FeatureModel:
    """Gradient descent from a = 0 with step 1 / (largest curvature), until ||grad L|| is `tolerance` of what it was.

    From zero, a never leaves the span of the m rows phi(x_i): a = phi(X)^T c. Descent on a is

        c <- c - (rate / m) (G c - y),    G = phi(X) phi(X)^T,

    the same iterates for m numbers instead of K. RuntimeError if `max_steps` do not suffice.
    """
    points, values = check_training_set(points, values, len(features.V))
    if not tolerance > 0:
        raise ValueError(f"the tolerance is a positive number, got {tolerance!r}")
    matrix = features(points)
    gram = matrix @ matrix.T
    step = 1 / np.linalg.eigvalsh(gram)[-1]  # the curvature is that of G / m, and the gradient has the 1 / m too
    c = np.zeros(len(values))
    goal = (tolerance**2) * (values @ gram @ values)
    for steps in range(max_steps + 1):
        difference = gram @ c - values
        if difference @ gram @ difference <= goal:  # m^2 ||grad L||^2
            return FeatureModel(features, matrix.T @ c, float(np.max(np.abs(difference))), steps)
        c -= step * difference
    raise RuntimeError(f"gradient descent has not reached the tolerance {tolerance} after {max_steps} steps")

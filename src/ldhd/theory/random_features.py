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

    def __call__(self, points: Any) -> Floats:
        """[i, k] = phi_k(points[i])."""
        projections = np.asarray(points, np.float64) @ self.V
        return self.activation(projections @ self.weights.T + self.biases) / np.sqrt(len(self.biases))


def sample_features(activation: Activation, V: Any, count: int, generator: np.random.Generator) -> RandomFeatures:
    """Draw K = `count` features."""
    V = check_orthonormal(np.asarray(V))
    if count < 1:
        raise ValueError(f"the number K of features is a whole number from 1 up, got {count!r}")
    deviation = 1 / np.sqrt(V.shape[1])
    weights = generator.normal(scale=deviation, size=(count, V.shape[1]))
    return RandomFeatures(activation, V, weights, generator.normal(scale=deviation, size=count))


def minimum_norm(features: RandomFeatures, points: Any, values: Any) -> Floats:
    """The limit a of gradient descent from zero: the least squares solution of least ||a||."""
    points, values = check_training_set(points, values, len(features.V))
    solution: Floats = np.linalg.lstsq(features(points), values, rcond=None)[0]
    return solution

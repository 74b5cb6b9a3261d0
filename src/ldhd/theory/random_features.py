"""Random feature models with projection (Definition 4), trained from zero by gradient descent.

    f(x; a) = sum over k of a_k phi_k(x),    phi_k(x) = sigma(<w_k, V^T x> + b_k) / sqrt(K),

with w_k ~ N(0, I_r / r) and b_k ~ N(0, 1 / r) fixed and a trained on the loss

    L(a) = 1 / (2 m) sum over the m training points of (f(x; a) - y)^2.

The plain random feature model (RFM) is V = I.

How far is a model of K features from its infinite-width limit? Let G be the kernel on the training points X,
beta_x = G^-1 k(X, x), alpha = G^-1 y, and for one feature sigma (not divided by sqrt K) let
e(x) = sigma(x) - beta_x . sigma(X): what its values on X do not explain at x. The limit is f = beta_x . y. With G_K,
alpha_K of the K features, y = G alpha = G_K alpha_K gives, exactly,

    f_K(x) - f(x) = h(x) . alpha_K,    h(x) = (1/K) sum over k of e_k(x) sigma_k(X),    E[h(x)] = 0.

*Typical size.* alpha_K -> alpha, so the root mean square over x of the error is about

    sqrt(E[mean over x of e(x)^2 (sigma(X) . alpha)^2] / K).

*Bound.* Whiten: psi = G^(-1/2) sigma(X), M = (1/K) sum of psi psi^T, E[M] = I. By Markov's inequality, each with
probability at least 1 - delta/2,

    mean over x of ||G^(-1/2) h(x)||^2 <= 2 E[mean over x of e(x)^2 ||psi||^2] / (delta K) = 2 A / (delta K),
    ||M - I||_F^2                     <= 2 (E||psi||^4 - m) / (delta K)                    = 2 B / (delta K),

hence with probability at least 1 - delta, once K > 2 B / delta,

    root mean square error <= sqrt(2 A / (delta K)) ||G^(-1/2) y|| / (1 - sqrt(2 B / (delta K))).

Both shrink as 1/sqrt(K). The fourth moments are estimated from an independent sample of features.
"""

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np

from ldhd.boolean.projection import check_orthonormal
from ldhd.theory.feature_kernel import Activation, Floats, feature_kernel

# The fourth moments are estimated from so many blocks of so many features.
BLOCKS, BLOCK_FEATURES = 8, 2**13


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
        return self.activation.function(projections @ self.weights.T + self.biases) / np.sqrt(len(self.biases))


def sample_features(activation: Activation, V: Any, count: int, generator: np.random.Generator) -> RandomFeatures:
    """Draw K = `count` features."""
    V = check_orthonormal(np.asarray(V))
    deviation = 1 / np.sqrt(V.shape[1])
    weights = generator.normal(scale=deviation, size=(count, V.shape[1]))
    return RandomFeatures(activation, V, weights, generator.normal(scale=deviation, size=count))


def minimum_norm(features: RandomFeatures, points: Any, values: Any) -> Floats:
    """The limit a of gradient descent from zero: the least squares solution of least ||a||."""
    solution: Floats = np.linalg.lstsq(features(points), values, rcond=None)[0]
    return solution


@dataclass(frozen=True)
class SamplingError:
    """The constants of both statements, for one training set and the test points it was made with."""

    typical_constant: float  # sqrt(E[mean e^2 (sigma . alpha)^2])
    unexplained: float  # A
    spread: float  # B
    target_norm: float  # ||G^(-1/2) y||

    def typical(self, count: int) -> float:
        """The root mean square error to expect of K features, to leading order."""
        return self.typical_constant / sqrt(count)

    def bound(self, count: int, confidence: float = 0.95) -> float:
        """What the root mean square error stays below with this probability; infinite if K is too small."""
        tail = 2 / ((1 - confidence) * count)
        shrinkage = 1 - sqrt(tail * self.spread)
        return sqrt(tail * self.unexplained) * self.target_norm / shrinkage if shrinkage > 0 else inf


def sampling_error(
    activation: Activation, V: Any, points: Any, values: Any, test_points: Any, generator: np.random.Generator
) -> SamplingError:
    """The constants for training on these values and testing on `test_points`."""
    gram = feature_kernel(activation, V, points, points)
    explained = np.linalg.solve(gram, feature_kernel(activation, V, points, test_points))
    eigenvalues, vectors = np.linalg.eigh(gram)
    whiten = vectors / np.sqrt(eigenvalues) @ vectors.T
    alpha = np.linalg.solve(gram, values)
    sums = np.zeros(3)
    for _ in range(BLOCKS):
        features = sample_features(activation, V, BLOCK_FEATURES, generator)
        train, test = (features(array).T * sqrt(BLOCK_FEATURES) for array in (points, test_points))
        errors = np.mean((test - train @ explained) ** 2, axis=1)
        lengths = np.sum((train @ whiten) ** 2, axis=1)
        sums += np.sum([errors * (train @ alpha) ** 2, errors * lengths, lengths**2], axis=1)
    typical, unexplained, fourth = (sums / (BLOCKS * BLOCK_FEATURES)).tolist()
    spread = max(fourth - len(points), 0.0)
    return SamplingError(sqrt(typical), unexplained, spread, float(np.linalg.norm(whiten @ values)))

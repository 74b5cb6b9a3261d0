"""Random feature models with projection at infinite width (Theorem 2): the kernel and its interpolator.

With w ~ N(0, I_r / r) and b ~ N(0, 1 / r) the argument <w, V^T x> + b is Gaussian with covariance

    E[(<w, V^T x> + b)(<w, V^T y> + b)] = (x^T V V^T y + 1) / r,

so the kernel k(x, y) = E[sigma sigma] knows V only through V V^T: every square orthogonal V gives the plain RFM.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.memory import check_memory
from ldhd.boolean.projection import check_orthonormal

Floats = NDArray[np.float64]

# Covariances are sums of a few products: what agrees to so many digits is the same number.
COVARIANCE_DIGITS = 12


@dataclass(frozen=True)
class Activation:
    """sigma, and E[sigma(a) sigma(b)] for (a, b) ~ N(0, [[p, c], [c, q]]) as a function of the arrays p, q, c."""

    name: str
    function: Callable[[Floats], Floats]
    mean_product: Callable[[Floats, Floats, Floats], Floats]


def _relu_mean_product(first: Floats, second: Floats, covariance: Floats) -> Floats:
    """sqrt(pq) (sin t + (pi - t) cos t) / 2 pi with cos t the correlation (Cho and Saul, 2009)."""
    scale = np.sqrt(first * second)
    cosine = np.clip(covariance / scale, -1, 1)
    angle = np.arccos(cosine)
    return scale * (np.sin(angle) + (np.pi - angle) * cosine) / (2 * np.pi)


def _shifted_sine_mean_product(first: Floats, second: Floats, covariance: Floats) -> Floats:
    """sin a sin b is half of cos(a - b) - cos(a + b), and E[cos(g + m)] = exp(-var(g)/2) cos(m)."""
    half = (first + second) / 2
    return (np.exp(covariance - half) - np.cos(2.0) * np.exp(-covariance - half)) / 2


RELU = Activation("relu", lambda values: np.maximum(values, 0), _relu_mean_product)
SHIFTED_SINE = Activation("sin(1+x)", lambda values: np.sin(1 + values), _shifted_sine_mean_product)
LINEAR = Activation("1+x", lambda values: 1 + values, lambda first, second, covariance: 1 + covariance)


def feature_kernel(activation: Activation, V: Any, points: Any, others: Any) -> Floats:
    """[i, j] = k(points[i], others[j])."""
    V = check_orthonormal(np.asarray(V))
    left, right = np.asarray(points, np.float64) @ V, np.asarray(others, np.float64) @ V
    rank = V.shape[1]
    check_memory(16 * len(left) * len(right), f"the kernel of {len(left)} x {len(right)} points")
    covariance = (left @ right.T + 1) / rank
    first = np.broadcast_to(((left**2).sum(axis=1)[:, None] + 1) / rank, covariance.shape)
    second = np.broadcast_to(((right**2).sum(axis=1) + 1) / rank, covariance.shape)
    # Arguments that differ by rounding get one value, so that kernels that are equal in theory are equal.
    arguments = np.stack([first, second, covariance], axis=-1).reshape(-1, 3)
    _, chosen, inverse = np.unique(arguments.round(COVARIANCE_DIGITS), axis=0, return_index=True, return_inverse=True)
    distinct = activation.mean_product(*arguments[chosen].T)
    return distinct[inverse.reshape(-1)].reshape(covariance.shape)


def kernel_interpolator(activation: Activation, V: Any, points: Any, values: Any) -> Callable[[Any], Floats]:
    """The limit K -> infinity, t -> infinity of the RFMP trained from zero: the interpolator of least kernel norm.

    It is f(x) = sum over the training points x_i of weights[i] k(x, x_i), a function of points of shape (m, N).
    ValueError where infinitely many features cannot take these values, such as at points with equal projections.
    """
    gram = feature_kernel(activation, V, points, points)
    weights = np.linalg.lstsq(gram, np.asarray(values, np.float64), rcond=1e-13)[0]
    residual = np.max(np.abs(gram @ weights - values))
    if residual > 1e-6 * max(1.0, np.max(np.abs(values))):
        raise ValueError(f"{activation.name} features cannot take these values: the best fit is off by {residual:.3g}")
    return lambda others: feature_kernel(activation, V, others, points) @ weights

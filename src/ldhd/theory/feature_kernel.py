"""Random feature models with projection at infinite width (Theorem 2): the kernel and its interpolator.

With w ~ N(0, I_r / r) and b ~ N(0, 1 / r) the argument <w, V^T x> + b is Gaussian with covariance

    E[(<w, V^T x> + b)(<w, V^T y> + b)] = (x^T V V^T y + 1) / r,

so the kernel k(x, y) = E[sigma sigma] knows V only through V V^T: every square orthogonal V gives the plain RFM.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.memory import check_memory
from ldhd.boolean.projection import check_orthonormal
from ldhd.theory.activations import Activation, Floats

# Covariances are sums of a few products: what agrees to so many digits is the same number.
COVARIANCE_DIGITS = 12


def check_training_set(points: Any, values: Any, dimension: int) -> tuple[Floats, Floats]:
    """Points of shape (m, N), m > 0, and one finite value each, as floats."""
    points, values = np.asarray(points, np.float64), np.asarray(values, np.float64)
    if points.ndim != 2 or points.shape[1] != dimension or not len(points):
        raise ValueError(f"training points have shape (m, {dimension}) with m > 0, got shape {points.shape}")
    if values.shape != (len(points),):
        raise ValueError(f"there must be one value a point, got shape {values.shape} for {len(points)} points")
    if not np.all(np.isfinite(values)):
        raise ValueError(f"values are finite numbers, got {values[~np.isfinite(values)][0]}")
    return points, values


def feature_kernel(activation: Activation, V: Any, points: Any, others: Any) -> Floats:
    """[i, j] = k(points[i], others[j])."""
    V = check_orthonormal(np.asarray(V))
    left, right = np.asarray(points, np.float64) @ V, np.asarray(others, np.float64) @ V
    rank = V.shape[1]
    check_memory(16 * len(left) * len(right), f"the kernel of {len(left)} x {len(right)} points")
    covariance = (left @ right.T + 1) / rank
    first = np.broadcast_to(((left**2).sum(axis=1)[:, None] + 1) / rank, covariance.shape)
    second = np.broadcast_to(((right**2).sum(axis=1) + 1) / rank, covariance.shape)
    # On the cube few arguments differ, and quadrature is costly: each is evaluated once.
    arguments = np.stack([first, second, covariance], axis=-1).reshape(-1, 3)
    _, chosen, inverse = np.unique(arguments.round(COVARIANCE_DIGITS), axis=0, return_index=True, return_inverse=True)
    distinct = activation.mean_product(*arguments[chosen].T)
    return distinct[inverse.reshape(-1)].reshape(covariance.shape)


def kernel_interpolator(activation: Activation, V: Any, points: Any, values: Any) -> Callable[[Any], Floats]:
    """The limit K -> infinity, t -> infinity of the RFMP trained from zero: the interpolator of least kernel norm.

    It is f(x) = sum over the training points x_i of weights[i] k(x, x_i), a function of points of shape (m, N).
    ValueError where infinitely many features cannot take these values (equal projections, or a polynomial activation
    of too low a degree).
    """
    V = check_orthonormal(np.asarray(V))
    points, values = check_training_set(points, values, len(V))
    gram = feature_kernel(activation, V, points, points)
    weights: NDArray[np.float64] = np.linalg.lstsq(gram, values, rcond=1e-13)[0]
    residual = np.max(np.abs(gram @ weights - values))
    if residual > 1e-6 * max(1.0, np.max(np.abs(values))):
        raise ValueError(f"{activation.name} features cannot take these values: the best fit is off by {residual:.3g}")
    return lambda others: feature_kernel(activation, V, others, points) @ weights

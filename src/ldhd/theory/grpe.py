"""PLAA with generalised relative position embedding (Definition 7, Theorem 4, Corollary 2): A = sum of p_k U_k.

The U_k have disjoint supports, so in the loss of `plaa` the parameters do not meet:

    L(p) = sum over k of lambda_k (p_k - p*_k)^2 / 2,    lambda_k = ||Q_{N0} o U_k||_F^2,

and from p(0) = 0 each goes its own way,

    gradient flow      p_k(t) = p*_k (1 - exp(-lambda_k t)),
    gradient descent   p_k(t) = p*_k (1 - (1 - rate lambda_k)^t)    after t steps.

A parameter that X_{N0} does not see, lambda_k = 0, stays 0. RPE is `rpe_matrices(N)` of `ldhd.boolean`.
"""

from typing import Any

import numpy as np

from ldhd.boolean import GrpeBasis, subcube_points
from ldhd.theory.plaa import Floats, check_training_scale, q_matrix


def grpe_rates(U: Any, scale: int) -> Floats:
    """(lambda_1, .., lambda_r) on X_{N0}."""
    U = GrpeBasis(U).U.astype(np.float64)
    return np.sum((q_matrix(U.shape[1], scale) * U) ** 2, axis=(1, 2))


def grpe_flow(U: Any, p_star: Any, scale: int, times: Any) -> Floats:
    """p(t) under gradient flow from 0: shape (times, r)."""
    return np.asarray(p_star) * -np.expm1(-np.multiply.outer(np.asarray(times, np.float64), grpe_rates(U, scale)))


def grpe_descent(U: Any, p_star: Any, scale: int, rate: float, steps: Any) -> Floats:
    """p after so many steps of gradient descent from 0, in closed form: shape (steps, r)."""
    return np.asarray(p_star) * (1 - (1 - rate * grpe_rates(U, scale)) ** np.asarray(steps)[..., None])


def train_grpe(U: Any, p_star: Any, scale: int, rate: float, steps: int) -> Floats:
    """p after 0, 1, .., `steps` steps of gradient descent from 0 on the points of X_{N0}: shape (steps + 1, r).

    It knows the points and their values, not Q and lambda, so that these can be compared with it.
    """
    basis = GrpeBasis(U)
    points = subcube_points(basis.dimension, scale)
    matrix = basis.evaluate(points, list(range(1, basis.size + 1)))
    values = matrix @ np.asarray(p_star)
    path = np.zeros((steps + 1, basis.size))
    for t in range(steps):
        path[t + 1] = path[t] - rate * matrix.T @ (matrix @ path[t] - values) / len(points)
    return path


def grpe_generalises(U: Any, c: Any, scale: int) -> bool:
    """Corollary 2: whether PLAA with GRPE, trained on X_{N0}, learns the concept sum of c_k b_k on all of X_N.

    It does if and only if {k : (U_k)_{[N0],[N0]} = 0} lies within {k : c_k = 0}.
    """
    U, coefficients = GrpeBasis(U).U, np.asarray(c, np.float64)
    check_training_scale(U.shape[1], scale)
    if coefficients.shape != (len(U),):
        raise ValueError(f"there is one c_k for each of {len(U)} matrices U_k, got shape {coefficients.shape}")
    seen = np.any(U[:, :scale, :scale] != 0, axis=(1, 2))
    return bool(np.all(seen | (coefficients == 0)))

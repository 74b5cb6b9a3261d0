"""PLAA with absolute position embedding (Definition 6, Theorem 3): A = M o P^T P, P trained from P_0^T P_0 = alpha I.

With the loss of `plaa`, S = Q o Q o (M o P^T P - A*) gives grad L = P (S + S^T). Columns of P beyond N0 have no
gradient, and the others move within their own span, so both stay orthogonal: under gradient flow and under descent

    ||M o P^T P - A~*||_F = sqrt(N - N0) alpha    exactly, once the loss is 0,

where A~* is the part of A* within [N0] x [N0]. The loss can reach 0 only if the symmetric matrix with the upper
triangle of that part is positive semidefinite, for it must equal (P^T P)_{[N0],[N0]}.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ldhd.theory.plaa import Floats, low_dimensional_part, plaa_loss, q_matrix

# Eigenvalues of a matrix of ones and twos are good to about this, relative to the largest.
EIGENVALUE_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class ApeModel:
    """The embedding found, its loss on X_{N0}, the norm of the gradient there and the steps taken."""

    P: Floats
    loss: float
    gradient: float
    steps: int

    @property
    def attention(self) -> Floats:
        """A = M o P^T P."""
        return np.triu(self.P.T @ self.P)


def ape_gradient(P: Floats, A_star: Floats, scale: int) -> Floats:
    """grad L = P (S + S^T)."""
    weights = q_matrix(len(A_star), scale) ** 2
    S = weights * (P.T @ P - A_star)
    return P @ (S + S.T)


def train_ape(
    A_star: Any, scale: int, alpha: float, flow: bool = False, tolerance: float = 1e-11, max_steps: int = 200_000
) -> ApeModel:
    """Train on the upper triangular A* until the norm of the gradient is at most `tolerance`.

    The method is gradient descent, or with `flow` gradient flow dP/dt = -grad L by the classical Runge-Kutta method.
    """
    A_star = np.asarray(A_star, np.float64)
    P = np.sqrt(alpha) * np.eye(len(A_star))  # any other P_0 is an isometry times this one, and so is its path
    # Where P^T P is about as large as A*, the curvature is at most about 2 max(Q^2) (2 ||A*||), max(Q^2) = 1/2.
    step = 1 / (4 * (float(np.linalg.norm(A_star)) + alpha))
    for steps in range(max_steps + 1):
        gradient = ape_gradient(P, A_star, scale)
        norm = float(np.linalg.norm(gradient))
        if norm <= tolerance:
            return ApeModel(P, plaa_loss(np.triu(P.T @ P), A_star, scale), norm, steps)
        P = P - step * (_runge_kutta_slope(P, gradient, A_star, scale, step) if flow else gradient)
    raise RuntimeError(f"the gradient is still {norm:.3g} after {max_steps} steps, more than {tolerance}")


def ape_error(attention: Floats, A_star: Any, scale: int) -> float:
    """||A - A~*||_F, the distance from the min-degree interpolator in the coefficients of the b_ij."""
    return float(np.linalg.norm(attention - low_dimensional_part(A_star, scale)))


def ape_can_fit(A_star: Any, scale: int) -> bool:
    """Whether some P has loss 0 on X_{N0}: whether the N0 x N0 symmetric completion is positive semidefinite."""
    part = low_dimensional_part(A_star, scale)[:scale, :scale]
    eigenvalues = np.linalg.eigvalsh(part + np.triu(part, 1).T)
    return bool(np.all(eigenvalues >= -EIGENVALUE_TOLERANCE * np.max(np.abs(eigenvalues), initial=0.0)))


def _runge_kutta_slope(P: Floats, first: Floats, A_star: Floats, scale: int, step: float) -> Floats:
    second = ape_gradient(P - step / 2 * first, A_star, scale)
    third = ape_gradient(P - step / 2 * second, A_star, scale)
    fourth = ape_gradient(P - step * third, A_star, scale)
    return (first + 2 * second + 2 * third + fourth) / 6

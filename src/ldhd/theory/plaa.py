"""Position-only linear attention with advice (Definition 5) and its loss (the Lemma on Q).

    f(x; A) = x^T A e_{n(x)},    A upper triangular, n(x) the largest k with x_k = -1, e_0 = 0.

Loss convention, the paper's, here and in `ape` and `grpe`: half the squared error, averaged over all 2^N0 points of
X_{N0}, the point of all ones included (every PLAA is 0 there):

    L(A) = mean over X_{N0} of (f(x; A) - f(x; A*))^2 / 2 = ||Q_{N0} o (A - A*)||_F^2 / 2.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean import scale, subcube_points

Floats = NDArray[np.float64]


def plaa(points: Any, A: Any) -> Floats:
    """f(x; A) at points of shape (m, N); `A` is used as it is, triangular or not."""
    columns = np.pad(np.asarray(A, np.float64), ((0, 0), (1, 0)))[:, scale(points)]  # column 0 is A e_0
    return np.einsum("mi,im->m", np.asarray(points, np.float64), columns)


def q_matrix(dimension: int, scale: int) -> Floats:
    """Q_{N0}: entry (i, j) is 2^(-(N0 - j + 1) / 2) for i <= j <= N0 and 0 elsewhere.

    Of the 2^N0 points, 2^(j-1) have n(x) = j, and x_i for i < j is a fair coin among them, so that

        mean over X_{N0} of (x^T Z e_{n(x)})^2 = sum over i <= j <= N0 of 2^(j-1-N0) Z_ij^2 = ||Q o Z||_F^2

    for upper triangular Z. The Lemma's matrix has this exponent, its closing display drops the minus.
    """
    check_training_scale(dimension, scale)
    exponents = -(scale - np.arange(1, dimension + 1) + 1) / 2
    Q = np.triu(np.broadcast_to(2.0**exponents, (dimension, dimension)))
    return np.where(np.arange(dimension) < scale, Q, 0.0)


def plaa_loss(A: Any, A_star: Any, scale: int) -> float:
    """L by enumeration of X_{N0}, without Q."""
    points = subcube_points(len(A), scale)
    return float(np.mean((plaa(points, A) - plaa(points, A_star)) ** 2) / 2)


def low_dimensional_part(A: Any, scale: int) -> Floats:
    """A~: the entries i <= j <= N0 of A, 0 elsewhere, the coefficients of the min-degree interpolator on X_{N0}."""
    check_training_scale(len(A), scale)
    part = np.zeros((len(A), len(A)))
    part[:scale, :scale] = np.triu(np.asarray(A)[:scale, :scale])
    return part


def check_training_scale(dimension: int, scale: int) -> None:
    """Raise a ValueError unless X_N0 exists in N dimensions, N0 = `scale`."""
    if not 0 <= scale <= dimension:
        raise ValueError(f"training is on X_N0 with N0 = 0 .. N = {dimension}, got N0 = {scale}")

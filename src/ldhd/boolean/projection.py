"""B(V), the linearly independent set of the random feature model with projection (Theorem 2)."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.basis import ListedBasis
from ldhd.boolean.cube import Points, cube_points
from ldhd.boolean.function import BooleanFunction, Subset
from ldhd.boolean.memory import check_memory
from ldhd.boolean.rational import to_fractions

# How far V^T V may be from the identity.
ORTHONORMAL_TOLERANCE = 1e-9

# An element closer to the span of those before it than this, at length one, counts as lying in it.
DEPENDENT_DISTANCE = 1e-10

# An element this much shorter than the longest is what rounding left of a product that cancels.
VANISHING_LENGTH = 1e-13


class ProjectionBasis(ListedBasis):
    """B(V): chi^V_T(x) = product over t in T of <v_t, x>, for T within 1 .. r and V = [v_1 ... v_r] of shape (N, r).

    Elements are named by the rising tuple of T. V = I gives the Fourier basis. The paper calls B(V) independent for
    every V with V^T V = I, but with V = [[1, 1], [1, -1]] / sqrt 2 the product of both projections is
    (x_1^2 - x_2^2) / 2 = 0 on the cube; such a V is refused. An exact interpolator needs entries that are fractions; a
    float stands for the binary fraction it is.
    """

    def __init__(self, V: Any) -> None:
        self.V = np.array(V)
        check_orthonormal(self.V)
        dimension, count = self.V.shape
        check_memory(4 * 2**count * 2**dimension, f"B(V) with 2^{count} elements on 2^{dimension} points")
        subsets = [subset for size in range(count + 1) for subset in combinations(range(1, count + 1), size)]
        elements = self.evaluate(cube_points(dimension), subsets).T
        _check_independent(elements, subsets)
        degrees = (BooleanFunction(values).degree for values in elements)
        super().__init__(dimension, dict(zip(subsets, degrees, strict=True)))

    def evaluate(self, points: Points, keys: Sequence[Subset], exact: bool = False) -> NDArray[Any]:
        if exact:
            projections = to_fractions(points) @ to_fractions(self.V)
        else:
            projections = points.astype(np.float64) @ self.V.astype(np.float64)
        matrix = np.stack([projections[:, np.array(key, int) - 1].prod(axis=1) for key in keys], axis=1)
        return to_fractions(matrix) if exact else matrix  # the empty product of objects is the integer 1


def check_orthonormal(V: NDArray[Any]) -> NDArray[np.float64]:
    """Return V, shape (N, r), as floats; raise a ValueError unless its columns are orthonormal (Definition 4)."""
    if V.ndim != 2 or not V.size:
        raise ValueError(f"V is a matrix of shape (N, r), its columns the projections, got shape {V.shape}")
    floats = V.astype(np.float64)
    product = floats.T @ floats
    error = np.abs(product - np.eye(V.shape[1]))
    if not np.all(error <= ORTHONORMAL_TOLERANCE):  # not all, rather than any: NaN compares as false
        row, column = np.unravel_index(np.argmax(np.nan_to_num(error, nan=np.inf)), error.shape)
        raise ValueError(
            f"V^T V must be the identity, but <v_{row + 1}, v_{column + 1}> = {product[row, column]:.6g}; "
            "normalise the columns of V and make them orthogonal"
        )
    return floats


def _check_independent(elements: NDArray[np.float64], names: Sequence[Subset]) -> None:
    """Raise a ValueError that names the first row that is zero or a combination of the rows before it.

    With rows of length one, the diagonal of R in the QR decomposition of their transpose holds each row's distance from
    the span of those before it.
    """
    lengths = np.linalg.norm(elements, axis=1)
    vanishing = np.flatnonzero(lengths <= VANISHING_LENGTH * lengths.max())
    if len(vanishing):
        raise ValueError(f"the basis is linearly dependent: element {names[vanishing[0]]} is zero on the whole cube")
    distances = np.abs(np.diagonal(np.linalg.qr((elements / lengths[:, None]).T, mode="r")))
    dependent = np.flatnonzero(distances < DEPENDENT_DISTANCE)
    if len(dependent):
        name = names[dependent[0]]
        raise ValueError(f"the basis is linearly dependent: element {name} is a combination of those before it")

"""B(V), the linearly independent set of the random feature model with projection (Theorem 2)."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.basis import ListedBasis
from ldhd.boolean.cube import Points, cube_points
from ldhd.boolean.independence import independent_degrees
from ldhd.boolean.memory import check_memory
from ldhd.boolean.rational import to_fractions
from ldhd.boolean.subset import Subset

# How far V^T V may be from the identity.
ORTHONORMAL_TOLERANCE = 1e-9


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
        super().__init__(dimension, independent_degrees(self.evaluate(cube_points(dimension), subsets).T, subsets))

    def evaluate(self, points: Points, keys: Sequence[Subset], exact: bool = False) -> NDArray[Any]:
        if exact:
            projections = to_fractions(points) @ to_fractions(self.V)
        else:
            projections = points.astype(np.float64) @ self.V.astype(np.float64)
        columns = [projections[:, np.array(key, int) - 1].prod(axis=1) for key in keys]
        matrix = np.stack(columns, axis=1)
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

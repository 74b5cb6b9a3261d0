"""The Fourier basis chi_S(x) = product of x_i over i in S, named by the rising tuple of S.

Nothing of size 2^N is kept, so N may be large as long as what is asked for is small.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.basis import Basis
from ldhd.boolean.cube import Points, check_dimension, point_indices
from ldhd.boolean.memory import check_memory
from ldhd.boolean.rational import to_fractions
from ldhd.boolean.subset import FourierCoefficients, Subset, is_subset
from ldhd.boolean.transform import inverse_fourier


class FourierBasis(Basis):
    """The 2^N characters of {-1, 1}^N, N = `dimension`: element () is the constant 1, (1, 3) is x_1 x_3."""

    def __init__(self, dimension: int) -> None:
        check_dimension(dimension)
        self.dimension = dimension

    @property
    def largest_degree(self) -> int:
        return self.dimension

    def layer_size(self, degree: int) -> int:
        return comb(self.dimension, degree)

    def layer(self, degree: int) -> Sequence[Subset]:
        # A tuple takes about 64 bytes and 8 an index, and 8 more in the list.
        what = f"the list of the {degree}-subsets of {self.dimension} variables"
        check_memory(self.layer_size(degree), what, bytes_each=72 + 8 * degree)
        return list(combinations(range(1, self.dimension + 1), degree))

    def degree(self, key: Any) -> int:
        if not is_subset(key, self.dimension):
            raise KeyError(f"{key!r} is no element of the Fourier basis: no rising tuple of 1 .. {self.dimension}")
        return len(key)

    def evaluate(self, points: Points, keys: Sequence[Subset], exact: bool = False) -> NDArray[Any]:
        matrix = np.ones((len(points), len(keys)))
        for degree in {len(key) for key in keys} - {0}:
            columns = [column for column, key in enumerate(keys) if len(key) == degree]
            subsets = np.array([keys[column] for column in columns]) - 1
            for position in range(degree):
                matrix[:, columns] *= points[:, subsets[:, position]]
        return to_fractions(matrix) if exact else matrix

    def combine(self, coefficients: Mapping[Subset, Any], points: Points, exact: bool = False) -> NDArray[Any]:
        """By one inverse transform where all coefficients of a function of some variables are known."""
        if not isinstance(coefficients, FourierCoefficients):
            return super().combine(coefficients, points, exact)
        check_memory(2 * len(coefficients), f"a function of {len(coefficients.variables)} variables")
        values = inverse_fourier(coefficients.array)
        return values[point_indices(points[:, np.array(coefficients.variables, int) - 1])]

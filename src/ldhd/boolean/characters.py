"""The Fourier basis chi_S(x) = product of x_i over i in S, named by the rising tuple of S.

Nothing of size 2^N is kept, so N may be large as long as what is asked for is small.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.basis import Basis
from ldhd.boolean.cube import LARGEST_INDEXED_DIMENSION, Points, check_dimension, point_indices
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
        """By one inverse transform over the variables that occur, where that is less work than all products."""
        variables = _variables(coefficients)
        size = len(variables)
        if size > LARGEST_INDEXED_DIMENSION or 2**size * max(1, size) > len(coefficients) * len(points):
            return super().combine(coefficients, points, exact)
        check_memory(2 * 2**size, f"a function of {size} variables")
        values = inverse_fourier(_array(coefficients, variables, exact))
        return values[point_indices(points[:, np.array(variables, int) - 1])]


def _variables(coefficients: Mapping[Subset, Any]) -> Subset:
    """The variables that occur."""
    if isinstance(coefficients, FourierCoefficients):
        return coefficients.variables
    return tuple(sorted(set(chain.from_iterable(coefficients))))


def _array(coefficients: Mapping[Subset, Any], variables: Subset, exact: bool) -> NDArray[Any]:
    """The coefficients indexed by the bits of their subsets."""
    if isinstance(coefficients, FourierCoefficients):
        return coefficients.array
    array = to_fractions(np.zeros(2 ** len(variables), int)) if exact else np.zeros(2 ** len(variables))
    bit = {variable: 1 << k for k, variable in enumerate(variables)}
    for key, value in coefficients.items():
        array[sum(bit[variable] for variable in key)] = value
    return array

"""Bases: named functions on the cube, sorted by degree; the Fourier basis; and functions written in a basis.

The paper's linearly independent set B. The degree of an element is its degree *as a function on the cube*, that of its
Fourier expansion: x_1 x_1 = 1 has degree 0.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.cube import Points, check_dimension, check_points, point_indices
from ldhd.boolean.function import FourierCoefficients, Subset, is_subset, significant, subset_sizes
from ldhd.boolean.memory import check_memory
from ldhd.boolean.rational import to_fractions
from ldhd.boolean.transform import inverse_fourier

Key = Any  # hashable: tuples of 1-based indices for the Fourier basis, pairs (i, j) for PLAA, numbers for GRPE


class Basis(ABC):
    """A linearly independent set of functions on {-1, 1}^N, N = `dimension`."""

    dimension: int
    largest_degree: int
    """D, the largest degree of an element."""

    @abstractmethod
    def layer(self, degree: int) -> Sequence[Key]:
        """The names of the elements of this degree."""

    def layer_size(self, degree: int) -> int:
        """The number of elements of this degree."""
        return len(self.layer(degree))

    @abstractmethod
    def degree(self, key: Key) -> int:
        """The degree of an element; KeyError if there is no such element."""

    @abstractmethod
    def evaluate(self, points: Points, keys: Sequence[Key], exact: bool = False) -> NDArray[Any]:
        """[x, b] = b(x) for the points x, shape (m, N), and the named elements: float64, or fractions if exact."""

    @property
    def size(self) -> int:
        """The number of elements; no `__len__`, which 2^100 would overflow."""
        return sum(self.layer_size(degree) for degree in range(self.largest_degree + 1))

    def keys(self) -> Iterable[Key]:
        """The names of all elements, low degrees first."""
        for degree in range(self.largest_degree + 1):
            yield from self.layer(degree)

    def combine(self, coefficients: Mapping[Key, Any], points: Points, exact: bool = False) -> NDArray[Any]:
        """sum over b of coefficients[b] b(x) for each point x."""
        weights = np.array(list(coefficients.values()), object if exact else np.float64)
        return self.evaluate(points, list(coefficients), exact) @ weights


class ListedBasis(Basis):
    """A basis small enough to list: its constructor gives the degree of each element."""

    def __init__(self, dimension: int, degrees: Mapping[Key, int]) -> None:
        if not degrees:
            raise ValueError("a basis has at least one element")
        self.dimension = dimension
        self.degrees = degrees
        self.largest_degree = max(degrees.values())

    def layer(self, degree: int) -> Sequence[Key]:
        return [key for key, its_degree in self.degrees.items() if its_degree == degree]

    def degree(self, key: Key) -> int:
        if key not in self.degrees:
            raise KeyError(f"{key!r} is no element of this basis")
        return self.degrees[key]


class FourierBasis(Basis):
    """The characters chi_S(x) = product of x_i over i in S, named by the rising tuple of S: (1, 3) is x_1 x_3, () is 1.

    Nothing of size 2^N is kept, so N may be large as long as what is asked for is small.
    """

    def __init__(self, dimension: int) -> None:
        check_dimension(dimension)
        self.dimension = self.largest_degree = dimension

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


@dataclass(frozen=True, eq=False)
class Expansion(Mapping[Key, Any]):
    """The coefficient of each basis element; calling it evaluates the function at points of shape (m, N).

    Only coefficients that may differ from 0 are stored and listed; `expansion[key]` is 0 for any other element and a
    KeyError for what is no element. With `exact` the coefficients are fractions, otherwise floats.
    """

    basis: Basis
    coefficients: Mapping[Key, Any]
    exact: bool = False

    def __getitem__(self, key: Key) -> Any:
        self.basis.degree(key)  # a KeyError in the basis's own words
        return self.coefficients.get(key, Fraction(0) if self.exact else 0.0)

    def __iter__(self) -> Iterator[Key]:
        return iter(self.coefficients)

    def __len__(self) -> int:
        return len(self.coefficients)

    def __call__(self, points: Any) -> NDArray[Any]:
        return self.basis.combine(self.coefficients, check_points(points, self.basis.dimension), self.exact)

    @property
    def degree_profile(self) -> tuple[Any, ...]:
        """(sum of a_b^2 over degree D, over D - 1, ..., over 0), D the largest degree in the basis (Definition 2).

        Profiles compare as Python tuples do, top degree first: x_1 x_2 + 5 x_3 on {-1, 1}^3 has (0, 1, 25, 0), more
        than 9 x_1, which has (0, 0, 81, 0). A float coefficient within rounding of zero (1e-12 of the largest) counts
        as 0.0, since one such leftover in a high degree would outweigh everything below it.
        """
        if isinstance(self.coefficients, FourierCoefficients):
            values = self.coefficients.array
            degrees: NDArray[Any] = subset_sizes(len(self.coefficients.variables))
        else:
            values = np.array(list(self.coefficients.values()), object if self.exact else np.float64)
            degrees = np.array([self.basis.degree(key) for key in self.coefficients], int)
        values = np.where(significant(values), values, 0 * values)
        top = self.basis.largest_degree
        if self.exact:
            return tuple(sum(values[degrees == top - d] ** 2, start=Fraction(0)) for d in range(top + 1))
        return tuple(np.bincount(degrees, values.astype(np.float64) ** 2, top + 1)[::-1].tolist())

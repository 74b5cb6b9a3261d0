"""What a basis is to the rest of this package: named functions on the cube, sorted by degree.

The paper's linearly independent set B. The degree of an element is its degree *as a function on the cube*, that of its
Fourier expansion: x_1 x_1 = 1 has degree 0.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.cube import Points
from ldhd.boolean.rational import to_fractions

Key = Any  # hashable: tuples of 1-based indices for the Fourier basis, pairs (i, j) for PLAA, whatever a user names

# Points are evaluated in blocks of at most so many entries.
BLOCK_ENTRIES = 2**22


class Basis(ABC):
    """A linearly independent set of functions on {-1, 1}^N."""

    dimension: int

    @property
    @abstractmethod
    def largest_degree(self) -> int:
        """D, the largest degree of an element."""

    @abstractmethod
    def layer(self, degree: int) -> Sequence[Key]:
        """The names of the elements of this degree."""

    def layer_size(self, degree: int) -> int:
        """How many elements have this degree."""
        return len(self.layer(degree))

    @abstractmethod
    def degree(self, key: Key) -> int:
        """The degree of an element; KeyError if there is no such element."""

    @abstractmethod
    def evaluate(self, points: Points, keys: Sequence[Key], exact: bool = False) -> NDArray[Any]:
        """[x, b] = b(x) for the points x, shape (m, N), and the named elements: float64, or fractions if exact."""

    def __contains__(self, key: Hashable) -> bool:
        try:
            self.degree(key)
        except KeyError:
            return False
        return True

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
        names = list(coefficients)
        weights = np.array([coefficients[name] for name in names], object if exact else np.float64)
        rows = max(1, BLOCK_ENTRIES // max(1, len(names)))
        result = to_fractions(np.zeros(len(points), int)) if exact else np.zeros(len(points))
        if names:
            for start in range(0, len(points), rows):
                result[start : start + rows] = self.evaluate(points[start : start + rows], names, exact) @ weights
        return result


class ListedBasis(Basis):
    """A basis small enough to list: its constructor gives the degree of each element."""

    def __init__(self, dimension: int, degrees: Mapping[Key, int]) -> None:
        if not degrees:
            raise ValueError("a basis has at least one element")
        self.dimension = dimension
        self.degrees = dict(degrees)
        self._layers: dict[int, list[Key]] = {}
        for key, degree in self.degrees.items():
            self._layers.setdefault(degree, []).append(key)

    @property
    def largest_degree(self) -> int:
        return max(self._layers)

    def layer(self, degree: int) -> Sequence[Key]:
        return tuple(self._layers.get(degree, ()))

    def degree(self, key: Key) -> int:
        if key not in self.degrees:
            raise KeyError(f"{key!r} is no element of this basis")
        return self.degrees[key]

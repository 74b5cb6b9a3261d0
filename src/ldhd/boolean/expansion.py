"""A function written in a basis: sum over b of a_b b, with its degree profile."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.basis import Basis, Key
from ldhd.boolean.cube import check_points
from ldhd.boolean.rounding import significant
from ldhd.boolean.subset import FourierCoefficients, subset_sizes


@dataclass(frozen=True, eq=False)
class Expansion(Mapping[Key, Any]):
    """The coefficient of each basis element; calling it evaluates the function at points of shape (m, N).

    Only coefficients that may differ from 0 are stored and listed; `expansion[key]` is 0 for any other element and a
    KeyError for what is no element. With `exact` the coefficients are fractions, otherwise floats.
    """

    basis: Basis
    coefficients: Mapping[Key, Any]
    exact: bool = False
    residual: Any = 0
    """Of an interpolator, the largest difference from a given value, as evaluated."""

    def __getitem__(self, key: Key) -> Any:
        try:
            return self.coefficients[key]
        except KeyError:
            self.basis.degree(key)  # a KeyError in the basis's own words
            return Fraction(0) if self.exact else 0.0

    def __iter__(self) -> Iterator[Key]:
        return iter(self.coefficients)

    def __len__(self) -> int:
        return len(self.coefficients)

    def __call__(self, points: Any) -> NDArray[Any]:
        return self.basis.combine(self.coefficients, check_points(points, self.basis.dimension), self.exact)

    @cached_property
    def degree_profile(self) -> tuple[Any, ...]:
        """(sum of a_b^2 over degree D, over degree D - 1, ..., over degree 0); tuples compare as profiles do.

        A float coefficient within rounding of zero (1e-12 of the largest) counts as 0.0, since one such leftover in a
        high degree would outweigh everything below it in the lexicographic order.
        """
        values, degrees = self._values_and_degrees()
        values = np.where(significant(values), values, 0 * values)
        top = self.basis.largest_degree
        if self.exact:
            return tuple(sum(values[degrees == top - d] ** 2, start=Fraction(0)) for d in range(top + 1))
        return tuple(np.bincount(degrees, values.astype(np.float64) ** 2, top + 1)[::-1].tolist())

    def _values_and_degrees(self) -> tuple[NDArray[Any], NDArray[Any]]:
        if isinstance(self.coefficients, FourierCoefficients):
            return self.coefficients.array, subset_sizes(len(self.coefficients.variables))
        values = np.array(list(self.coefficients.values()), object if self.exact else np.float64)
        return values, np.array([self.basis.degree(key) for key in self.coefficients], int)

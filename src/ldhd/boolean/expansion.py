"""A function written in a basis, sum over b of a_b b, and its degree profile (Definition 2)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.basis import Basis, Key
from ldhd.boolean.cube import check_points
from ldhd.boolean.function import FourierCoefficients, significant, subset_sizes


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
        """(sum of a_b^2 over degree D, over D - 1, ..., over 0), D the largest degree in the basis.

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

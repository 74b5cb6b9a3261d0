"""Subsets S of the variables 1 .. N: rising tuples as names, bits as indices, and arrays of coefficients by subset."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Subset = tuple[int, ...]


def is_subset(key: Any, dimension: int) -> bool:
    """Whether this is a rising tuple of whole numbers from 1 to N."""
    if not isinstance(key, tuple) or not all(isinstance(variable, int | np.integer) for variable in key):
        return False
    return all(low < high for low, high in zip((0, *key), (*key, dimension + 1), strict=True))


def subset_sizes(variables: int) -> NDArray[np.int8]:
    """The number of set bits of each index below 2^variables."""
    sizes = np.zeros(2**variables, np.int8)
    for k in range(variables):
        sizes[2**k : 2 ** (k + 1)] = sizes[: 2**k] + 1
    return sizes


@dataclass(frozen=True, eq=False)
class FourierCoefficients(Mapping[Subset, Any]):
    """The Fourier coefficients of a function of some of the N variables, one array entry for each subset of them.

    `array` is indexed by the bits of S within `variables`; a subset with any other variable has coefficient 0 and is
    not listed. A dict of 2^24 tuples would take gigabytes, the array takes 128 MiB.
    """

    array: NDArray[Any]
    variables: Subset
    dimension: int

    def __getitem__(self, key: Subset) -> Any:
        if not is_subset(key, self.dimension):
            raise KeyError(f"{key!r} is no rising tuple of the variables 1 .. {self.dimension}")
        if not all(variable in self._bit for variable in key):
            return 0 * self.array.item(0)
        return self.array.item(sum(self._bit[variable] for variable in key))

    def __iter__(self) -> Iterator[Subset]:
        for index in range(len(self.array)):  # index 5 of (2, 4, 7) is (2, 7)
            yield tuple(variable for k, variable in enumerate(self.variables) if index >> k & 1)

    def __len__(self) -> int:
        return len(self.array)

    @cached_property
    def _bit(self) -> dict[int, int]:
        return {variable: 1 << k for k, variable in enumerate(self.variables)}

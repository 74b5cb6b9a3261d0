"""A real function on {-1, 1}^N, given by its values, and its Fourier coefficients."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.cube import Points, check_dimension, check_points, cube_points, point_indices
from ldhd.boolean.memory import check_memory
from ldhd.boolean.transform import check_power_of_two, copy_values, fourier, inverse_fourier

Subset = tuple[int, ...]
"""A subset S of the variables 1 .. N, as a rising tuple."""

# A number counts as zero if it is less than the rounding error of a computation next to the largest number in it.
RELATIVE_ZERO = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}


def significant(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which entries are not zero; exactly for fractions, up to rounding relative to the largest entry for floats."""
    if values.dtype == object or not values.size:
        return values != 0
    magnitudes = np.abs(values)
    return magnitudes > RELATIVE_ZERO[values.dtype] * magnitudes.max()


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
        if not set(key) <= set(self.variables):
            return 0 * self.array.item(0)
        return self.array.item(sum(1 << self.variables.index(variable) for variable in key))

    def __iter__(self) -> Iterator[Subset]:
        for index in range(len(self.array)):  # index 5 of (2, 4, 7) is (2, 7)
            yield tuple(variable for k, variable in enumerate(self.variables) if index >> k & 1)

    def __len__(self) -> int:
        return len(self.array)


class BooleanFunction:
    """f: {-1, 1}^N -> R as the array of its 2^N values, ordered as in `cube`; calling it looks points up.

        >>> f = BooleanFunction.of(lambda x: 4 * x[:, 0] + 3 * x[:, 1], dimension=2)
        >>> f.values, f.degree, f.influential
        (array([ 7., -1.,  1., -7.]), 1, (1, 2))

    float32 values are kept as they are, fractions (dtype object) too, all else becomes float64.
    """

    def __init__(self, values: Any) -> None:
        self.values = copy_values(values)
        if self.values.dtype != object and not np.all(np.isfinite(self.values)):
            raise ValueError(f"values are finite numbers, got {self.values[~np.isfinite(self.values)][0]}")
        self.values.flags.writeable = False
        self.dimension = check_power_of_two(self.values)

    @classmethod
    def of(cls, function: Callable[[Points], Any], dimension: int) -> "BooleanFunction":
        """Tabulate a callable that maps points of shape (m, N) to m values."""
        points = cube_points(dimension)
        values = np.asarray(function(points))
        if values.shape != (len(points),):
            raise ValueError(f"the function must give one value a point, got shape {values.shape} for {len(points)}")
        return cls(values)

    @classmethod
    def from_fourier(cls, coefficients: Mapping[Subset, float], dimension: int) -> "BooleanFunction":
        """{(): 1.0, (1, 3): 2.0} is the function 1 + 2 x_1 x_3."""
        check_dimension(dimension)
        check_memory(2 * 2**dimension, f"the 2^{dimension} values of a function")
        array = np.zeros(2**dimension)
        for key, value in coefficients.items():
            if not is_subset(key, dimension):
                raise ValueError(f"{key!r} is no rising tuple of the variables 1 .. {dimension}")
            array[sum(1 << (variable - 1) for variable in key)] = value
        return cls(inverse_fourier(array))

    def __call__(self, points: Any) -> NDArray[Any]:
        return self.values[point_indices(check_points(points, self.dimension))]

    @cached_property
    def fourier(self) -> FourierCoefficients:
        """f^(S) for every subset S, named by its rising tuple; `.fourier.array` is the same by index."""
        return FourierCoefficients(fourier(self.values), tuple(range(1, self.dimension + 1)), self.dimension)

    @property
    def degree(self) -> int:
        """The largest |S| with f^(S) != 0 beyond rounding; 0 for every constant, zero included."""
        return int(np.max(subset_sizes(self.dimension)[significant(self.fourier.array)], initial=0))

    @property
    def influential(self) -> Subset:
        """I(f): the variables that f depends on, the least set I with f(x) = g(x_I); f is k-sparse if |I(f)| <= k."""
        halves = [self.values.reshape(-1, 2, 2**k) for k in range(self.dimension)]
        changes = np.array([np.max(abs(half[:, 0] - half[:, 1])) for half in halves], self.values.dtype)
        # Compared with the values, not with each other: a constant with rounding errors depends on nothing.
        compared = np.append(changes, np.max(abs(self.values)))
        return tuple(int(k) + 1 for k in np.flatnonzero(significant(compared)[:-1]))

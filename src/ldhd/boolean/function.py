"""A real function on {-1, 1}^N, given by its values."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.cube import Points, check_dimension, check_points, point_indices, points_at
from ldhd.boolean.memory import check_memory
from ldhd.boolean.rational import to_fractions
from ldhd.boolean.rounding import significant
from ldhd.boolean.subset import FourierCoefficients, Subset, is_subset, subset_sizes
from ldhd.boolean.transform import check_power_of_two, fourier, inverse_fourier

# A callable is asked for so many points at a time, so that the points take less memory than the values.
BLOCK_POINTS = 2**14


class BooleanFunction:
    """f: {-1, 1}^N -> R as the array of its 2^N values, ordered as in `cube`; calling it looks points up.

        >>> f = BooleanFunction.of(lambda x: 4 * x[:, 0] + 3 * x[:, 1], dimension=2)
        >>> f.values, f.degree, f.influential
        (array([ 7., -1.,  1., -7.]), 1, (1, 2))

    float32 values are kept as they are, fractions (dtype object) too, all else becomes float64.
    """

    def __init__(self, values: Any) -> None:
        self.values = _read_values(values)
        self.dimension = check_power_of_two(self.values)

    @classmethod
    def of(cls, function: Callable[[Points], Any], dimension: int) -> "BooleanFunction":
        """Tabulate a callable that maps points of shape (m, N) to m values."""
        check_dimension(dimension)
        check_memory(2 * 2**dimension, f"the 2^{dimension} values of a function")
        blocks = []
        for start in range(0, 2**dimension, BLOCK_POINTS):
            points = points_at(np.arange(start, min(start + BLOCK_POINTS, 2**dimension)), dimension)
            block = np.asarray(function(points))
            if block.shape != (len(points),):
                raise ValueError(f"the function must give one value a point, got shape {block.shape} for {len(points)}")
            blocks.append(block)
        return cls(np.concatenate(blocks))

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
        """The largest |S| with f^(S) != 0; 0 for every constant, zero included."""
        return int(degrees_of(self.fourier.array[None])[0])

    @property
    def influential(self) -> Subset:
        """I(f): the variables that f depends on, the least set I with f(x) = g(x_I)."""
        halves = [self.values.reshape(-1, 2, 2**k) for k in range(self.dimension)]
        changes = np.array([np.max(abs(half[:, 0] - half[:, 1])) for half in halves], self.values.dtype)
        # Compared with the values, not with each other: a constant with rounding errors depends on nothing.
        compared = np.append(changes, np.max(abs(self.values)))
        return tuple(int(k) + 1 for k in np.flatnonzero(significant(compared)[:-1]))

    @property
    def sparsity(self) -> int:
        """|I(f)|; f is k-sparse if this is at most k."""
        return len(self.influential)


def degrees_of(coefficients: NDArray[Any]) -> NDArray[np.int64]:
    """The degree of each row of Fourier coefficients: the largest |S| with a coefficient beyond rounding."""
    sizes = subset_sizes(check_power_of_two(coefficients[0]))
    return np.array([np.max(sizes[significant(row)], initial=0) for row in coefficients], np.int64)


def _read_values(values: Any) -> NDArray[Any]:
    array = np.asarray(values)
    check_power_of_two(array)
    if array.dtype == object:
        array = to_fractions(array)
    else:
        array = np.array(array, np.float32 if array.dtype == np.float32 else np.float64)
        if not np.all(np.isfinite(array)):
            raise ValueError(f"values are finite numbers, got {array[~np.isfinite(array)][0]}")
    array.flags.writeable = False
    return array

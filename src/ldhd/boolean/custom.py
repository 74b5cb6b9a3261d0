"""A basis of the user's own functions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.basis import Key, ListedBasis
from ldhd.boolean.cube import Points, check_dimension, point_indices
from ldhd.boolean.function import BooleanFunction
from ldhd.boolean.independence import independent_degrees
from ldhd.boolean.memory import check_memory
from ldhd.boolean.rational import to_fractions


class CustomBasis(ListedBasis):
    """Functions on {-1, 1}^N under names of the user's choice, each a callable on points or an array of 2^N values.

        >>> basis = CustomBasis({"sum": lambda x: x.sum(axis=1), "first": [1, -1, 1, -1]}, dimension=2)
        >>> basis.degrees
        {'sum': 1, 'first': 1}

    A ValueError is raised if they are linearly dependent. An exact interpolator takes fractions as they are, and a
    float as the binary fraction it is.
    """

    def __init__(self, elements: Mapping[Key, Callable[[Points], Any] | Any], dimension: int) -> None:
        check_dimension(dimension)
        if not elements:
            raise ValueError("a basis has at least one element")
        check_memory(3 * len(elements) * 2**dimension, f"{len(elements)} functions with 2^{dimension} values each")
        self.functions = {key: _function(key, element, dimension) for key, element in elements.items()}
        rows = np.array([function.values for function in self.functions.values()], np.float64)
        super().__init__(dimension, independent_degrees(rows, list(self.functions)))

    def evaluate(self, points: Points, keys: Sequence[Key], exact: bool = False) -> NDArray[Any]:
        indices = point_indices(points)
        columns = [self.functions[key].values[indices] for key in keys]
        return np.stack([to_fractions(column) if exact else column.astype(np.float64) for column in columns], axis=1)


def _function(key: Key, element: Any, dimension: int) -> BooleanFunction:
    try:
        function = BooleanFunction.of(element, dimension) if callable(element) else BooleanFunction(element)
    except ValueError as error:
        raise ValueError(f"basis element {key!r}: {error}") from None
    if function.dimension != dimension:
        raise ValueError(f"basis element {key!r} has {len(function.values)} values instead of 2^{dimension}")
    return function

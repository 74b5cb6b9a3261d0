"""Functions on a cube whose values are codes: what a model says at one answer token, measured against references.

A code has one or more bits. Distances are root mean squares over points and bits, in units of the labels, which are
+1 and -1; degree profiles and leakage take the squared Fourier weight of all bits together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.bias.measure import FITTED, root_mean_square
from ldhd.bias.references import LARGEST_SOLVED
from ldhd.boolean import BooleanFunction, FourierBasis, fourier, min_degree_interpolator
from ldhd.boolean.basis import ListedBasis
from ldhd.boolean.cube import Points, point_indices, points_at
from ldhd.boolean.function import subset_sizes

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Part:
    """One answer token as a function on a cube."""

    name: str
    concept: NDArray[np.int8]
    """The right code at each point: (width, 2^D)."""
    rows: NDArray[np.int64]
    """The points trained on."""
    asked: NDArray[np.bool_]
    """The points at which a model can be asked; it has the value of the blank elsewhere by definition."""
    seen_variables: int | None = None
    """Variables beyond these are those beyond N0; None where there is no N0."""
    references: Mapping[str, Floats] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    """Why there is no such reference."""
    trained: bool = True
    """Whether `rows` were trained on; otherwise they are the points that could have been."""

    @property
    def dimension(self) -> int:
        return self.concept.shape[1].bit_length() - 1

    @property
    def unseen(self) -> NDArray[np.bool_]:
        """The points not trained on."""
        mask = self.asked.copy()
        mask[self.rows] = False
        return mask

    @property
    def degree(self) -> int:
        """The degree of the concept, the largest of its bits."""
        return max(BooleanFunction(bit).degree for bit in self.concept)

    def described(self) -> dict[str, Any]:
        """Return the degrees and the errors of the references: their distance from the concept."""
        own = {name: self._compared(values, self.concept) for name, values in self.references.items()}
        degrees = {name: max(BooleanFunction(bit).degree for bit in values) for name, values in self.references.items()}
        return {
            "name": self.name,
            "variables": self.dimension,
            "degree": self.degree,
            "trained": self.trained,
            "points": len(self.rows),
            "references": {name: {**own[name], "degree": degrees[name]} for name in own},
            "missing": dict(self.missing),
        }

    def measure(self, values: Floats) -> dict[str, Any]:
        """Measure a learned function, given by its values."""
        gap = root_mean_square((values - self.concept)[:, self.rows].reshape(-1))
        weights = np.sum([fourier(bit) ** 2 for bit in values], axis=0)
        whole = float(weights.sum())
        profile = np.bincount(subset_sizes(self.dimension), weights, self.dimension + 1) / whole
        beyond = None if self.seen_variables is None else float(weights[2**self.seen_variables :].sum()) / whole
        return {
            "error": gap,
            "fitted": gap <= FITTED,
            "leakage": beyond,
            "profile": [round(share, 4) for share in profile.tolist()],
            "compared": {
                "concept": self._compared(values, self.concept),
                **{name: self._compared(values, other) for name, other in self.references.items()},
            },
        }

    def _compared(self, values: Floats, other: Floats | NDArray[np.int8]) -> dict[str, float | None]:
        """Return the distance on the unseen points, and the share of them at which the signs of all bits agree."""
        unseen = self.unseen
        if not unseen.any():
            return {"distance": None, "agreement": None}
        same = np.all((values > 0) == (other > 0), axis=0)
        gap = root_mean_square((values - other)[:, unseen].reshape(-1))
        return {"distance": gap, "agreement": float(same[unseen].mean())}


class TableBasis(ListedBasis):
    """A linearly independent set that is listed by values on the cube, (size, 2^D), with its degrees."""

    def __init__(self, values: Floats, degrees: Sequence[int]) -> None:
        self.values = values
        super().__init__(values.shape[1].bit_length() - 1, dict(enumerate(degrees)))

    def evaluate(self, points: Points, keys: Sequence[int], exact: bool = False) -> NDArray[Any]:
        chosen: Floats = self.values[np.asarray(keys, int)[:, None], point_indices(points)].T
        return chosen


class LowDegrees(FourierBasis):
    """The characters of at most some degree.

    A concept is itself an interpolator, so that the one of least degree profile has no higher degree than it.
    """

    def __init__(self, dimension: int, degree: int) -> None:
        super().__init__(dimension)
        self.largest_degree = degree


def fourier_reference(concept: NDArray[np.int8], rows: NDArray[np.int64]) -> Floats:
    """Return the Fourier min-degree interpolator of each bit; ValueError if it is too large to be solved."""
    dimension = concept.shape[1].bit_length() - 1
    if len(rows) & (len(rows) - 1) == 0 and int(rows[-1]) == len(rows) - 1:  # a whole X_n: all other variables at 1
        found: Floats = concept[:, np.arange(concept.shape[1]) & (len(rows) - 1)].astype(np.float64)
        return found
    bits = []
    for bit in concept.astype(np.float64):
        basis = LowDegrees(dimension, BooleanFunction(bit).degree)
        if basis.size * len(rows) > LARGEST_SOLVED:
            raise ValueError(f"too large: {len(rows)} training points times {basis.size} characters")
        bits.append(solved(bit, rows, basis))
    return np.array(bits)


def solved(values: Floats, rows: NDArray[np.int64], basis: FourierBasis | TableBasis) -> Floats:
    """Return the values on the cube of the min-degree interpolator of a function on some points."""
    dimension = basis.dimension
    found = min_degree_interpolator(points_at(rows, dimension), values[rows], basis)
    on_cube: Floats = found(points_at(np.arange(2**dimension), dimension)).astype(np.float64)
    return on_cube

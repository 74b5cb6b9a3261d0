"""A problem: a concept on {-1, 1}^N, and the points of the cube that a model is trained on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ldhd import seeds
from ldhd.bias.concepts import read_concept
from ldhd.bias.expression import evaluate_on_cube
from ldhd.boolean import BooleanFunction
from ldhd.boolean.cube import Points, points_at

Floats = NDArray[np.float64]

LARGEST_DIMENSION = 24
"""A model is evaluated at each of the 2^N points."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A concept, N0 = `scale`, and the indices of the training points, in rising order."""

    name: str
    concept: BooleanFunction
    scale: int
    rows: NDArray[np.int64]

    @property
    def dimension(self) -> int:
        """N."""
        return self.concept.dimension

    @property
    def whole(self) -> bool:
        """Whether the training points are all of X_N0."""
        return len(self.rows) == 2**self.scale and int(self.rows[-1]) == 2**self.scale - 1

    @property
    def has_blanks(self) -> bool:
        """Whether N0 < N, so that a coordinate of 1 after the last -1 is a blank."""
        return self.scale < self.dimension

    @cached_property
    def points(self) -> Points:
        """The training points."""
        return points_at(self.rows, self.dimension)

    @property
    def labels(self) -> Floats:
        """The values of the concept at the training points."""
        return np.asarray(self.concept.values[self.rows], np.float64)

    @property
    def label_size(self) -> float:
        """The root mean square of the labels, the unit of all distances; 1 if all labels are 0."""
        return float(np.sqrt(np.mean(self.labels**2))) or 1.0

    @cached_property
    def unseen(self) -> NDArray[np.bool_]:
        """Which points of the cube are not training points."""
        mask = np.ones(2**self.dimension, bool)
        mask[self.rows] = False
        return mask


def make_problem(
    concept: str,
    dimension: int | None = None,
    scale: int | None = None,
    where: str | None = None,
    samples: int | None = None,
    priming: int = 0,
) -> Problem:
    """Return the problem of a concept (`read_concept`); a named one brings its own N, N0 and training set.

    Trained on are the points of X_N0 where the expression `where` is positive, or `samples` of them at random, and
    `priming` random points of X_N outside X_N0. The draws are the same whenever the arguments are.
    """
    if dimension is not None and not 1 <= dimension <= LARGEST_DIMENSION:
        raise ValueError(f"N is from 1 to {LARGEST_DIMENSION}, because 2^N points are evaluated, got {dimension}")
    function, named = read_concept(concept, dimension)
    size = function.dimension
    if named is not None:
        where = named.where if where is None else where
        scale = min(named.scale if named.where is None else size, size) if scale is None else scale
    scale = size if scale is None else scale
    if not 0 <= scale <= size:
        raise ValueError(f"training is on X_N0 with N0 = 0 .. N = {size}, got N0 = {scale}")
    rows = np.arange(2**scale)
    if where is not None:
        rows = rows[evaluate_on_cube(where, size)[rows] > 0]
    if not len(rows):
        raise ValueError(f"no point of X_{scale} has {where} > 0; there is nothing to train on")
    generator = np.random.default_rng(seeds.derive(0, concept, size, scale, where, samples, priming))
    if samples is not None:
        if not 1 <= samples <= len(rows):
            raise ValueError(f"there are {len(rows)} points to draw from, got samples = {samples}")
        rows = np.sort(generator.choice(rows, samples, replace=False))
    outside = 2**size - 2**scale
    if not 0 <= priming <= outside:
        raise ValueError(f"there are {outside} points of X_N outside X_N0 to prime with, got {priming}")
    added = 2**scale + np.sort(generator.choice(outside, priming, replace=False)) if priming else []
    return Problem(concept, function, scale, np.concatenate([rows, np.asarray(added, np.int64)]))

"""Priming: the min-degree interpolator on X_N0 and a few points of X_N (the remark at the end of Section 3).

A set A of added points suffices if the min-degree interpolator on X_N0 and A is the concept itself. How few points that
takes depends on the concept and the basis:

- A set that suffices still does with more points: fewer interpolators remain, and the concept is one of them. Hence a
  point without which even all others do not suffice belongs to every sufficient set.
- Fourier basis, c linear: A suffices if and only if the coefficients of x_{N0+1} .. x_N are a combination of the 0/1
  vectors that mark where the added points are -1 (degree 1 is shortened before degree 0 and those vectors are all that
  the points tell about it). One point for each new variable is always enough, and equal coefficients share one.
- Fourier basis, c = x_1 ... x_N: on all but one point of the cube the characters of lower degree already span every
  function, so every single point of X_N is needed.
- RPE, N0 >= 1: the elements whose diagonals lie outside [N0] x [N0] have different degrees, so as many points are
  needed as such elements have a nonzero coefficient, and one point of scale k for each such diagonal k suffices.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from ldhd.boolean import Basis, BooleanFunction, cube_points, expand, min_degree_interpolator
from ldhd.boolean.cube import Points

# Sets of added points that one search may try: some seconds.
LARGEST_SEARCH = 5000

# An interpolator this close to the concept everywhere, relative to the concept's largest value, is the concept.
EQUAL_TOLERANCE = 1e-8


@dataclass(frozen=True, eq=False)
class Priming:
    """Points of X_N in the order they are added, and the mean squared error over X_N after 0, 1, 2, .. of them."""

    points: Points
    errors: tuple[float, ...]


class PrimingProblem:
    """A concept in the span of a basis, and the scale N0 up to which everything is known."""

    def __init__(self, concept: BooleanFunction, basis: Basis, training_scale: int) -> None:
        if not 0 <= training_scale < concept.dimension:
            raise ValueError(f"N0 is less than N = {concept.dimension} and not negative, got {training_scale}")
        expand(concept, basis)  # says so if the concept is not in the span
        self.concept, self.basis, self.training_scale = concept, basis, training_scale
        self.cube = cube_points(concept.dimension)

    @property
    def candidates(self) -> range:
        """The indices of the points of X_N outside X_N0; X_N0 is the first 2^N0 indices."""
        return range(2**self.training_scale, len(self.cube))

    def differences(self, added: Iterable[int]) -> Any:
        """Interpolator minus concept on X_N when the points with these indices are added."""
        rows = [*range(2**self.training_scale), *added]
        interpolator = min_degree_interpolator(self.cube[rows], self.concept.values[rows], self.basis)
        return interpolator(self.cube) - self.concept.values

    def error(self, added: Iterable[int]) -> float:
        """The mean squared error over X_N; within rounding of the values it is 0.0."""
        differences = self.differences(added)
        if np.max(np.abs(differences)) <= EQUAL_TOLERANCE * np.max(np.abs(self.concept.values)):
            return 0.0
        return float(np.mean(differences**2))

    def suffices(self, added: Iterable[int]) -> bool:
        """Whether the interpolator is the concept."""
        return self.error(added) == 0.0

    def priming(self, added: Sequence[int]) -> Priming:
        errors = tuple(self.error(added[:count]) for count in range(len(added) + 1))
        return Priming(self.cube[list(added)], errors)


def greedy_priming(concept: BooleanFunction, basis: Basis, training_scale: int) -> Priming:
    """Add whichever point leaves the least error until none is left: an upper bound on how many points are needed."""
    problem = PrimingProblem(concept, basis, training_scale)
    return problem.priming(_greedy(problem))


def fewest_points(concept: BooleanFunction, basis: Basis, training_scale: int) -> Priming:
    """The smallest set of added points that suffices, by trying all sets smaller than the greedy one.

        >>> c = BooleanFunction.from_fourier({(1,): 4.0, (2,): 3.0, (3,): 3.0}, dimension=3)
        >>> fewest_points(c, FourierBasis(3), training_scale=1).points     # one point for two equal coefficients
        array([[ 1, -1, -1]], dtype=int8)

    ValueError if there are more such sets than can be tried.
    """
    problem = PrimingProblem(concept, basis, training_scale)
    candidates = problem.candidates
    needed = [point for point in candidates if not problem.suffices(other for other in candidates if other != point)]
    others = [point for point in candidates if point not in needed]
    greedy = _greedy(problem)
    for size in range(len(greedy) - len(needed)):
        if (sets := comb(len(others), size)) > LARGEST_SEARCH:
            raise ValueError(
                f"there are {sets} sets of {size} among {len(others)} points, more than {LARGEST_SEARCH}; "
                "greedy_priming gives an upper bound"
            )
        for chosen in combinations(others, size):
            if problem.suffices([*needed, *chosen]):
                return problem.priming([*needed, *chosen])
    return problem.priming(greedy)


def _greedy(problem: PrimingProblem) -> list[int]:
    added: list[int] = []
    while not problem.suffices(added):
        left = [point for point in problem.candidates if point not in added]
        added.append(min(left, key=lambda point: problem.error([*added, point])))
    return added

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
from functools import cached_property
from itertools import combinations

import numpy as np

from ldhd.boolean import Basis, BooleanFunction, cube_points, min_degree_interpolator
from ldhd.boolean.cube import Points

# An interpolator this close to the concept everywhere, relative to the concept's largest value, is the concept.
EQUAL_TOLERANCE = 1e-8


@dataclass(frozen=True, eq=False)
class PrimingProblem:
    """A concept in the span of a basis, and the scale N0 up to which everything is known.

        >>> c = BooleanFunction.from_fourier({(1,): 4.0, (2,): 3.0, (3,): 3.0}, dimension=3)
        >>> PrimingProblem(c, FourierBasis(3), training_scale=1).fewest()   # one point for two equal coefficients
        [6]

    Points are named by their indices, 6 for (1, -1, -1).
    """

    concept: BooleanFunction
    basis: Basis
    training_scale: int

    @cached_property
    def cube(self) -> Points:
        """All points of X_N."""
        return cube_points(self.concept.dimension)

    @property
    def candidates(self) -> range:
        """The points of X_N outside X_N0; X_N0 is the first 2^N0 indices."""
        return range(2**self.training_scale, len(self.cube))

    def error(self, added: Iterable[int]) -> float:
        """The mean squared error over X_N when these points are added; within rounding of the values it is 0.0."""
        rows = [*range(2**self.training_scale), *added]
        interpolator = min_degree_interpolator(self.cube[rows], self.concept.values[rows], self.basis)
        differences = interpolator(self.cube) - self.concept.values
        if np.max(np.abs(differences)) <= EQUAL_TOLERANCE * np.max(np.abs(self.concept.values)):
            return 0.0
        return float(np.mean(differences**2))

    def suffices(self, added: Iterable[int]) -> bool:
        """Whether the interpolator is the concept."""
        return self.error(added) == 0.0

    def errors(self, added: Sequence[int]) -> list[float]:
        """The mean squared error over X_N after 0, 1, 2, .. of these points."""
        return [self.error(added[:count]) for count in range(len(added) + 1)]

    def greedy(self) -> list[int]:
        """Add whichever point leaves the least error until none is left: an upper bound on how many are needed."""
        added: list[int] = []
        while not self.suffices(added):
            left = [point for point in self.candidates if point not in added]
            added.append(min(left, key=lambda point: self.error([*added, point])))
        return added

    def fewest(self) -> list[int]:
        """The smallest set of added points that suffices, by trying all sets smaller than the greedy one."""
        needed = [x for x in self.candidates if not self.suffices(other for other in self.candidates if other != x)]
        others = [point for point in self.candidates if point not in needed]
        greedy = self.greedy()
        for size in range(len(greedy) - len(needed)):
            for chosen in combinations(others, size):
                if self.suffices([*needed, *chosen]):
                    return [*needed, *chosen]
        return greedy

"""The linear classifiers of Section 3 with a fixed weight vector: C = {sgn(w_0.x + b) : b in R} on R^d.

Training points lie in X_1 = R^{d'} x {0}^{d-d'}, test points in R^d. A learner that knows w_0 only has to find b, which
the training points show up to the gap between both labels; one that does not know w_0 cannot see its last d - d'
entries. The paper writes the class with w_0 ranging over R^d, although its text fixes it, and finding b needs
w_0 != 0 on the first d' coordinates: otherwise all training labels are sgn(b).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.theory.error import Algorithm, LdhdError, Values, ldhd_error

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearClassifier:
    """x -> sgn(w.x + b), with sgn(0) = 1."""

    weights: Vector
    offset: float

    def __call__(self, points: NDArray[Any]) -> Values:
        return np.where(points @ self.weights + self.offset >= 0, 1.0, -1.0)


@dataclass(frozen=True)
class GaussianSubspace:
    """The standard normal distribution on R^{d'} x {0}^{d-d'}, d = `dimension` and d' = `free`."""

    dimension: int
    free: int

    def __post_init__(self) -> None:
        if not 0 < self.free <= self.dimension:
            raise ValueError(f"a subspace of R^{self.dimension} has 1 .. {self.dimension} dimensions, got {self.free}")

    def sample(self, generator: np.random.Generator, count: int) -> Vector:
        points = np.zeros((count, self.dimension))
        points[:, : self.free] = generator.normal(size=(count, self.free))
        return points


LinearLearner = Callable[[NDArray[Any], Values], LinearClassifier]


def fixed_direction_learner(weights: Any) -> LinearLearner:
    """Knows w_0: puts -b halfway between the largest w_0.x labelled -1 and the smallest labelled 1.

    If only one label was seen, -b is the extreme w_0.x of it, and 0 without any sample.
    """
    direction = np.asarray(weights, np.float64)
    if direction.ndim != 1 or not np.all(np.isfinite(direction)) or not np.any(direction):
        raise ValueError(f"w_0 is a vector of finite numbers, not all zero, got {weights!r}")

    def learn(points: NDArray[Any], labels: Values) -> LinearClassifier:
        heights = points @ direction
        below, above = heights[labels < 0], heights[labels > 0]
        ends = [*([below.max()] if len(below) else []), *([above.min()] if len(above) else [])]
        return LinearClassifier(direction, -float(np.mean(ends)) if ends else 0.0)

    return learn


def free_direction_learner(points: NDArray[Any], labels: Values) -> LinearClassifier:
    """Does not know w_0: the shortest (w, b) that minimises the sum of (w.x + b - y)^2 over the sample.

    The solution is a combination of the training points, as that of any method started at zero that moves along
    them: coordinates that are zero in all of them get no weight.
    """
    columns = np.column_stack([points, np.ones(len(points))])
    solution = np.linalg.lstsq(columns, labels, rcond=None)[0]
    return LinearClassifier(solution[:-1], float(solution[-1]))


def linear_error(
    learner: Algorithm, concept: LinearClassifier, free: int, m: int, *, draws: int = 1000, seed: int = 0
) -> LdhdError:
    """The LDHD error under the 0/1 loss from normal points of R^{d'}, d' = `free`, to normal points of R^d."""
    dimension = len(concept.weights)
    D1, D2 = GaussianSubspace(dimension, free), GaussianSubspace(dimension, dimension)
    return ldhd_error(learner, concept, D1, D2, m, draws=draws, seed=seed)

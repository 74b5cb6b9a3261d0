"""The linear classifiers of Section 3 with a fixed weight vector: C = {sgn(w_0.x + b) : b in R} on R^d.

Training points lie in X_1 = R^{d'} x {0}^{d-d'}, test points in R^d. A learner that knows w_0 only has to find b, which
the training points show up to the gap between both labels; one that does not know w_0 cannot see its last d - d'
entries. The paper writes the class with w_0 ranging over R^d, although its text fixes it, and finding b needs
w_0 != 0 on the first d' coordinates: otherwise all training labels are sgn(b).

Figure 1 shows such classifiers in the plane (`plane_settings`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.theory.error import Algorithm, ErrorEstimate, Sampler, Values, estimate_error

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearClassifier:
    """x -> sgn(w.x + b), with sgn(0) = 1."""

    weights: Vector
    offset: float

    def __call__(self, points: NDArray[Any]) -> Values:
        return np.where(points @ self.weights + self.offset >= 0, 1.0, -1.0)


def fixed_direction_learner(direction: Vector) -> Callable[[NDArray[Any], Values], LinearClassifier]:
    """Knows w_0: puts -b halfway between the largest w_0.x labelled -1 and the smallest labelled 1.

    If only one label was seen, -b is the extreme w_0.x of it, and 0 without any sample.
    """

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
    learner: Algorithm, concept: LinearClassifier, free: int, m: int, *, draws: int = 1000
) -> ErrorEstimate:
    """The LDHD error under the 0/1 loss from m normal points of R^{d'}, d' = `free`, to normal points of R^d."""
    dimension = len(concept.weights)

    def sampler(count: int, free: int) -> Sampler:
        return lambda generator: np.pad(generator.normal(size=(count, free)), ((0, 0), (0, dimension - free)))

    return estimate_error(learner, concept, training=sampler(m, free), test=sampler(1, dimension), draws=draws)


PLANE_CONCEPT = LinearClassifier(np.array([1.0, 1.5]), 0.3)


@dataclass(frozen=True, eq=False)
class PlaneSetting:
    """Samples of a training and a test distribution, labelled by `PLANE_CONCEPT`, and what is learned from them."""

    title: str
    train: Vector
    test: Vector
    learned: dict[str, LinearClassifier]

    def test_error(self, classifier: LinearClassifier) -> float:
        """Share of test points whose label is wrong."""
        return float(np.mean(classifier(self.test) != PLANE_CONCEPT(self.test)))


def plane_settings(count: int = 200, tests: int = 2000, seed: int = 0) -> list[PlaneSetting]:
    """The panels of Figure 1: tested where trained, beside it, and with one dimension more, where one knows w_0."""
    stream = np.random.default_rng(seed)
    everywhere, test = stream.normal(size=(count, 2)), stream.normal(size=(tests, 2))
    shifted = stream.normal(size=(tests, 2)) * 0.8 + np.array([1.0, -1.0])
    line = everywhere * np.array([1.0, 0.0])
    anywhere = {"learned": free_direction_learner(everywhere, PLANE_CONCEPT(everywhere))}
    on_the_line = {
        "learned": free_direction_learner(line, PLANE_CONCEPT(line)),
        "with $w_0$ known": fixed_direction_learner(PLANE_CONCEPT.weights)(line, PLANE_CONCEPT(line)),
    }
    return [
        PlaneSetting("in-distribution", everywhere, test, anywhere),
        PlaneSetting("out-of-distribution", everywhere, shifted, anywhere),
        PlaneSetting("low to high dimension", line, test, on_the_line),
    ]

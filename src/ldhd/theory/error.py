"""The LDHD error of a learning algorithm (Definition 1).

For a concept c, distributions D_1 on X_1 and D_2 on X_2, and samples of size m,

    error = E_{X^m ~ D_1^m, X ~ D_2} l(f(X), c(X)),    f learned from X^m with the labels c(X^m),

and LDHD generalization with error epsilon is achieved if this is at most epsilon. Definition 1 leaves c free: read "for
every concept c in the class".
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean import Basis, min_degree_interpolator
from ldhd.statistics import wilson

Values = NDArray[Any]
Function = Callable[[NDArray[Any]], Values]
"""A concept or a learned function: points of shape (m, N) to m values."""
Algorithm = Callable[[NDArray[Any], Values], Function]
"""Points of shape (m, N) and their m labels to a learned function; it must not draw random numbers of its own."""
Loss = Callable[[Values, Values], Values]
"""Predictions and labels to losses, entry by entry."""

# Training samples that are enumerated one by one; beyond that they are drawn at random.
LARGEST_ENUMERATION = 2**12

# A prediction this close to its label counts as equal in the 0/1 loss: interpolators are exact up to rounding.
EQUAL_TOLERANCE = 1e-9


class Distribution(Protocol):
    """Where points come from."""

    def sample(self, generator: np.random.Generator, count: int) -> NDArray[Any]:
        """Independent points, shape (count, N)."""


@dataclass(frozen=True, eq=False)
class FiniteDistribution:
    """Finitely many points, shape (k, N), with positive weights that add up to 1."""

    points: NDArray[Any]
    weights: NDArray[np.float64]

    def __post_init__(self) -> None:
        if np.ndim(self.points) != 2 or not len(self.points):
            raise ValueError(f"points have shape (k, N) with k >= 1, got shape {np.shape(self.points)}")
        if np.shape(self.weights) != (len(self.points),):
            raise ValueError(f"there is one weight a point, got shape {np.shape(self.weights)} for {len(self.points)}")
        if not np.all(self.weights > 0):
            raise ValueError(f"weights are positive, got {np.min(self.weights)}")
        if abs(np.sum(self.weights) - 1) > 1e-9:
            raise ValueError(f"weights add up to 1, got {np.sum(self.weights)}")

    def sample(self, generator: np.random.Generator, count: int) -> NDArray[Any]:
        return self.points[generator.choice(len(self.points), size=count, p=self.weights / np.sum(self.weights))]


@dataclass(frozen=True)
class LdhdError:
    """The error and an interval around it: the error itself where it is exact, otherwise a confidence interval."""

    value: float
    low: float
    high: float
    exact: bool

    def achieves(self, epsilon: float) -> bool | None:
        """Whether the error is at most epsilon; None if the interval leaves that open."""
        if self.low <= epsilon < self.high:
            return None
        return self.high <= epsilon


def uniform(points: Any) -> FiniteDistribution:
    """The uniform distribution on these points."""
    array = np.asarray(points)
    return FiniteDistribution(array, np.full(len(array), 1 / max(1, len(array))))


def zero_one_loss(predictions: Values, labels: Values) -> Values:
    """0 where prediction and label are equal, otherwise 1."""
    return (np.abs(predictions - labels) > EQUAL_TOLERANCE).astype(np.float64)


def squared_loss(predictions: Values, labels: Values) -> Values:
    """(y - y')^2."""
    return (predictions - labels) ** 2


def min_degree_learner(basis: Basis) -> Algorithm:
    """The algorithm that returns the min-degree interpolator of its sample with respect to a basis."""
    return lambda points, labels: min_degree_interpolator(points, labels, basis)


def ldhd_error(
    algorithm: Algorithm,
    concept: Function,
    D1: Distribution,
    D2: Distribution,
    m: int,
    loss: Loss = zero_one_loss,
    *,
    bound: float = 1.0,
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    largest_enumeration: int = LARGEST_ENUMERATION,
) -> LdhdError:
    """The error of Definition 1 with samples of size m.

    Exact, up to rounding, where both distributions are finite and D_1 has at most `largest_enumeration` samples of size
    m. Otherwise the mean over `draws` independent samples, each tested on one point of D_2 (on all of D_2 if it is
    finite), with a Wilson interval. For losses in [0, bound], which is checked, it is conservative, and it does not
    shrink to a point when all draws happen to be zero.
    """
    if m < 0:
        raise ValueError(f"the sample size m is a whole number from 0 up, got {m}")

    def losses(training: NDArray[Any], test: NDArray[Any]) -> Values:
        learned = algorithm(training, concept(training))
        found = np.asarray(loss(learned(test), concept(test)), np.float64)
        allowed = (found >= 0) & (found <= bound)
        if not np.all(allowed):
            raise ValueError(f"losses lie between 0 and the bound {bound}, got {found[~allowed][0]}")
        return found

    if (
        isinstance(D1, FiniteDistribution)
        and isinstance(D2, FiniteDistribution)
        and len(D1.points) ** m <= largest_enumeration
    ):
        value = 0.0
        for choice in product(range(len(D1.points)), repeat=m):
            chosen = np.array(choice, int)
            value += float(np.prod(D1.weights[chosen]) * (D2.weights @ losses(D1.points[chosen], D2.points)))
        return LdhdError(value, value, value, exact=True)
    if draws < 1:
        raise ValueError(f"an estimate needs at least one draw, got {draws}")
    generator = np.random.default_rng(seed)
    total = 0.0
    for _ in range(draws):
        training = D1.sample(generator, m)
        if isinstance(D2, FiniteDistribution):
            total += float(D2.weights @ losses(training, D2.points))
        else:
            total += float(losses(training, D2.sample(generator, 1))[0])
    mean = total / draws
    low, high = wilson(draws * mean / bound, draws, confidence)
    return LdhdError(mean, bound * low, bound * high, exact=False)

"""The LDHD error of a learning algorithm (Definition 1).

For a concept c, distributions D_1 on X_1 and D_2 on X_2, and samples of size m,

    error = E_{X^m ~ D_1^m, X ~ D_2} l(f(X), c(X)),    f learned from X^m with the labels c(X^m),

and LDHD generalization with error epsilon is achieved if this is at most epsilon. Definition 1 leaves c free: read "for
every concept c in the class". Here l is the 0/1 loss.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.statistics import wilson

Values = NDArray[Any]
Function = Callable[[NDArray[Any]], Values]
"""A concept or a learned function: points of shape (m, N) to m values."""
Algorithm = Callable[[NDArray[Any], Values], Function]
"""Points of shape (m, N) and their m labels to a learned function; it must not draw random numbers of its own."""
Sampler = Callable[[np.random.Generator], NDArray[Any]]
"""Draws points of shape (m, N)."""

# A prediction this close to its label counts as equal: interpolators are exact up to rounding.
EQUAL_TOLERANCE = 1e-9


@dataclass(frozen=True)
class ErrorEstimate:
    """An estimated error and its confidence interval."""

    value: float
    low: float
    high: float


def exact_error(algorithm: Algorithm, concept: Function, training: NDArray[Any], test: NDArray[Any], m: int) -> float:
    """The error where D_1 and D_2 are uniform on these points, by enumeration of all samples of size m."""
    samples = [training[list(chosen)] for chosen in product(range(len(training)), repeat=m)]
    return float(np.mean([_error_rate(algorithm, concept, sample, test) for sample in samples]))


def estimate_error(
    algorithm: Algorithm,
    concept: Function,
    training: Sampler,
    test: Sampler,
    *,
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> ErrorEstimate:
    """The mean error over `draws` independent samples, with a Wilson interval.

    `training` draws a sample of D_1, `test` one or more points of D_2, over which the loss is averaged. The interval is
    conservative for losses in [0, 1], and does not shrink to a point when all draws happen to be zero.
    """
    generator = np.random.default_rng(seed)
    errors = (_error_rate(algorithm, concept, training(generator), test(generator)) for _ in range(draws))
    mean = sum(errors) / draws
    return ErrorEstimate(mean, *wilson(draws * mean, draws, confidence))


def _error_rate(algorithm: Algorithm, concept: Function, training: NDArray[Any], test: NDArray[Any]) -> float:
    learned = algorithm(training, concept(training))
    return float(np.mean(np.abs(learned(test) - concept(test)) > EQUAL_TOLERANCE))

"""What is measured of a learned function: fit, distances on the unseen points, degree profile, leakage."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldhd.bias.problem import Problem
from ldhd.bias.references import Reference
from ldhd.boolean import fourier
from ldhd.boolean.function import subset_sizes

Floats = NDArray[np.float64]

FITTED = 0.05
"""A model is fitted if its error on the training points is at most this share of the labels' root mean square."""


@dataclass(frozen=True)
class Measurement:
    """One learned function. Errors and distances are root mean squares in units of that of the labels."""

    training_error: float
    distances: dict[str, float | None]
    """On the points not trained on, to each reference; None where the reference does not exist."""
    leakage: float | None
    """The share of squared Fourier weight on characters with a variable beyond N0; None if N0 = N."""
    profile: tuple[float, ...]
    """The degree profile in the Fourier basis, degree 0 first, as shares of the whole weight."""

    @property
    def fitted(self) -> bool:
        return self.training_error <= FITTED


def measure(problem: Problem, values: Floats, references: Sequence[Reference]) -> Measurement:
    """Measure a function that is given by its values on the cube."""
    unit, unseen = problem.label_size, problem.unseen
    weights = fourier(values) ** 2
    whole = float(weights.sum()) or 1.0
    degrees = np.bincount(subset_sizes(problem.dimension), weights, problem.dimension + 1) / whole
    return Measurement(
        training_error=root_mean_square(values[problem.rows] - problem.labels) / unit,
        distances={
            one.name: None if one.values is None else root_mean_square((values - one.values)[unseen]) / unit
            for one in references
        },
        leakage=float(weights[2**problem.scale :].sum() / whole) if problem.has_blanks else None,
        profile=tuple(degrees.tolist()),
    )


def spread(problem: Problem, learned: Sequence[Floats]) -> float | None:
    """Return the root mean square over seeds and unseen points of the deviation from the mean over seeds.

    No function that does not depend on the seed predicts what is learned better than this. None for a single seed.
    """
    if len(learned) < 2:
        return None
    stacked = np.array([values[problem.unseen] for values in learned])
    return float(np.sqrt(np.mean(stacked.var(axis=0, ddof=1)))) / problem.label_size if stacked.size else 0.0


def within_labels(problem: Problem, values: Floats) -> float:
    """Return the share of unseen points where a function lies between the least and the largest label.

    A tenth of the labels' root mean square is allowed beyond; 1 if everything was seen.
    """
    labels, slack, unseen = problem.labels, problem.label_size / 10, values[problem.unseen]
    inside = (unseen >= labels.min() - slack) & (unseen <= labels.max() + slack)
    return float(np.mean(inside)) if len(unseen) else 1.0


def root_mean_square(values: Floats) -> float:
    """Return 0 for no values: where everything was seen, nothing differs."""
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0

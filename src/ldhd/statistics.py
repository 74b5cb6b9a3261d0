"""Statistics over instances and seeds: intervals of a share and of a mean, success rates, paired comparisons.

scipy is imported where it is needed, so that evaluation and the command line start without it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean

import numpy as np

LEVEL = 0.95
"""Confidence of every interval unless stated otherwise."""

RESAMPLES = 4000
"""Resamples of a bootstrap interval."""


@dataclass(frozen=True)
class Mean:
    """A mean over `n` seeds with its 95 % bootstrap interval; the bounds are None for a single seed."""

    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Share:
    """The number of successes among `n` seeds, with Wilson's 95 % interval of the rate."""

    successes: int
    n: int
    low: float
    high: float


@dataclass(frozen=True)
class Paired:
    """Differences of two groups over the seeds they share: their mean and an exact two-sided sign test."""

    seeds: tuple[int, ...]
    difference: Mean
    wins: int
    losses: int
    p: float


def wilson(successes: float, n: int, confidence: float = LEVEL) -> tuple[float, float]:
    """Return Wilson's interval of a proportion (E. B. Wilson, 1927), or (0, 1) for `n` = 0.

    `successes` need not be whole: the interval holds all p with (mean - p)^2 <= z^2 p (1 - p) / n, and no variable
    in [0, 1] with mean p has a larger variance than p (1 - p). `scipy.stats.binomtest` takes whole numbers only.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"the confidence lies between 0 and 1, got {confidence}")
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    centre = share + z * z / (2 * n)
    spread = z * math.sqrt(max(0.0, share * (1 - share)) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # Rounding may leave the share itself outside the interval at 0 and 1.
    return max(0.0, min(share, (centre - spread) / scale)), min(1.0, max(share, (centre + spread) / scale))


def mean_interval(values: Sequence[float]) -> Mean:
    """Return the mean and its bootstrap interval: the quantiles of the means of `RESAMPLES` resamples.

    Nothing is assumed about the distribution, which for seeds that either generalise or fail has two peaks; Student's
    t covers far less than 95 % there. Values that are all equal say nothing about others, and their interval has no
    width: how many seeds succeed (`wilson`) is then what can be said. The resamples are the same each time.
    """
    if not values:
        raise ValueError("there are no values to average")
    centre, n = fmean(values), len(values)
    if n == 1:
        return Mean(centre, None, None, 1)
    if min(values) == max(values):
        return Mean(centre, centre, centre, n)
    drawn = np.random.default_rng(0).integers(n, size=(RESAMPLES, n))
    low, high = np.quantile(np.asarray(values)[drawn].mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Mean(centre, float(min(low, centre)), float(max(high, centre)), n)


def paired(first: dict[int, float], second: dict[int, float]) -> Paired | None:
    """Compare two groups (seed -> value) over the seeds they share; None if they share none."""
    seeds = tuple(sorted(first.keys() & second.keys()))
    if not seeds:
        return None
    differences = [first[seed] - second[seed] for seed in seeds]
    wins, losses = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    from scipy.stats import binomtest

    p = float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0  # ties are left out of both counts
    return Paired(seeds, mean_interval(differences), wins, losses, p)


def mcnemar(wins: int, losses: int) -> float:
    """Return the p value of McNemar's exact two-sided test: one of two was right alone so often, the other so often."""
    from scipy.stats import binomtest

    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0

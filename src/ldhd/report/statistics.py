"""Statistics over seeds: a mean with its interval, a success rate, a paired comparison."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, stdev

from ldhd.evaluate.accuracy import wilson

LEVEL = 0.95


@dataclass(frozen=True)
class Mean:
    """A mean over `n` seeds with its 95 % interval by Student's t; None where one seed leaves it open."""

    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Share:
    """How many of `n` seeds succeeded, with Wilson's 95 % interval of the rate."""

    successes: int
    n: int
    low: float
    high: float


@dataclass(frozen=True)
class Paired:
    """Differences of two cells over the seeds they share: their mean, and an exact two-sided sign test."""

    seeds: tuple[int, ...]
    difference: Mean
    wins: int
    losses: int
    p: float


def mean_interval(values: Sequence[float], lowest: float = 0.0, highest: float = 1.0) -> Mean:
    """The mean and mean ± t s / sqrt(n), with t the 97.5 % quantile at n - 1 degrees of freedom, clipped to a range."""
    if not values:
        raise ValueError("there are no values to average")
    centre, n = fmean(values), len(values)
    if n == 1:
        return Mean(centre, None, None, 1)
    reach = t_quantile(0.5 + LEVEL / 2, n - 1) * stdev(values, centre) / math.sqrt(n)
    return Mean(centre, max(lowest, centre - reach), min(highest, centre + reach), n)


def success_rate(outcomes: Sequence[bool]) -> Share:
    """How often it went well, with Wilson's interval."""
    successes = sum(outcomes)
    return Share(successes, len(outcomes), *wilson(successes, len(outcomes)))


def paired(first: dict[int, float], second: dict[int, float]) -> Paired | None:
    """Compare two cells, given as seed -> value, over the seeds they share; None if they share none."""
    seeds = tuple(sorted(first.keys() & second.keys()))
    if not seeds:
        return None
    differences = [first[seed] - second[seed] for seed in seeds]
    wins, losses = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    return Paired(seeds, mean_interval(differences, -1.0, 1.0), wins, losses, sign_test(wins, losses))


def sign_test(wins: int, losses: int) -> float:
    """The exact two-sided p-value of a fair coin giving a split at least this uneven; ties are left out."""
    n, least = wins + losses, min(wins, losses)
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(least + 1)) / 2**n)


@cache
def t_quantile(share: float, degrees: int) -> float:
    """The quantile of Student's t for a share of at least a half, by bisection of its distribution function."""
    low, high = 0.0, 1.0
    while t_probability(high, degrees) < share:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if t_probability(middle, degrees) < share else (low, middle)
    return high


def t_probability(t: float, degrees: int) -> float:
    """P(T <= t) for t >= 0 and whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(degrees))
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = degrees % 2
    term = cosine if odd else 1.0
    total = 0.0
    for k in range(1 + odd, degrees, 2):
        total += term
        term *= cosine**2 * k / (k + 1)
    central = 2 / math.pi * (angle + sine * total) if odd else sine * total
    return 0.5 + central / 2

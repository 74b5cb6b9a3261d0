"""Measured verdicts over the seeds of a group."""

from collections.abc import Sequence
from itertools import takewhile
from statistics import median

from ldhd.experiments.record import Record

GENERALISES, FAILS, ENOUGH_SEEDS = 0.9, 0.5, 3
"""Bounds of the median exact match at the largest test scale, and the number of fitted seeds that a verdict needs."""


def measured_verdict(records: Sequence[Record]) -> str:
    """Return `generalises`, `fails`, `mixed`, `not fitted` or `too few seeds`."""
    few = 0 < sum(record.fitted for record in records) < ENOUGH_SEEDS
    return "too few seeds" if few else measured_tendency(records)


def measured_tendency(records: Sequence[Record]) -> str:
    """Return the verdict regardless of the number of seeds."""
    fitted = [record.results[-1].exact for record in records if record.fitted]
    if not fitted:
        return "not fitted"
    value = median(fitted)
    return "generalises" if value >= GENERALISES else "fails" if value <= FAILS else "mixed"


def extrapolation_factor(records: Sequence[Record]) -> float:
    """Return how many times farther than trained the runs of a group hold.

    A scale holds if the median exact match over all seeds, fitted or not, is at least 90 %. The factor is the largest
    scale before the first one that does not hold, over the largest training scale; it is below 1 if the runs already
    fail within the training scales.
    """
    scales = sorted(result.scale for result in records[0].results)
    held = takewhile(lambda s: median(record.exact(s) or 0.0 for record in records) >= GENERALISES, scales)
    return max(held, default=0) / max(records[0].train_scales)

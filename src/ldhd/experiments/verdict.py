"""What runs of one setting say about it, over their seeds."""

from collections.abc import Sequence
from statistics import median

from ldhd.experiments.record import Record

GENERALISES, FAILS, ENOUGH_SEEDS = 0.9, 0.5, 3
"""Measured verdicts: median exact match at the largest test scale over at least three fitted seeds."""


def measured_verdict(records: Sequence[Record]) -> str:
    """`generalises`, `fails`, `mixed`, `not fitted`, or `too few seeds`."""
    few = 0 < sum(record.fitted for record in records) < ENOUGH_SEEDS
    return "too few seeds" if few else measured_tendency(records)


def measured_tendency(records: Sequence[Record]) -> str:
    """The verdict without asking for enough seeds."""
    fitted = [record.results[-1].exact for record in records if record.fitted]
    if not fitted:
        return "not fitted"
    value = median(fitted)
    return "generalises" if value >= GENERALISES else "fails" if value <= FAILS else "mixed"


def extrapolation_factor(records: Sequence[Record]) -> float:
    """The largest scale with a median exact match of at least 90 % over all seeds, over the largest training scale."""
    scales = [result.scale for result in records[0].results]
    held = [s for s in scales if median(record.exact(s) or 0.0 for record in records) >= GENERALISES]
    return max(held, default=0) / max(records[0].train_scales)

"""How many times as long one thing takes as another, measured in turn within one run."""

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """One comparison: `ratio` is the opponent's time over ours, above 1 if we are faster; `spread` its range."""

    case: str
    shape: str
    ratio: float
    spread: tuple[float, float]
    against: str


def compare(
    case: str, shape: str, against: str, ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int
) -> Case:
    """Both in turn, `repeats` times after one warm-up of each; the median of the ratios of neighbours."""
    ours()
    theirs()
    ratios = sorted(_seconds(theirs) / _seconds(ours) for _ in range(repeats))
    return Case(case, shape, statistics.median(ratios), (ratios[0], ratios[-1]), against)


def machine() -> dict[str, Any]:
    """What a ratio was measured on."""
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _seconds(action: Callable[[], Any]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started

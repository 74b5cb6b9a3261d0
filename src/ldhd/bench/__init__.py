"""Benchmarks: ratios within one run, never absolute times."""

from collections.abc import Callable

from ldhd.bench.ratio import Case
from ldhd.bench.wht import walsh_hadamard_cases

BENCHMARKS: dict[str, Callable[[], list[Case]]] = {"wht": walsh_hadamard_cases}

__all__ = ["BENCHMARKS", "Case"]

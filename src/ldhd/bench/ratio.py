"""Ratios of time and memory between contenders that take turns within one run."""

import os
import platform
import resource
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

Measure = Literal["speed", "cost", "memory", "growth", "share", "exponent"]


@dataclass(frozen=True)
class Case:
    """One comparison: the median ratio over the rounds, and its smallest and largest value (`spread`).

    `measure` says what was compared: `speed`, the opponent's time over ours, above 1 if we are faster; `cost`, our time
    over the opponent's; `memory`, the same for the peak memory of tensors; `growth`, our time for one string over the
    opponent's for one of the smallest size; `share`, our operations a second over the opponent's; `exponent`, that of n
    in a fitted power law.
    """

    case: str
    shape: str
    ratio: float
    spread: tuple[float, float]
    against: str
    measure: Measure = "speed"
    n: int | None = None
    """The length of the strings, where it varies."""


def compare(
    case: str, shape: str, against: str, ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int
) -> Case:
    """Time both in turn, `repeats` times after one warm-up of each, and return the speed of ours.

    They may start processes, so that wall-clock time is measured.
    """
    times = in_turn({"ours": ours, "theirs": theirs}, repeats, time.perf_counter)
    return summary(case, shape, against, times["theirs"], times["ours"], "speed")


def clock_of_threads() -> float:
    """Return the seconds of a clock: processor time on one thread, which other programs disturb less than wall-clock
    time, and wall-clock time on several."""
    return time.process_time() if torch.get_num_threads() == 1 else time.perf_counter()


def clock_of_commands() -> float:
    """Return the processor time of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def in_turn(
    actions: Mapping[str, Callable[[], Any]], rounds: int, clock: Callable[[], float] = clock_of_threads
) -> dict[str, list[float]]:
    """Return the seconds of each action in each round, after one round to warm up."""
    for action in actions.values():
        action()
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            seconds[name].append(timed(action, clock))
    return seconds


def summary(
    case: str,
    shape: str,
    against: str,
    numerators: list[float],
    denominators: list[float],
    measure: Measure,
    n: int | None = None,
) -> Case:
    """Return the median and the range of the ratios of the rounds."""
    ratios = sorted(a / b for a, b in zip(numerators, denominators, strict=True))
    return Case(case, shape, statistics.median(ratios), (ratios[0], ratios[-1]), against, measure, n)


def timed(action: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds that an action takes."""
    started = clock()
    action()
    return clock() - started


def within(case: str, shape: str, limit: float, seconds: list[float]) -> Case:
    """Compare a limit with the seconds measured, as if it were an opponent: above 1 if the limit is kept."""
    return summary(case, shape, f"a limit of {limit:g} s", [limit] * len(seconds), seconds, "speed")


def exponent(sizes: list[int], values: list[float]) -> float:
    """Return b of the power law a n^b that fits the values best, by least squares of logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def machine() -> dict[str, Any]:
    """Return what a ratio was measured on: processor, cores, threads and versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": torch.__version__,
        **{name: metadata.version(name) for name in ("transformers", "boofun") if find_spec(name) is not None},
    }


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()

"""Parsing of ranges of scales and seeds, and of settings, as users write them."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

Value = TypeVar("Value")

SCALES = range(1, 100_001)
SEEDS = range(2**63)
MOST_VALUES = 100_000
"""The largest number of values that a text may stand for."""


def parse_range(text: str, name: str, allowed: range = SCALES) -> tuple[int, ...]:
    """Parse `1-5,10` as (1, 2, 3, 4, 5, 10); ValueError, which names the option, if a value is invalid or repeated."""
    numbers: list[int] = []
    for part in (part.strip() for part in text.split(",")):
        first, dash, last = part.partition("-")
        if not _is_number(first) or (dash and not _is_number(last)):
            raise ValueError(f"{name}: {part!r} is neither a number nor a range such as 1-5, in {text!r}")
        start, end = int(first), int(last or first)
        if start > end:
            raise ValueError(f"{name}: {part!r} runs backwards; write {end}-{start}")
        if end >= allowed.stop:
            raise ValueError(f"{name}: {end} is above the largest value, {allowed.stop - 1}")
        if len(numbers) + end - start >= MOST_VALUES:
            raise ValueError(f"{name}: {text!r} names more than {MOST_VALUES} values")
        numbers += range(start, end + 1)
    if min(numbers) < allowed.start:
        raise ValueError(f"{name}: values start at {allowed.start}, got {min(numbers)} in {text!r}")
    if len(set(numbers)) != len(numbers):
        raise ValueError(f"{name}: {text!r} names a value twice")
    return tuple(sorted(numbers))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def spans(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and last of consecutive numbers: 1, 2, 3, 7 is (1, 3), (7, 7)."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def evenly(values: Sequence[Value], most: int) -> list[Value]:
    """Return at most so many of the values, evenly chosen, the first and the last among them."""
    last = len(values) - 1
    return list(values) if last < most else [values[round(k * last / (most - 1))] for k in range(most)]


def format_range(numbers: Iterable[int]) -> str:
    """Write (1, 2, 3, 20) as `1-3,20`, the inverse of `parse_range`."""
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans(numbers))


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Parse [`train.steps=100`, `train.samples=endless`] as {"train.steps": 100, "train.samples": "endless"}."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not key or not equals:
            raise ValueError(f"--set takes KEY=VALUE, such as position.max_distance=2, got {pair!r}")
        if key in settings:
            raise ValueError(f"--set gives {key} twice")
        try:
            settings[key] = json.loads(text)
        except ValueError:
            settings[key] = text
    return settings

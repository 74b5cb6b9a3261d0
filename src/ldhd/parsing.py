"""What users write on the command line: ranges of scales and seeds, and settings."""

import json
from collections.abc import Sequence
from typing import Any

LARGEST = 100_000


def parse_range(text: str, name: str, least: int = 1) -> tuple[int, ...]:
    """`1-5,10` -> (1, 2, 3, 4, 5, 10); ValueError naming the option unless the numbers are valid and rise."""
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError(f"{name}: {part.strip()!r} is neither a number nor a range such as 1-5, in {text!r}")
        start, end = int(first), int(last or first)
        if start > end:
            raise ValueError(f"{name}: {part.strip()!r} runs backwards; write {end}-{start}")
        if end > LARGEST:
            raise ValueError(f"{name}: {end} is above the largest value, {LARGEST}")
        numbers += range(start, end + 1)
    if min(numbers) < least:
        raise ValueError(f"{name}: values start at {least}, got {min(numbers)} in {text!r}")
    if len(set(numbers)) != len(numbers):
        raise ValueError(f"{name}: {text!r} names a value twice")
    return tuple(sorted(numbers))


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """[`train.steps=100`, `position.hard=true`] -> {"train.steps": 100, "position.hard": True}."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not key or not equals:
            raise ValueError(f"--set takes KEY=VALUE, such as position.max_distance=2, got {pair!r}")
        if key in settings:
            raise ValueError(f"--set gives {key} twice")
        settings[key] = _value(text)
    return settings


def _value(text: str) -> Any:
    """JSON where it is JSON (numbers, true, null, lists), else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text

"""A sweep as a TOML file: tasks x positions x options x seeds, a list of runs, or both.

>>> parse_sweep('tasks = ["copy"]\\npositions = ["rpe", "rpe-square"]\\nseeds = "0-4"', "sweep.toml")  # ten configs
"""

import itertools
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ldhd.experiments.config import RunConfig, make_configs
from ldhd.parsing import SCALES, SEEDS, parse_range

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

COMMON = ("model", "train_scales", "test_scales", "steps", "seeds", "device", "set")
GRID_KEYS = ("tasks", "positions", *COMMON)
RUN_KEYS = ("task", "position", *COMMON)
LARGEST_SWEEP = 100_000
"""Runs beyond which a sweep is taken for a mistake."""


def read_sweep(path: Path) -> list[RunConfig]:
    """The configs a file stands for; ValueError that names the place of what is wrong.

    Whether models can be built and strings fit is left to `run_sweep`, which asks it of runs that are not finished.
    """
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no UTF-8 text: {error.reason} at byte {error.start}") from None
    return parse_sweep(text, str(path))


def parse_sweep(text: str, name: str) -> list[RunConfig]:
    """The configs of a sweep's text; `name` is what errors call it. A run that is named twice is one run."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is no TOML: {error}") from None
    blocks = table.pop("runs", [])
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise ValueError(f"{name}: runs must be written as [[runs]], a table for each")
    try:
        configs = _grid(table) if table or not blocks else []
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}: {error}") from None
    for number, block in enumerate(blocks, start=1):
        try:
            configs += _run(block)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{name}: [[runs]] number {number}: {error}") from None
    return list({config.hash: config for config in configs}.values())


def _grid(table: Mapping[str, Any]) -> list[RunConfig]:
    _check_keys(table, GRID_KEYS, ("tasks", "positions"))
    return _configs(_names(table, "tasks"), _names(table, "positions"), table)


def _run(table: Mapping[str, Any]) -> list[RunConfig]:
    _check_keys(table, RUN_KEYS, ("task", "position"))
    return _configs([_text(table, "task")], [_text(table, "position")], table)


def _configs(tasks: list[str], positions: list[str], table: Mapping[str, Any]) -> list[RunConfig]:
    seeds = _range(table, "seeds", SEEDS) or (0,)
    options = _options(table.get("set", {}))
    size = len(tasks) * len(positions) * len(seeds)
    for values in options.values():
        size *= len(values)
    if size > LARGEST_SWEEP:
        raise ValueError(f"this would be {size} runs, more than {LARGEST_SWEEP}")
    given: dict[str, Any] = {
        "model": _text(table, "model") if "model" in table else None,
        "train_scales": _range(table, "train_scales"),
        "test_scales": _range(table, "test_scales"),
        "steps": _steps(table),
        "device": _text(table, "device") if "device" in table else "cpu",
        "built": False,
    }
    return [
        config
        for task in tasks
        for values in itertools.product(*options.values())
        for config in make_configs(
            task, positions, seeds=seeds, settings=dict(zip(options, values, strict=True)), **given
        )
    ]


def _check_keys(table: Mapping[str, Any], allowed: tuple[str, ...], required: tuple[str, ...]) -> None:
    for key in table:
        if key not in allowed:
            raise ValueError(f"there is no key {key!r}; keys are {', '.join(allowed)}")
    for key in required:
        if key not in table:
            raise ValueError(f"{key} is missing")


def _text(table: Mapping[str, Any], key: str) -> str:
    if not isinstance(table[key], str):
        raise ValueError(f"{key} must be a text, got {table[key]!r}")
    return str(table[key])


def _names(table: Mapping[str, Any], key: str) -> list[str]:
    value = table[key]
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        raise ValueError(f"{key} must be a list of names, got {value!r}")
    if len(set(value)) != len(value):
        raise ValueError(f"{key} names something twice: {value!r}")
    return value


def _range(table: Mapping[str, Any], key: str, allowed: range = SCALES) -> tuple[int, ...] | None:
    """`"1-5,10"`, `[1, 2, 10]` or `3`; None if the key is absent."""
    if key not in table:
        return None
    value = table[key]
    numbers = value if isinstance(value, list) else [value]
    if isinstance(value, str):
        return parse_range(value, key, allowed)
    if not numbers or not all(type(number) is int and number >= allowed.start for number in numbers):
        raise ValueError(f"{key} must be like '1-5,10', or whole numbers from {allowed.start} up, got {value!r}")
    return parse_range(",".join(map(str, numbers)), key, allowed)


def _steps(table: Mapping[str, Any]) -> int | None:
    steps = table.get("steps")
    if steps is not None and not (type(steps) is int and 1 <= steps <= 10**12):
        raise ValueError(f"steps must be a whole number from 1 up, got {steps!r}")
    return steps


def _options(table: Any) -> dict[str, list[Any]]:
    """`train.learning_rate` and the like -> the values to try, one or a list of them."""
    if not isinstance(table, dict):
        raise ValueError(f"set must be a table such as [set], got {table!r}")
    options: dict[str, list[Any]] = {}
    for key, value in _flat(table):
        if key in options:
            raise ValueError(f"set.{key} is given twice")
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(one, str | bool | int | float) for one in values):
            raise ValueError(f"set.{key} must be a text, a number, true, false, or a list of these, got {value!r}")
        if len({repr(one) for one in values}) != len(values):
            raise ValueError(f"set.{key} names a value twice: {value!r}")
        options[key] = values
    return options


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value

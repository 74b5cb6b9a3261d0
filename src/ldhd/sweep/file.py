"""A sweep as a TOML file: tasks x positions x options x seeds, a list of runs, or both.

>>> parse_sweep('tasks = ["copy"]\\npositions = ["rpe", "rpe-square"]\\nseeds = "0-4"', "sweep.toml")  # ten configs
"""

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ldhd.experiments.config import RunConfig, make_configs
from ldhd.parsing import SCALES, SEEDS, parse_range

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LARGEST_SWEEP = 100_000
"""Sweeps of more runs are taken for a mistake."""


def read_sweep(path: Path) -> list[RunConfig]:
    """Return the configs of a sweep file; ValueError names the place of what is wrong.

    Whether models can be built and strings fit is checked by `run_sweep`, for the runs that are not finished.
    """
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no UTF-8 text: {error.reason} at byte {error.start}") from None
    return parse_sweep(text, str(path))


def parse_sweep(text: str, name: str) -> list[RunConfig]:
    """Return the configs of the text of a sweep, each run once; errors call it `name`."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is no TOML: {error}") from None
    blocks = table.pop("runs", [])
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise ValueError(f"{name}: runs must be written as [[runs]], a table for each")
    tables = [(name, table, GRID_KEYS)] if table or not blocks else []
    tables += [(f"{name}: [[runs]] number {number}", block, RUN_KEYS) for number, block in enumerate(blocks, start=1)]
    configs: dict[str, RunConfig] = {}
    for place, block, keys in tables:
        try:
            configs |= {config.hash: config for config in _configs(block, keys)}
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{place}: {error}") from None
    return list(configs.values())


def _configs(table: Mapping[str, Any], keys: "Mapping[str, Parser]") -> list[RunConfig]:
    """Return the configs of a grid, or of one of the `[[runs]]`; `keys` are those it may have."""
    for key in table:
        if key not in keys:
            raise ValueError(f"there is no key {key!r}; keys are {', '.join(keys)}")
    required = list(keys)[:2]
    for key in required:
        if key not in table:
            raise ValueError(f"{key} is missing")
    values = {key: keys[key](value, key) for key, value in table.items()}
    tasks, positions = (_as_list(values.pop(key)) for key in required)
    seeds, options = values.pop("seeds", (0,)), values.pop("set", {})
    size = len(tasks) * len(positions) * len(seeds) * math.prod(map(len, options.values()))
    if size > LARGEST_SWEEP:
        raise ValueError(f"this would be {size} runs, more than {LARGEST_SWEEP}")
    return [
        config
        for task in tasks
        for chosen in itertools.product(*options.values())
        for config in make_configs(
            task, positions, seeds=seeds, settings=dict(zip(options, chosen, strict=True)), built=False, **values
        )
    ]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{key} must be a text, got {value!r}")
    return value


def _names(value: Any, key: str) -> list[str]:
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        raise ValueError(f"{key} must be a list of names, got {value!r}")
    if len(set(value)) != len(value):
        raise ValueError(f"{key} names something twice: {value!r}")
    return value


def _range(value: Any, key: str, allowed: range = SCALES) -> tuple[int, ...]:
    """Parse `"1-5,10"`, `[1, 2, 10]` or `3`."""
    if isinstance(value, str):
        return parse_range(value, key, allowed)
    numbers = _as_list(value)
    if not numbers or not all(type(number) is int and number >= allowed.start for number in numbers):
        raise ValueError(f"{key} must be like '1-5,10', or whole numbers from {allowed.start} up, got {value!r}")
    return parse_range(",".join(map(str, numbers)), key, allowed)


def _steps(value: Any, key: str) -> int:
    if type(value) is not int or not 1 <= value <= 10**12:
        raise ValueError(f"{key} must be a whole number from 1 up, got {value!r}")
    return value


def _options(value: Any, key: str) -> dict[str, list[Any]]:
    """Return the values to try of each setting, such as `train.learning_rate`."""
    if not isinstance(value, dict):
        raise ValueError(f"{key} must be a table such as [set], got {value!r}")
    options: dict[str, list[Any]] = {}
    for name, given in _flat(value):
        if name in options:
            raise ValueError(f"set.{name} is given twice")
        values = _as_list(given)
        if not values or not all(isinstance(one, str | bool | int | float) for one in values):
            raise ValueError(f"set.{name} must be a text, a number, true, false, or a list of these, got {given!r}")
        if len({repr(one) for one in values}) != len(values):
            raise ValueError(f"set.{name} names a value twice: {given!r}")
        options[name] = values
    return options


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


Parser = Callable[[Any, str], Any]
"""Parses the value of a key."""
COMMON_KEYS: dict[str, Parser] = {
    "model": _text,
    "train_scales": _range,
    "test_scales": _range,
    "steps": _steps,
    "seeds": partial(_range, allowed=SEEDS),
    "device": _text,
    "set": _options,
}
GRID_KEYS: dict[str, Parser] = {"tasks": _names, "positions": _names, **COMMON_KEYS}
"""The keys of a grid; the first two are required, as in RUN_KEYS."""
RUN_KEYS: dict[str, Parser] = {"task": _text, "position": _text, **COMMON_KEYS}

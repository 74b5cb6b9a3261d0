"""A sweep as a TOML file: tasks x positions x options x seeds, a list of runs, or both.

>>> parse_sweep('tasks = ["copy"]\\npositions = ["rpe", "rpe-square"]\\nseeds = "0-4"', "sweep.toml")  # ten configs
"""

import itertools
import math
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ldhd.experiments.config import RunConfig, make_configs
from ldhd.parsing import SCALES, SEEDS, parse_range

LARGEST_SWEEP = 100_000
"""Sweeps of more runs are taken for a mistake."""
OPTIONAL_KEYS = ("model", "train_scales", "test_scales", "steps", "seeds", "device", "set")
RANGES = {"train_scales": SCALES, "test_scales": SCALES, "seeds": SEEDS}


def read_sweep(path: Path) -> list[RunConfig]:
    """Return the configs of a sweep file; ValueError names the place of an error. `run_sweep` checks the models."""
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
    tables = [(name, table, ("tasks", "positions"))] if table or not blocks else []
    tables += [(f"{name}: [[runs]] number {n}", block, ("task", "position")) for n, block in enumerate(blocks, start=1)]
    configs: dict[str, RunConfig] = {}
    left = LARGEST_SWEEP
    for place, block, required in tables:
        try:
            found = _configs(block, required, left)
            left -= len(found)
            configs |= {config.hash: config for config in found}
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{place}: {error}") from None
    return list(configs.values())


def _configs(table: Mapping[str, Any], required: tuple[str, str], most: int) -> list[RunConfig]:
    """Return the at most so many configs of a grid, or of one of the `[[runs]]`.

    Whatever is not checked here, `make_config` checks.
    """
    keys = *required, *OPTIONAL_KEYS
    for key in table:
        if key not in keys:
            raise ValueError(f"there is no key {key!r}; keys are {', '.join(keys)}")
    for key in required:
        if key not in table:
            raise ValueError(f"{key} is missing")
    for key in ("task", "position", "model"):
        if not isinstance(table.get(key, ""), str):
            raise ValueError(f"{key} must be a name, got {table[key]!r}")
    values = {"seeds": 0, **table}
    tasks, positions = (_names(values.pop(key), key) for key in required)
    options = _options(values.pop("set", {}))
    for key, allowed in RANGES.items():
        if key in values:  # "1-5,10", [1, 2, 10] or 3
            values[key] = parse_range(",".join(map(str, _as_list(values[key]))), key, allowed)
    size = len(tasks) * len(positions) * len(values["seeds"]) * math.prod(map(len, options.values()))
    if size > most:
        raise ValueError(f"this would be {LARGEST_SWEEP - most + size} runs, more than {LARGEST_SWEEP}")
    return [
        config
        for task in tasks
        for chosen in itertools.product(*options.values())
        for config in make_configs(
            task, positions, settings=dict(zip(options, chosen, strict=True)), built=False, **values
        )
    ]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _names(value: Any, key: str) -> list[str]:
    names = value if key.endswith("s") else [value]
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{key} must be a list of names, got {value!r}")
    if len(set(names)) != len(names):
        raise ValueError(f"{key} names something twice: {value!r}")
    return names


def _options(table: Any) -> dict[str, list[Any]]:
    """Return the values to try of each setting, such as `train.learning_rate`."""
    if not isinstance(table, dict):
        raise ValueError(f"set must be a table such as [set], got {table!r}")
    options: dict[str, list[Any]] = {}
    for name, value in _flat(table):
        if name in options:
            raise ValueError(f"set.{name} is given twice")
        options[name] = _as_list(value)
        if not options[name] or not all(isinstance(one, str | bool | int | float) for one in options[name]):
            raise ValueError(f"set.{name} must be a text, a number, true, false, or a list of these, got {value!r}")
        if len(set(map(repr, options[name]))) != len(options[name]):
            raise ValueError(f"set.{name} names a value twice: {value!r}")
    return options


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value

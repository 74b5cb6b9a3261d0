"""Documents that other commands printed with --json and that the report shows."""

import json
from pathlib import Path
from typing import Any

NEEDED = {
    "claims": ("ldhd verify --json", ("id", "claim", "verdict")),
    "predictions": (
        "ldhd predict --json",
        ("task", "position", "position_options", "layers", "train_scales", "test_scales", "verdict", "max_scale"),
    ),
    "cases": ("ldhd bench --json", ("case", "shape", "ratio", "spread", "against")),
}
"""The list in a document -> the command that prints it, and the keys that each entry of the list must have."""


def read_document(path: Path, key: str) -> dict[str, Any]:
    """Read a document whose list `key` has what the report needs; a ValueError says in one line what it lacks."""
    command, fields = NEEDED[key]
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON: {error}; it should come from `{command}`") from None
    rows = value.get(key) if isinstance(value, dict) else None
    if not isinstance(rows, list):
        raise ValueError(f"{path} has no list {key!r}; it should come from `{command}`")
    for number, row in enumerate(rows):
        absent = [name for name in fields if not isinstance(row, dict) or name not in row]
        if absent:
            raise ValueError(f"{path}: entry {number} of {key!r} lacks {absent[0]!r}; it should come from `{command}`")
    return value

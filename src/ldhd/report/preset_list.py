"""The result of `ldhd reproduce --list`: every preset with its number of runs, its time and its stored result."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

import ldhd
from ldhd.experiments.preset import SIZES, Preset
from ldhd.experiments.presets import PRESETS
from ldhd.experiments.views import Depths, Grid
from ldhd.files import BadFileError, read_json
from ldhd.names import lookup_only
from ldhd.report.figures.accuracy import seeds_of
from ldhd.report.table import percent
from ldhd.report.terminal import folding, plain_table


@dataclass(frozen=True)
class PresetList:
    """All presets of a size."""

    size: str

    def __post_init__(self) -> None:
        lookup_only(self.size, SIZES, "size")

    def document(self) -> dict[str, Any]:
        return {"presets": [self._row(preset) for preset in PRESETS.values() if self.size in preset.sizes]}

    def view(self) -> Iterator[Table]:
        columns = folding("name", "what", "runs", "training", "stored result")
        rows = [
            (row["preset"], escape(row["title"]), row["runs"], _duration(row), row["stored"] or "none")
            for row in self.document()["presets"]
        ]
        caption = "training times are sums over runs of one core each, from the stored seeds"
        yield plain_table(f"presets, size {self.size}", columns, rows, caption)

    def _row(self, preset: Preset) -> dict[str, Any]:
        own, other = stored(preset, self.size), {"full": "quick", "quick": "full"}.get(self.size)
        known = own or (stored(preset, other) if other else None)
        runs = len(preset.configs(self.size))
        return {
            "preset": preset.name,
            "title": preset.title,
            "says": preset.statement,
            "seeds": list(preset.sizes[self.size]),
            "runs": runs,
            "expected_seconds": known["seconds"] * runs / len(known["runs"]) if known and known["runs"] else None,
            "stored": None if own is None else _summary(preset, own, len(preset.sizes[self.size])),
            "assumed": preset.assumptions(self.size),
        }


def stored(preset: Preset, size: str) -> dict[str, Any] | None:
    """Return the document of a preset in `results/` of the source tree, None if there is none."""
    path = Path(ldhd.__file__).parents[2] / "results" / size / f"{preset.file_name}.json"
    try:
        return read_json(path)
    except (OSError, BadFileError):
        return None


def _summary(preset: Preset, document: dict[str, Any], seeds: int) -> str:
    """Return `rpe-square 100, rpe 0 (1 seed, not fitted)` and so on: exact match in % at the largest scale."""
    most = len(document["seeds"])
    shown = []
    for outcome in document["outcomes"]:
        notes = [seeds_of(outcome["seeds"])] * (outcome["seeds"] < most) + ["not fitted"] * (not outcome["fitted"])
        shown.append(f"{outcome['label']} {percent(outcome['exact'])}" + (f" ({', '.join(notes)})" if notes else ""))
    if not shown or isinstance(preset.view, (Grid, Depths)):
        shown = ["drawn"]
    return ", ".join(shown) + (f"; {most} of {seeds} seeds" if document["runs"] and most < seeds else "")


def _duration(row: dict[str, Any]) -> str:
    seconds = row["expected_seconds"]
    if not row["runs"]:
        return "seconds"
    if seconds is None:
        return "not measured"
    return f"{seconds:.0f} s" if seconds < 90 else str(timedelta(seconds=round(seconds)))

"""Runs that differ in their seed alone, as one cell; what tells cells apart, and what they measured."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ldhd.experiments import Record, RunConfig
from ldhd.experiments.verdict import GENERALISES, measured_tendency, measured_verdict
from ldhd.report.statistics import Mean, Share, mean_interval, success_rate


@dataclass(frozen=True)
class Cell:
    """One embedding on one task: all its seeds, failures included."""

    task: str
    position: str
    model: str
    records: tuple[Record, ...]
    options: str = ""
    """What tells it from other cells of its task and position."""
    label: str = ""
    """Its name among the cells of its task."""

    @property
    def scales(self) -> list[int]:
        return sorted({result.scale for record in self.records for result in record.results})

    @property
    def train_scales(self) -> list[int]:
        return self.records[0].train_scales

    @property
    def fitted(self) -> int:
        return sum(record.fitted for record in self.records)

    def exact(self, scale: int) -> list[float]:
        """Exact match of every seed at a scale."""
        return [value for record in self.records if (value := record.exact(scale)) is not None]

    def by_seed(self, scale: int) -> dict[int, float]:
        """Exact match at a scale, seed -> value."""
        return {record.seed: value for record in self.records if (value := record.exact(scale)) is not None}

    def mean(self, scale: int) -> float:
        return fmean(self.exact(scale))

    def interval(self, scale: int) -> Mean:
        """The mean over seeds at a scale, with its 95 % interval."""
        return mean_interval(self.exact(scale))

    def succeeded(self, record: Record) -> bool:
        """Whether a seed fits and reaches what `generalises` asks for at the largest test scale."""
        return record.fitted and (record.exact(self.scales[-1]) or 0.0) >= GENERALISES

    def success(self) -> Share:
        """How many seeds succeeded."""
        return success_rate([self.succeeded(record) for record in self.records])

    def verdict(self) -> str:
        """`generalises`, `fails`, `mixed`, `not fitted`, or `too few seeds`."""
        return measured_verdict(self.records)

    def tendency(self) -> str:
        """The verdict without asking for enough seeds."""
        return measured_tendency(self.records)


def cells(records: Iterable[Record], configs: Mapping[str, RunConfig] | None = None) -> list[Cell]:
    """Records grouped by everything but the seed, in the order they come.

    `configs` maps a record's hash to its config; a record without is grouped by task, embedding and model.
    """
    groups: dict[tuple[str, str, str, str], list[Record]] = {}
    kinds: dict[tuple[str, str, str, str], RunConfig | None] = {}
    for record in records:
        config = (configs or {}).get(record.hash)
        key = (record.task, record.position, record.model, kind(config) if config else "")
        groups.setdefault(key, []).append(record)
        kinds.setdefault(key, config)
    known = [config for config in kinds.values() if config]
    options = dict(zip((kind(config) for config in known), told_apart(known), strict=True))
    found = [
        Cell(*key[:3], tuple(sorted(group, key=lambda record: record.seed)), options.get(key[3], ""))
        for key, group in groups.items()
    ]
    return [_labelled(cell, found) for cell in found]


def kind(config: RunConfig) -> str:
    """Everything that determines a run but its seed; of the run it was extended from, only that there was one."""
    extended = ", extended" if config.extended_from else ""
    return config.model_dump_json(exclude={"seed", "extended_from"}) + extended


def told_apart(kinds: Sequence[RunConfig]) -> list[str]:
    """For each kind of run what tells it from others of its task and position; not what its model's name says."""
    flat = [_options(config) for config in kinds]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for config, options in zip(kinds, flat, strict=True):
        groups.setdefault((config.task, config.position), []).append(options)
    telling = {group: [key for key in _keys(rows) if _tells(key, rows)] for group, rows in groups.items()}
    return [
        ", ".join(f"{_setting(key)}={_short(options.get(key))}" for key in telling[config.task, config.position])
        for config, options in zip(kinds, flat, strict=True)
    ]


def per_position(cell: Cell, scale: int) -> Sequence[float]:
    """Accuracy of each answer token at a scale, averaged over seeds."""
    rows = [result.per_position for record in cell.records for result in record.results if result.scale == scale]
    longest = max(map(len, rows), default=0)
    return [fmean(row[place] for row in rows if place < len(row)) for place in range(longest)]


def _labelled(cell: Cell, others: Sequence[Cell]) -> Cell:
    """With a label: the position, the model where the task's cells have several, and as many of its options, in their
    order, as it takes to tell it from others of its position."""
    models = {other.model for other in others if other.task == cell.task}
    extra = [cell.model] if len(models) > 1 else []
    alike = [other for other in others if _same(cell, other) and other is not cell]
    rivals = [_parts(other) for other in alike if other.model == cell.model]
    for part in _parts(cell):
        if not rivals:
            break
        if any(part not in rival for rival in rivals):
            extra.append(part)
            rivals = [rival for rival in rivals if part in rival]
    label = f"{cell.position} ({', '.join(extra)})" if extra else cell.position
    return Cell(cell.task, cell.position, cell.model, cell.records, cell.options, label)


def _same(cell: Cell, other: Cell) -> bool:
    return (cell.task, cell.position) == (other.task, other.position)


def _parts(cell: Cell) -> list[str]:
    """Options that may tell it from others, training scales first."""
    parts = [part for part in cell.options.split(", ") if part and not part.startswith("model")]
    return sorted(parts, key=lambda part: not part.startswith("train_scales"))


def _options(config: RunConfig) -> dict[str, Any]:
    options = dict(_flat(config.model_dump(mode="json", exclude={"seed", "extended_from"})))
    return {**options, "extended": config.extended_from is not None}


def _flat(options: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for key, value in options.items():
        rows += _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else [(f"{prefix}{key}", value)]
    return rows


def _keys(rows: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def _tells(key: str, rows: Sequence[dict[str, Any]]) -> bool:
    """Whether an option differs between rows, and, for one of the model, within rows of one model's name."""
    values = {repr(row.get(key)) for row in rows}
    if key.startswith("model_options."):
        return len({(row["model"], repr(row.get(key))) for row in rows}) > len({row["model"] for row in rows})
    return len(values) > 1


def _setting(key: str) -> str:
    """An option by the name that `--set` takes."""
    return key.replace("position_options.", "position.").replace("model_options.", "model.")


def _short(value: Any) -> str:
    """Scales that follow on each other as a range."""
    if isinstance(value, list) and len(value) > 2 and value == list(range(value[0], value[-1] + 1)):
        return f"{value[0]}-{value[-1]}"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)

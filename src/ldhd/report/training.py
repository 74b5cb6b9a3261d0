"""Why a seed failed: accuracy, anchors and attention on the needed slots while it trained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ldhd.experiments import Record
from ldhd.report.summary import Cell

FATES = {"right": ("#0072B2", "solid"), "falls short": ("#E69F00", "dot"), "not fitted": ("#D55E00", "dash")}
"""What became of a seed, and the colour and dash it is drawn with."""

MOST_ROWS = 60
"""Rows of a run's metrics that are drawn, evenly chosen, the last among them."""

Metrics = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Course:
    """One run while it trained; a list is empty where it was not measured."""

    record: Record
    fate: str
    steps: list[int]
    accuracy: list[float]
    """Exact match at the largest training scale."""
    entropy: list[float]
    """Entropy of the anchor weights in nats, averaged over layers, terms and anchor heads."""
    needed: dict[str, list[float]]
    """For each needed slot the largest attention any head pays to it."""

    @property
    def weakest(self) -> list[float]:
        """The attention on the slot that gets least, at each step."""
        return [min(values) for values in zip(*self.needed.values(), strict=True)]

    @property
    def weakest_slots(self) -> list[str]:
        """Which slot gets least, at each step."""
        rows = zip(*self.needed.values(), strict=True)
        return [min(zip(values, self.needed, strict=True))[1] for values in rows]


def fate(record: Record, cell: Cell) -> str:
    """`not fitted`, `falls short` (fitted, but not right enough at the largest test scale) or `right`."""
    if not record.fitted:
        return "not fitted"
    return "right" if cell.succeeded(record) else "falls short"


def course(record: Record, cell: Cell, metrics: Metrics) -> Course:
    """What the rows of metrics.jsonl say, each quantity only if every row has it."""
    rows = _thinned(metrics)
    largest = str(max(record.train_scales))
    slots = list(rows[-1].get("needed") or {}) if rows else []
    whole = [slot for slot in slots if all(_number((row.get("needed") or {}).get(slot)) for row in rows)]
    accuracy: list[Any] = [(row.get("accuracy") or {}).get(largest) for row in rows]
    return Course(
        record,
        fate(record, cell),
        [int(row["step"]) for row in rows],
        [float(value) for value in accuracy] if all(map(_number, accuracy)) else [],
        _entropies(rows),
        {slot: [float(row["needed"][slot]) for row in rows] for slot in whole},
    )


def explanation(unlucky: Course, others: Sequence[Course]) -> str:
    """In words: where a seed ended, beside the mean of the seeds that went right."""
    right = [other for other in others if other.fate == "right"]
    parts = []
    if unlucky.accuracy:
        scale = max(unlucky.record.train_scales)
        parts.append(_beside(f"exact match at scale {scale}", unlucky.accuracy, [r.accuracy for r in right], "%"))
    if unlucky.entropy:
        parts.append(_beside("anchor entropy", unlucky.entropy, [r.entropy for r in right], "nats"))
    if unlucky.needed:
        slot = min(unlucky.needed, key=lambda name: unlucky.needed[name][-1])
        ends = [r.needed[slot] for r in right if slot in r.needed]
        parts.append(_beside(f"attention on its weakest slot, {slot}", unlucky.needed[slot], ends, ""))
    return "; ".join(parts)


def _beside(name: str, values: Sequence[float], others: Sequence[Sequence[float]], unit: str) -> str:
    def shown(value: float) -> str:
        return f"{100 * value:.1f} %" if unit == "%" else f"{value:.2f} {unit}".rstrip()

    ends = [other[-1] for other in others if other]
    beside = f" (seeds that went right: {shown(fmean(ends))})" if ends else ""
    return f"{name}: {shown(values[-1])}{beside}"


def _entropies(rows: Metrics) -> list[float]:
    found = [[value for term in row.get("anchor_entropy") or [] for value in term] for row in rows]
    return [fmean(values) for values in found] if found and all(found) else []


def _thinned(metrics: Metrics) -> list[Mapping[str, Any]]:
    rows = [row for row in metrics if _number(row.get("step"))]
    if len(rows) <= MOST_ROWS:
        return rows
    return [rows[round(k * (len(rows) - 1) / (MOST_ROWS - 1))] for k in range(MOST_ROWS)]


def _number(value: object) -> bool:
    return isinstance(value, int | float)

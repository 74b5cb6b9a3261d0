"""Learning curves: accuracy, anchors and attention on the needed slots while a seed trained, and why it failed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeVar

from ldhd.experiments import Record
from ldhd.experiments.groups import Group
from ldhd.report.figures.marks import Axis, Figure, Line, Panel, Style
from ldhd.report.runs import Runs

OUTCOMES = {"right": ("#0072B2", "solid"), "falls short": ("#E69F00", "dot"), "not fitted": ("#D55E00", "dash")}
"""The outcome of a seed, and the colour and dash it is drawn with."""

MOST_ROWS = 60
"""Rows of a run's metrics that are drawn, evenly chosen, the last among them."""

Metrics = Sequence[Mapping[str, Any]]
Value = TypeVar("Value")


@dataclass(frozen=True)
class LearningCurve:
    """One run while it trained; a list is empty where the quantity was not measured."""

    record: Record
    outcome: str
    steps: list[int]
    accuracy: list[float]
    """Exact match at the largest training scale."""
    entropy: list[float]
    """Entropy of the anchor weights in nats, averaged over layers, terms and anchor heads."""
    needed: dict[str, list[float]]
    """For each needed slot, the largest attention any head pays to it."""

    @property
    def weakest(self) -> list[float]:
        """The attention on the slot that gets least, at each step."""
        return [min(values) for values in zip(*self.needed.values(), strict=True)]

    @property
    def weakest_slots(self) -> list[str]:
        """The slot that gets least, at each step."""
        rows = zip(*self.needed.values(), strict=True)
        return [min(zip(values, self.needed, strict=True))[1] for values in rows]


def seed_outcome(record: Record, group: Group) -> str:
    """Return `not fitted`, `falls short` (fitted, but not right enough at the largest test scale) or `right`."""
    if not record.fitted:
        return "not fitted"
    return "right" if group.succeeded(record) else "falls short"


def learning_curve(record: Record, group: Group, metrics: Metrics) -> LearningCurve:
    """Read a learning curve from the rows of a run's metrics; a quantity counts only if every row has it."""
    rows = evenly([row for row in metrics if _is_number(row.get("step"))], MOST_ROWS)
    largest = str(max(record.train_scales))
    slots = list(rows[-1].get("needed") or {}) if rows else []
    whole = [slot for slot in slots if all(_is_number((row.get("needed") or {}).get(slot)) for row in rows)]
    accuracy: list[Any] = [(row.get("accuracy") or {}).get(largest) for row in rows]
    return LearningCurve(
        record,
        seed_outcome(record, group),
        [int(row["step"]) for row in rows],
        [float(value) for value in accuracy] if all(map(_is_number, accuracy)) else [],
        _entropies(rows),
        {slot: [float(row["needed"][slot]) for row in rows] for slot in whole},
    )


def learning_curves(group: Group, runs: Runs) -> list[LearningCurve]:
    """Read the learning curve of each seed of a group."""
    return [learning_curve(record, group, runs.metrics(record.hash)) for record in group.records]


def learning_curve_figure(curves: Sequence[LearningCurve], title: str) -> Figure | None:
    """A panel for each measured quantity, with a line for each seed; None if nothing was measured."""
    quantities: dict[str, Callable[[LearningCurve], tuple[Sequence[float], Sequence[str]]]] = {
        "fit": lambda curve: (curve.accuracy, ()),
        "anchor entropy\n(nats)": lambda curve: (curve.entropy, ()),
        "attention on the\nweakest slot": lambda curve: (curve.weakest, curve.weakest_slots),
    }
    panels = []
    for label, read in quantities.items():
        lines = [_line(curve, *read(curve)) for curve in curves if read(curve)[0]]
        limits = None if label.startswith("anchor") else (-0.05, 1.05)
        panels += [Panel(lines, Axis("step"), Axis(label, limits))] if lines else []
    return Figure(panels, (5.6, 0.7 + 1.4 * len(panels)), title=title, share="x") if panels else None


def explanation(failed: LearningCurve, others: Sequence[LearningCurve]) -> str:
    """Say where a failed seed ended, beside the mean of the seeds that went right."""
    right = [other for other in others if other.outcome == "right"]
    parts = []
    if failed.accuracy:
        scale = max(failed.record.train_scales)
        parts.append(_beside(f"exact match at scale {scale}", failed.accuracy, [r.accuracy for r in right], "%"))
    if failed.entropy:
        parts.append(_beside("anchor entropy", failed.entropy, [r.entropy for r in right], "nats"))
    if failed.needed:
        slot = min(failed.needed, key=lambda name: failed.needed[name][-1])
        ends = [r.needed[slot] for r in right if slot in r.needed]
        parts.append(_beside(f"attention on its weakest slot, {slot}", failed.needed[slot], ends, ""))
    return "; ".join(parts)


def evenly(values: Sequence[Value], most: int) -> list[Value]:
    """Return at most so many of the values, evenly chosen, the first and the last among them."""
    last = len(values) - 1
    return list(values) if last < most else [values[round(k * last / (most - 1))] for k in range(most)]


def _line(curve: LearningCurve, values: Sequence[float], texts: Sequence[str]) -> Line:
    """One quantity of one seed over steps; on the page, a click leads to its run."""
    color, dash = OUTCOMES[curve.outcome]
    style = Style(color=color, dash=dash, width=1.0 if curve.outcome == "right" else 1.5)
    name, link = f"seed {curve.record.seed}, {curve.outcome}", f"run-{curve.record.hash}"
    return Line(curve.steps[: len(values)], values, style, curve.outcome, name, texts=texts, link=link)


def _beside(name: str, values: Sequence[float], others: Sequence[Sequence[float]], unit: str) -> str:
    def shown(value: float) -> str:
        return f"{100 * value:.1f} %" if unit == "%" else f"{value:.2f} {unit}".rstrip()

    ends = [other[-1] for other in others if other]
    beside = f" (seeds that went right: {shown(fmean(ends))})" if ends else ""
    return f"{name}: {shown(values[-1])}{beside}"


def _entropies(rows: Metrics) -> list[float]:
    found = [[value for term in row.get("anchor_entropy") or [] for value in term] for row in rows]
    return [fmean(values) for values in found] if found and all(found) else []


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)

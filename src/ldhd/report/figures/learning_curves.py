"""Learning curves: accuracy, anchors and attention on the needed slots while a seed trained, and why it failed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ldhd.experiments import Record
from ldhd.experiments.groups import Group
from ldhd.parsing import evenly
from ldhd.report.figures.marks import Axis, Figure, Line, Panel, Style
from ldhd.report.runs import Runs

OUTCOMES = {"right": ("#0072B2", "solid"), "falls short": ("#E69F00", "dot"), "does not fit": ("#D55E00", "dash")}
"""The outcome of a seed, and the colour and dash it is drawn with."""
MOST_CURVES = 10
"""Seeds of a group whose learning curves are drawn."""
MOST_ROWS = 60
"""Rows of a run's metrics that are drawn, evenly chosen, the last among them."""


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
    def weakest(self) -> tuple[list[float], list[str]]:
        """The attention on the slot that gets least, and the name of that slot, at each step."""
        rows = zip(*self.needed.values(), strict=True)
        least = [min(zip(values, self.needed, strict=True)) for values in rows]
        return [value for value, _ in least], [slot for _, slot in least]


def seed_outcome(record: Record, group: Group) -> str:
    """Return `does not fit`, `falls short` (fitted, but not right enough at the largest test scale) or `right`."""
    if not record.fitted:
        return "does not fit"
    return "right" if group.succeeded(record) else "falls short"


def learning_curves(group: Group, runs: Runs) -> list[LearningCurve]:
    """Read the learning curves of a group, of very many seeds those of some, evenly chosen."""
    some = evenly(group.records, MOST_CURVES)
    return [learning_curve(record, group, runs.metrics(record.hash)) for record in some]


def learning_curve(record: Record, group: Group, metrics: Sequence[Mapping[str, Any]]) -> LearningCurve:
    """Read a learning curve from the rows of a run's metrics; a quantity counts only if every row has it."""
    rows = evenly([row for row in metrics if isinstance(row.get("step"), int | float)], MOST_ROWS)
    accuracy = [(row.get("accuracy") or {}).get(str(max(record.train_scales))) for row in rows]
    entropy = [[value for term in row.get("anchor_entropy") or [] for value in term] for row in rows]
    slots = list(rows[-1].get("needed") or {}) if rows else []
    needed = {slot: _numbers([(row.get("needed") or {}).get(slot) for row in rows]) for slot in slots}
    return LearningCurve(
        record,
        seed_outcome(record, group),
        [int(row["step"]) for row in rows],
        _numbers(accuracy),
        [fmean(values) for values in entropy] if all(entropy) else [],
        {slot: values for slot, values in needed.items() if values},
    )


def learning_curve_figure(curves: Sequence[LearningCurve], title: str) -> Figure | None:
    """A panel for each measured quantity, with a line for each seed; None if nothing was measured."""
    quantities: list[tuple[Axis, Callable[[LearningCurve], tuple[list[float], list[str]]]]] = [
        (Axis("fit", (-0.05, 1.05)), lambda curve: (curve.accuracy, [])),
        (Axis("anchor entropy\n(nats)"), lambda curve: (curve.entropy, [])),
        (Axis("attention on the\nweakest slot", (-0.05, 1.05)), lambda curve: curve.weakest),
    ]
    panels = []
    for axis, read in quantities:
        lines = [_line(curve, *read(curve)) for curve in curves if read(curve)[0]]
        panels += [Panel(lines, Axis("step"), axis)] if lines else []
    return Figure(panels, (5.6, 0.7 + 1.4 * len(panels)), title=title, share="x") if panels else None


def explanation(failed: LearningCurve, others: Sequence[LearningCurve]) -> str:
    """Say where a failed seed ended, beside the mean of the seeds that went right."""
    right = [other for other in others if other.outcome == "right"]
    scale = max(failed.record.train_scales)
    slot = min(failed.needed, key=lambda name: failed.needed[name][-1], default="")
    quantities: list[tuple[str, Callable[[LearningCurve], list[float]], str]] = [
        (f"exact match at scale {scale}", lambda curve: [100 * value for value in curve.accuracy], "{:.1f} %"),
        ("anchor entropy", lambda curve: curve.entropy, "{:.2f} nats"),
        (f"attention on its weakest slot, {slot}", lambda curve: curve.needed.get(slot, []), "{:.2f}"),
    ]
    parts = []
    for name, read, form in quantities:
        if read(failed):
            ends = [read(curve)[-1] for curve in right if read(curve)]
            beside = f" (seeds that went right: {form.format(fmean(ends))})" if ends else ""
            parts.append(f"{name}: {form.format(read(failed)[-1])}{beside}")
    return "; ".join(parts)


def _line(curve: LearningCurve, values: list[float], texts: list[str]) -> Line:
    """One quantity of one seed over steps; on the page, a click leads to its run."""
    color, dash = OUTCOMES[curve.outcome]
    style = Style(color=color, dash=dash, width=1.0 if curve.outcome == "right" else 1.5)
    name, link = f"seed {curve.record.seed}, {curve.outcome}", f"run-{curve.record.hash}"
    return Line(curve.steps, values, style, curve.outcome, name, texts=texts, link=link)


def _numbers(values: Sequence[Any]) -> list[float]:
    """The values if all of them are numbers, otherwise none."""
    return [float(value) for value in values] if all(isinstance(value, int | float) for value in values) else []

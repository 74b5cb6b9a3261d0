"""Predictions, designs and registered predictions against measurements, in the terminal and as JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

import ldhd
from ldhd.experiments.predictions import NamedPrediction, entry
from ldhd.experiments.registered import Comparison, count
from ldhd.files import write_bytes
from ldhd.predict import ASSUMPTIONS, Prediction, Step, Witness
from ldhd.predict.design import Design
from ldhd.report.terminal import plain_table

STYLES = {"generalises": "green", "fails": "red", "undecided": "yellow"}
MARKS = {"query": "?", "winner": "^", "loser": "x"}


def repository() -> Path:
    """The source tree this runs from, whose history holds the registered predictions."""
    return Path(ldhd.__file__).parents[2]


def predictions_json(found: Sequence[NamedPrediction], rows: Sequence[Comparison] | None) -> dict[str, Any]:
    document: dict[str, Any] = {
        "predictions": [named.document() for named in found],
        "assumptions": list(ASSUMPTIONS),
    }
    if rows is not None:
        document["comparisons"] = [{**asdict(row), "outcome": row.outcome} for row in rows]
        document["counts"] = {name: asdict(counted) for name, counted in count(rows).items()}
    return document


def write_register(path: Path, found: Sequence[NamedPrediction]) -> None:
    """One line for each prediction, so that versions can be compared."""
    lines = ",\n".join(json.dumps(entry(named)) for named in found)
    write_bytes(path, f'{{"predictions": [\n{lines}\n]}}\n'.encode())


def predictions_views(found: Sequence[NamedPrediction], explain: bool) -> Iterator[RenderableType]:
    yield predictions_table(found)
    if explain:
        for named in found:
            witness = named.prediction.witness
            if witness is not None:
                yield "\n".join(explanation(named.prediction, witness))
    yield "\n".join(["Assumed:", *(f"- {escape(assumption)}" for assumption in ASSUMPTIONS)])


def predictions_table(found: Sequence[NamedPrediction]) -> Table:
    """A row for each prediction, with the reason in one line."""
    table = plain_table("predictions, made without training")
    table.caption = (
        "up to: the largest scale that holds, 0 if training is not explained; risk: unneeded cells never seen"
    )
    for column in ("task", "position", "layers", "trained on", "verdict", "linear", "up to", "risk"):
        table.add_column(column, no_wrap=True)
    table.add_column("why", ratio=1)
    for named in found:
        prediction = named.prediction
        table.add_row(
            prediction.task,
            prediction.position,
            str(prediction.layers),
            ranges(prediction.train_scales),
            _styled(prediction.verdict),
            prediction.linear,
            str(prediction.max_scale),
            f"{prediction.risk:.2f}",
            escape(_reason(prediction)),
        )
    return table


def explanation(prediction: Prediction, witness: Witness) -> Iterator[str]:
    """The strings of a witness, each with marks under the tokens it is about."""
    layers = "1 layer" if prediction.layers == 1 else f"{prediction.layers} layers"
    yield f"[bold]{prediction.task}, {prediction.position}, {layers}[/bold]: {prediction.verdict}"
    yield f"  slot {witness.slot}, by {escape(witness.way)}"
    for step in witness.steps:
        kind = "training" if step.trained else "test"
        yield f"    {escape(step.text)}    {kind} string of scale {step.scale}"
        yield f"    {marks(step)}"
    yield f"  {escape(witness.words)}"
    yield "  ? the query, ^ what it needs, x what is confused with it"


def marks(step: Step) -> str:
    """A line to stand under the string: `?` the query, `^` what must win, `x` what must lose."""
    line = [" "] * len(step.text)
    for index, mark in ((step.query, "query"), (step.loser, "loser"), (step.winner, "winner")):
        if index is not None:
            line[index] = MARKS[mark]
    return "".join(line).rstrip()


def comparison_table(rows: Sequence[Comparison]) -> Table:
    """Predicted and measured, and how many registered predictions were right."""
    table = plain_table("predicted and measured")
    parts = [
        f"{name}: {found.hits} hits, {found.misses} misses, {found.open} open, {found.unregistered} unregistered"
        for name, found in count(rows).items()
    ]
    table.caption = "; ".join(parts)
    for column in ("task", "position", "layers", "trained on", "to scale", "seeds", "predicted", "measured", "outcome"):
        table.add_column(column, no_wrap=True)
    for row in rows:
        table.add_row(
            row.task,
            row.position,
            str(row.layers),
            ranges(row.train_scales),
            str(row.largest_scale),
            str(row.seeds),
            row.predicted or "nothing",
            row.measured,
            row.outcome if row.registered else f"{row.outcome}, not registered",
        )
    return table


def design_json(found: Design, embeddings: Mapping[str, tuple[bool, str]]) -> dict[str, Any]:
    return {
        "task": found.task,
        "layers": found.layers,
        "train_scales": list(found.train_scales),
        "test_scales": list(found.test_scales),
        "slots": {
            slot.slot: {
                "relation": slot.words,
                "served": slot.rule is not None,
                "read_with": list(slot.way.slots) if slot.way else [],
                "values": slot.values,
                "kept": sorted(slot.kept, key=str),
            }
            for slot in found.slots
        },
        "embeddings": {
            name: {"refines": refines, "verdict": verdict} for name, (refines, verdict) in embeddings.items()
        },
    }


def design_views(found: Design, embeddings: Mapping[str, tuple[bool, str]]) -> Iterator[RenderableType]:
    layers = "1 layer" if found.layers == 1 else f"{found.layers} layers"
    table = plain_table(f"{found.task}: what an embedding must tell apart, {layers}")
    table.caption = "classes: values that must stay apart, all others may be one class; of so many values in all"
    for column in ("slots", "tell apart", "classes"):
        table.add_column(column, overflow="fold")
    groups: dict[tuple[str, str], list[str]] = {}
    for slot in found.slots:
        classes = f"{len(slot.kept) + 1} of {slot.values}" if slot.rule is not None and slot.values > 1 else "1"
        groups.setdefault((slot.words, classes), []).append(slot.slot)
    for (words, classes), slots in groups.items():
        table.add_row(", ".join(slots), escape(words), classes)
    yield table
    names = plain_table("embeddings")
    for column in ("position", "refines it", "prediction"):
        names.add_column(column)
    for name, (refines, verdict) in embeddings.items():
        names.add_row(name, "yes" if refines else "no", _styled(verdict))
    yield names


def ranges(scales: Sequence[int]) -> str:
    """(1, 2, 3, 20) -> `1-3,20`."""
    parts: list[list[int]] = []
    for scale in scales:
        if parts and scale == parts[-1][-1] + 1:
            parts[-1].append(scale)
        else:
            parts.append([scale])
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def _reason(prediction: Prediction) -> str:
    if prediction.witness is not None:
        return f"{prediction.witness.slot}: {prediction.witness.words}"
    ways = dict.fromkeys(slot.way for slot in prediction.slots if slot.way != "content alone")
    return "; ".join(ways) or "content alone"


def _styled(verdict: str) -> str:
    style = STYLES.get(verdict)
    return f"[{style}]{verdict}[/{style}]" if style else verdict

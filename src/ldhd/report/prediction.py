"""The results of `ldhd predict` and `ldhd design`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

import ldhd
from ldhd.experiments.predictions import NamedPrediction, entry
from ldhd.experiments.registered import Comparison, Register, compare, count
from ldhd.experiments.studies import read_runs
from ldhd.experiments.views import depth
from ldhd.files import write_bytes
from ldhd.parsing import format_range
from ldhd.predict import ASSUMPTIONS, Constraint, Prediction, Witness
from ldhd.predict.design import Design
from ldhd.report.terminal import folding, plain_table

STYLES = {"generalises": "green", "fails": "red", "undecided": "yellow"}


@dataclass(frozen=True)
class Predictions:
    """The result of `ldhd predict`."""

    predictions: Sequence[NamedPrediction]
    comparisons: Sequence[Comparison] | None = None
    """Measured runs beside the predictions about them, where a comparison was requested."""
    explained: bool = False
    """Whether the view shows the strings behind each failure."""

    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "predictions": [named.document() for named in self.predictions],
            "assumptions": list(ASSUMPTIONS),
        }
        if self.comparisons is not None:
            document["comparisons"] = [{**asdict(row), "outcome": row.outcome} for row in self.comparisons]
            document["counts"] = {name: asdict(counted) for name, counted in count(self.comparisons).items()}
        return document

    def view(self) -> Iterator[RenderableType]:
        """Yield the table, the explanations, the assumptions, and the comparison with measurements."""
        names = "task", "position", "layers", "trained on", "verdict", "linear", "up to", "risk"
        columns = [*(Column(name, no_wrap=True) for name in names), Column("why", ratio=1)]
        rows = [_row(named.prediction) for named in self.predictions]
        caption = "up to: the largest scale that holds, 0 if training is not explained; risk: unneeded cells never seen"
        yield plain_table("predictions, made without training", columns, rows, caption)
        for prediction in (named.prediction for named in self.predictions if self.explained):
            if prediction.witness is not None:
                yield Text.from_markup("\n".join(explanation(prediction, prediction.witness)))
        yield Text("\n".join(["Assumed:", *(f"- {assumption}" for assumption in ASSUMPTIONS)]))
        if self.comparisons is not None:
            yield comparison_table(self.comparisons)


@dataclass(frozen=True)
class DesignResult:
    """The result of `ldhd design`: the design of a task, and which embeddings refine it."""

    design: Design
    embeddings: Mapping[str, tuple[bool, str]]
    """Name -> whether the embedding refines the design, and the predictor's verdict."""

    def document(self) -> dict[str, Any]:
        return {
            "task": self.design.task,
            "layers": self.design.layers,
            "train_scales": list(self.design.train_scales),
            "test_scales": list(self.design.test_scales),
            "slots": {
                slot.slot: {
                    "relation": slot.words,
                    "served": slot.rule is not None,
                    "read_with": list(slot.head.slots) if slot.head else [],
                    "values": slot.values,
                    "kept": sorted(slot.kept, key=str),
                }
                for slot in self.design.slots
            },
            "embeddings": {
                name: {"refines": refines, "verdict": verdict} for name, (refines, verdict) in self.embeddings.items()
            },
        }

    def view(self) -> Iterator[Table]:
        """Yield a table of slots and one of embeddings."""
        title = f"{self.design.task}: what an embedding must tell apart, {depth(self.design.layers)}"
        caption = "classes: values that must stay apart, all others may be one class; of so many values in all"
        groups: dict[tuple[str, str], list[str]] = {}
        for slot in self.design.slots:
            classes = f"{len(slot.kept) + 1} of {slot.values}" if slot.rule is not None and slot.values > 1 else "1"
            groups.setdefault((slot.words, classes), []).append(slot.slot)
        slots = [(", ".join(names), escape(words), classes) for (words, classes), names in groups.items()]
        yield plain_table(title, folding("slots", "tell apart", "classes"), slots, caption)
        rows = [(name, "yes" if refines else "no", _styled(said)) for name, (refines, said) in self.embeddings.items()]
        yield plain_table("embeddings", ("position", "refines it", "prediction"), rows)


def repository() -> Path:
    """Return the source tree whose history holds the registered predictions."""
    return Path(ldhd.__file__).parents[2]


def compare_measured(folder: Path, task: str) -> list[Comparison]:
    """Compare the finished runs of a task, or of `all`, with what the registered predictions say of them."""
    runs = [(run.config, run.record) for run in read_runs(folder) if task in ("all", run.config.task)]
    return compare(runs, Register(repository()))


def write_register(path: Path, predictions: Sequence[NamedPrediction]) -> None:
    """Write one line for each prediction, so that versions can be compared."""
    lines = ",\n".join(json.dumps(entry(named)) for named in predictions)
    write_bytes(path, f'{{"predictions": [\n{lines}\n]}}\n'.encode())


def explanation(prediction: Prediction, witness: Witness) -> Iterator[str]:
    """Yield the strings of a witness, each with marks under the tokens it is about, as markup of rich."""
    yield f"[bold]{prediction.task}, {prediction.position}, {depth(prediction.layers)}[/bold]: {prediction.verdict}"
    yield f"  slot {witness.slot}, by {escape(witness.head)}"
    for step in witness.constraints:
        kind = "training" if step.trained else "test"
        yield f"    {escape(step.text)}    {kind} string of scale {step.scale}"
        yield f"    {marks(step)}"
    yield f"  {escape(witness.words)}"
    yield "  ? the query, ^ what it needs, x what is confused with it"


def marks(step: Constraint) -> str:
    """Return a line to stand under a string: `?` the query, `^` the key that must win, `x` the one that must lose."""
    line = [" "] * len(step.text)
    for index, mark in ((step.query, "?"), (step.loser, "x"), (step.winner, "^")):
        if index is not None:
            line[index] = mark
    return "".join(line).rstrip()


def comparison_table(rows: Sequence[Comparison]) -> Table:
    """Return a table of predicted and measured verdicts; its caption counts the registered predictions."""
    names = "task", "position", "layers", "trained on", "to scale", "seeds", "predicted", "measured", "outcome"
    caption = "; ".join(
        f"{name}: {found.hits} hits, {found.misses} misses, {found.open} open, {found.unregistered} unregistered"
        for name, found in count(rows).items()
    )
    shown = []
    for row in rows:
        setting = row.task, row.position, row.layers, format_range(row.train_scales), row.largest_scale, row.seeds
        outcome = row.outcome if row.registered else f"{row.outcome}, not registered"
        shown.append((*setting, row.predicted or "nothing", row.measured, outcome))
    return plain_table("predicted and measured", [Column(name, no_wrap=True) for name in names], shown, caption)


def _row(prediction: Prediction) -> tuple[Any, ...]:
    setting = prediction.task, prediction.position, prediction.layers, format_range(prediction.train_scales)
    verdicts = _styled(prediction.verdict), prediction.linear, prediction.max_scale, f"{prediction.risk:.2f}"
    return *setting, *verdicts, escape(_reason(prediction))


def _reason(prediction: Prediction) -> str:
    if prediction.witness is not None:
        return f"{prediction.witness.slot}: {prediction.witness.words}"
    heads = dict.fromkeys(slot.head for slot in prediction.slots if slot.head != "content alone")
    return "; ".join(heads) or "content alone"


def _styled(verdict: str) -> str:
    style = STYLES.get(verdict)
    return f"[{style}]{verdict}[/{style}]" if style else verdict

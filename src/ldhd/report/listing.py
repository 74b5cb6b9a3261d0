"""The results of `ldhd tasks` and `ldhd positions`: tasks with examples, embeddings with their options."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.markup import escape
from rich.table import Table

from ldhd import seeds
from ldhd.experiments.parts import load_task, options_model
from ldhd.positions import POSITIONS
from ldhd.report.terminal import folding, plain_table
from ldhd.tasks import TASKS


@dataclass(frozen=True)
class TaskExamples:
    """Instances of one task, with the tokens that each answer token needs."""

    task: str
    scale: int
    count: int
    seed: int

    def examples(self) -> list[dict[str, Any]]:
        """Draw the instances."""
        task = load_task(self.task)
        stream = seeds.generator(self.seed, "example", task.name, self.scale)
        found = [task.sample(self.scale, stream) for _ in range(self.count)]
        return [{"prompt": x.prompt, "answer": x.answer, "scale": x.scale, "needs": task.needs(x)} for x in found]

    def document(self) -> dict[str, Any]:
        return {"task": self.task, "examples": self.examples()}

    def view(self) -> Iterator[Table]:
        """Yield a table: each example, and under it what each of its answer tokens needs."""
        title = f"{self.task}: prompt, answer, and what each answer token needs"
        table = plain_table(title, folding("prompt", "answer", "token", "needs (slot: token at index)"))
        for example in self.examples():
            head, text = (example["prompt"], example["answer"]), example["prompt"] + example["answer"]
            for token, needs in zip(example["answer"], example["needs"], strict=True):
                table.add_row(*head, token, _slots(text, needs))
                head = "", ""
            table.add_section()
        yield table


@dataclass(frozen=True)
class TaskList:
    """Every task of `ldhd.tasks.TASKS` with one example."""

    scale: int
    seed: int

    def document(self) -> dict[str, Any]:
        return {
            "tasks": [
                {
                    "task": name,
                    "train_scales": list(task.train_scales),
                    "train_size": task.latent.training_size(task.train_scales),
                    "format": _first_line(type(task.format).__doc__),
                    "example": TaskExamples(name, self.scale, 1, self.seed).examples()[0],
                }
                for name, task in TASKS.items()
            ]
        }

    def view(self) -> Iterator[Table]:
        rows = [
            (row["task"], escape(row["format"]), row["example"]["prompt"] + row["example"]["answer"])
            for row in self.document()["tasks"]
        ]
        yield plain_table("tasks", folding("task", "format", f"example of scale {self.scale}"), rows)


@dataclass(frozen=True)
class PositionList:
    """Every embedding of `ldhd.positions.POSITIONS` with its formula and options."""

    def document(self) -> dict[str, Any]:
        return {
            "positions": [
                {
                    "position": name,
                    "formula": _first_line(kind.__doc__),
                    "can_be_summed": kind.additive,
                    "options": {key: field.default for key, field in options_model(kind).model_fields.items()},
                }
                for name, kind in POSITIONS.items()
            ]
        }

    def view(self) -> Iterator[Table]:
        title = "position embeddings (those that only add can be summed: rpe-square+rpe-absolute)"
        table = plain_table(title, folding("position", "what it does", "summable", "options: --set position.X=..."))
        for row in self.document()["positions"]:
            options = ", ".join(f"{key}={value}" for key, value in row["options"].items())
            summable = "yes" if row["can_be_summed"] else "no"
            table.add_row(row["position"], escape(row["formula"]), summable, options, end_section=True)
        yield table


def _slots(text: str, needs: dict[str, int | None]) -> str:
    """Return what an answer token of an instance needs, such as `x: 7 at 2`."""
    places = {slot: "absent" if index is None else f"{text[index]} at {index}" for slot, index in needs.items()}
    return ", ".join(f"{slot}: {place}" for slot, place in places.items()) or "nothing"


def _first_line(docstring: str | None) -> str:
    return (docstring or "").strip().split("\n", 1)[0]

"""Tasks and embeddings, listed with examples and options."""

from typing import Any

from rich.markup import escape
from rich.table import Table

from ldhd import seeds
from ldhd.experiments.parts import load_task, options_model, position_terms
from ldhd.positions import POSITIONS
from ldhd.tasks import TASKS


def task_examples(name: str, scale: int, count: int, seed: int) -> list[dict[str, Any]]:
    """Instances of a task with what each answer token needs."""
    task = load_task(name)
    stream = seeds.generator(seed, "example", task.name, scale)
    instances = [task.sample(scale, stream) for _ in range(count)]
    return [
        {
            "prompt": instance.prompt,
            "answer": instance.answer,
            "scale": instance.scale,
            "needs": task.needs(instance),
        }
        for instance in instances
    ]


def tasks_json(scale: int, seed: int) -> list[dict[str, Any]]:
    """Every task of ours with one example."""
    return [
        {
            "task": name,
            "train_scales": list(task.train_scales),
            "train_size": task.latent.training_size(task.train_scales),
            "format": _first_line(type(task.format).__doc__),
            "example": task_examples(name, scale, 1, seed)[0],
        }
        for name, task in TASKS.items()
    ]


def tasks_table(scale: int, seed: int) -> Table:
    table = Table(title="tasks", title_justify="left")
    for column in ("task", "format", f"example of scale {scale}"):
        table.add_column(column, overflow="fold")
    for row in tasks_json(scale, seed):
        table.add_row(row["task"], escape(row["format"]), row["example"]["prompt"] + row["example"]["answer"])
    return table


def examples_table(name: str, examples: list[dict[str, Any]]) -> Table:
    """Each example, and under it which tokens each answer token needs."""
    table = Table(title=f"{name}: prompt, answer, and what each answer token needs", title_justify="left")
    for column in ("prompt", "answer", "token", "needs (slot: token at index)"):
        table.add_column(column, overflow="fold")
    for example in examples:
        text = example["prompt"] + example["answer"]
        for k, (token, needs) in enumerate(zip(example["answer"], example["needs"], strict=True)):
            slots = ", ".join(
                f"{slot}: " + ("absent" if index is None else f"{text[index]} at {index}")
                for slot, index in needs.items()
            )
            first = (example["prompt"], example["answer"]) if k == 0 else ("", "")
            table.add_row(*first, token, slots or "nothing", end_section=k == len(example["answer"]) - 1)
    return table


def positions_json() -> list[dict[str, Any]]:
    """Every embedding of ours with its formula and options."""
    rows = []
    for name in POSITIONS:
        kind = position_terms(name)[name]
        options = {key: field.default for key, field in options_model(kind).model_fields.items()}
        rows.append(
            {
                "position": name,
                "formula": _first_line(kind.__doc__),
                "can_be_summed": kind.additive,
                "options": options,
            }
        )
    return rows


def positions_table() -> Table:
    table = Table(
        title="position embeddings (those that only add can be summed: rpe-square+rpe-absolute)",
        title_justify="left",
    )
    for column in ("position", "what it does", "summable", "options: --set position.X=..."):
        table.add_column(column, overflow="fold")
    for row in positions_json():
        options = ", ".join(f"{key}={value}" for key, value in row["options"].items())
        table.add_row(
            row["position"],
            escape(row["formula"]),
            "yes" if row["can_be_summed"] else "no",
            options,
            end_section=True,
        )
    return table


def _first_line(docstring: str | None) -> str:
    """The first paragraph's first line of a docstring."""
    return (docstring or "").strip().split("\n", 1)[0]

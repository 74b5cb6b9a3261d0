"""The results of `ldhd tasks`, `ldhd positions` and `ldhd reproduce --list`."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.markup import escape

import ldhd
from ldhd import seeds
from ldhd.experiments.parts import load_task, options_model
from ldhd.experiments.preset import SIZES, Depths, Grid, Preset
from ldhd.experiments.presets import PRESETS, choose
from ldhd.files import BadFileError, read_json
from ldhd.names import lookup_only
from ldhd.positions import POSITIONS
from ldhd.report.terminal import Output, counted, folding, percent, plain_table
from ldhd.tasks import TASKS

RESULTS = Path(ldhd.__file__).parents[2] / "results"
"""The stored results, in the repository only."""


def list_examples(name: str, scale: int, count: int, seed: int) -> Output:
    """Show instances of one task, with the tokens that each answer token needs."""
    vocabulary = load_task(name).vocabulary
    title = f"{name}: prompt, answer, and what each answer token needs"
    table = plain_table(title, folding("prompt", "answer", "token", "needs (slot: token at index)"))
    examples = _examples(name, scale, count, seed)
    for example in examples:
        words = [vocabulary.word(token) for token in example["prompt"] + example["answer"]]
        head = vocabulary.spell(example["prompt"]), vocabulary.spell(example["answer"])
        for word, needs in zip(words[len(example["prompt"]) :], example["needs"], strict=True):
            places = {slot: "absent" if at is None else f"{words[at]} at {at}" for slot, at in needs.items()}
            needed = ", ".join(f"{slot}: {place}" for slot, place in places.items())
            table.add_row(*map(escape, (*head, word, needed or "nothing")))
            head = "", ""
        table.add_section()
    return {"task": name, "examples": examples}, [table]


def list_tasks(scale: int, seed: int) -> Output:
    """Show every task of `ldhd.tasks.TASKS` with one example."""
    found: list[dict[str, Any]] = [
        {
            "task": name,
            "train_scales": list(task.train_scales),
            "train_size": task.latent.training_size(task.train_scales),
            "format": _first_line(task.format),
            "example": _examples(name, scale, 1, seed)[0],
        }
        for name, task in TASKS.items()
    ]
    shown = [(row["task"], row["format"], row["example"]["prompt"] + row["example"]["answer"]) for row in found]
    rows = [tuple(map(escape, row)) for row in shown]
    return {"tasks": found}, [plain_table("tasks", folding("task", "format", f"example of scale {scale}"), rows)]


def list_positions() -> Output:
    """Show every embedding of `ldhd.positions.POSITIONS` with its formula and options."""
    title = "position embeddings (those that only add can be summed: rpe-square+rpe-absolute)"
    table = plain_table(title, folding("position", "what it does", "summable", "options: --set position.X=..."))
    found = []
    for name, kind in POSITIONS.items():
        formula = _first_line(kind)
        options = {key: field.default for key, field in options_model(kind).model_fields.items()}
        found.append({"position": name, "formula": formula, "can_be_summed": kind.additive, "options": options})
        written = ", ".join(f"{key}={value}" for key, value in options.items())
        table.add_row(name, escape(formula), "yes" if kind.additive else "no", written, end_section=True)
    return {"positions": found}, [table]


def list_presets(names: Sequence[str], size: str) -> Output:
    """Show presets of a size, all by default, with their numbers of runs, their times and their stored results."""
    lookup_only(size, SIZES, "size")
    presets = choose(names) if names else PRESETS.values()
    found = [_preset(preset, size) for preset in presets if size in preset.sizes]
    columns = folding("name", "what", "runs", "training", "stored result")
    rows = [
        (row["preset"], escape(row["title"]), row["runs"], _duration(row), row["stored"] or "none") for row in found
    ]
    caption = "training times are sums over runs of one core each, from the stored seeds"
    if not RESULTS.is_dir():
        caption = "stored results are in the repository of ldhd, not in an installed package"
    return {"presets": found}, [plain_table(f"presets, size {size}", columns, rows, caption)]


def stored(preset: Preset, size: str) -> dict[str, Any] | None:
    """Return the stored document of a preset, None if there is none."""
    try:
        return read_json(RESULTS / size / f"{preset.file_name}.json")
    except (OSError, BadFileError):
        return None


def _examples(name: str, scale: int, count: int, seed: int) -> list[dict[str, Any]]:
    task = load_task(name)
    stream = seeds.generator(seed, "example", task.name, scale)
    found = [task.sample(scale, stream) for _ in range(count)]
    return [{"prompt": x.prompt, "answer": x.answer, "scale": x.scale, "needs": task.needs(x)} for x in found]


def _first_line(described: object) -> str:
    return (described.__doc__ or "").strip().split("\n", 1)[0]


def _preset(preset: Preset, size: str) -> dict[str, Any]:
    own, other = stored(preset, size), {"full": "quick", "quick": "full"}.get(size)
    known = own or (stored(preset, other) if other else None)
    runs = len(preset.configs(size))
    return {
        "preset": preset.name,
        "title": preset.title,
        "says": preset.statement,
        "seeds": list(preset.sizes[size]),
        "runs": runs,
        "expected_seconds": known["seconds"] * runs / len(known["runs"]) if known and known["runs"] else None,
        "stored": None if own is None else _summary(preset, own, len(preset.sizes[size])),
        "assumed": preset.assumptions(size),
    }


def _summary(preset: Preset, document: dict[str, Any], seeds: int) -> str:
    """Return `rpe-square 100, rpe 0 (1 seed, not fitted)` and so on: exact match in % at the largest scale."""
    most = len(document["seeds"])
    shown = []
    for outcome in document["outcomes"]:
        notes = [counted(outcome["seeds"], "seed")] * (outcome["seeds"] < most)
        notes += ["not fitted"] * (not outcome["fitted"])
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

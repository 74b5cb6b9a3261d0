"""Cells of `ldhd bias-task`: one task, one embedding and one seed, trained as runs are, measured and kept."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from ldhd import seeds
from ldhd.bias.cells import Row, rounded
from ldhd.bias.parts import Part
from ldhd.bias.tokens import StepCube, word_parts
from ldhd.bias.training import SNAPSHOTS
from ldhd.bias.words import WordCube, Words, check_base, default_base
from ldhd.experiments.config import RunConfig, make_config
from ldhd.experiments.loading import new_model
from ldhd.experiments.parts import build_position, load_task
from ldhd.files import read_lines, sealed, write_lines
from ldhd.model import GPT
from ldhd.tasks import Task
from ldhd.tasks.copy import Strings
from ldhd.train import State, new_state, train

LARGEST_CUBE = 18
"""Variables of a cube of words: a model reads 2^18 of them in a minute or two."""

PRIMED_SHARE = 0.1
"""The share of primed words in training."""

Measured = Callable[[GPT], dict[str, Any]]


class TaskSpec(BaseModel):
    """What determines a cell."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    task: str
    position: str
    cube: Literal["words", "steps"] = "words"
    train_scale: int
    scale: int
    base: int
    priming: int = 0
    settings: dict[str, Any] = {}
    seed: int

    @property
    def key(self) -> str:
        """A name that is the same if and only if the spec is."""
        digest: str = sealed(self.model_dump(mode="json"))["sha256"][:16]
        return digest

    def config(self) -> RunConfig:
        """Return the config of the run, by default that of `ldhd run` with fresh instances at every step."""
        scales = range(1, self.train_scale + 1)
        settings = {"train.samples": "endless", **self.settings}
        return make_config(self.task, self.position, train_scales=scales, seed=self.seed, settings=settings)


def make_specs(
    task: str,
    positions: Iterable[str],
    *,
    cube: str,
    train_scale: int,
    scale: int,
    base: int | None,
    primings: Iterable[int],
    widths: Iterable[int | None],
    settings: dict[str, Any],
    chosen: Iterable[int],
) -> list[TaskSpec]:
    """Return a cell for each embedding, number of primed words, width and seed; ValueError if one cannot be run."""
    loaded = load_task(task)
    base = default_base(loaded) if base is None else base
    check_base(loaded, base)
    if cube not in ("words", "steps"):
        raise ValueError(f"the cube is words or steps, got {cube!r}")
    if not 1 <= train_scale <= scale:
        raise ValueError(f"training is on scales 1 .. N0 with N0 = 1 .. N = {scale}, got N0 = {train_scale}")
    variables = scale * (base.bit_length() - 1)
    if variables > LARGEST_CUBE:
        raise ValueError(f"{scale} symbols take {variables} variables, at most {LARGEST_CUBE}; lower --scale or --base")
    specs = [
        TaskSpec(
            task=task,
            position=position,
            cube="steps" if cube == "steps" else "words",
            train_scale=train_scale,
            scale=scale,
            base=base,
            priming=priming,
            settings=settings if width is None else {**settings, "model.dimension": width},
            seed=seed,
        )
        for position in positions
        for priming in primings
        for width in widths
        for seed in chosen
    ]
    for spec in specs:
        spec.config()
        primed_rows(spec, base.bit_length() - 1)
    if cube == "steps":
        StepCube(loaded, base, scale)
    return specs


def primed_rows(spec: TaskSpec, width: int) -> list[int]:
    """Return the points of the primed words: random words of scale N, the first of an order that all cells share."""
    if not spec.priming:
        return []
    if spec.cube == "steps":
        raise ValueError("priming is for the cube of words")
    if spec.scale == spec.train_scale:
        raise ValueError("priming needs words beyond the training scales: N0 must be below N")
    least = 2 ** (width * (spec.scale - 1))
    most = 2 ** (width * spec.scale) - least
    if not 0 <= spec.priming <= most:
        raise ValueError(f"there are {most} words of scale {spec.scale} to prime with, got {spec.priming}")
    order = np.random.default_rng(seeds.derive(0, "bias", spec.task, spec.base, spec.scale)).permutation(most)
    return sorted((least + order[: spec.priming]).tolist())


def run_cells(specs: Iterable[TaskSpec], folder: Path | None) -> Iterator[Row]:
    """Yield the row of each cell, read from `tasks.jsonl` in the folder where it is there already, and kept there."""
    path = None if folder is None else folder / "tasks.jsonl"
    rows = {row["key"]: row for row in read_lines(path)} if path is not None and path.exists() else {}
    for spec in specs:
        if spec.key not in rows:
            rows[spec.key] = run_cell(spec)
            if path is not None:
                write_lines(path, list(rows.values()))
        yield rows[spec.key]


def read_task_cells(folder: Path) -> list[Row]:
    """Return the cells that a folder keeps, none if it keeps none."""
    path = folder / "tasks.jsonl"
    return read_lines(path) if path.exists() else []


def run_cell(spec: TaskSpec) -> Row:
    """Train and measure one cell."""
    config, task = spec.config(), load_task(spec.task)
    parts, latent, measured = _words(spec, config, task) if spec.cube == "words" else _steps(spec, task)
    model = new_model(config)
    times = {max(1, config.train.steps >> k) for k in range(SNAPSHOTS)}
    path: list[Row] = []

    def on_step(state: State, loss: float) -> None:
        if state.step in times:
            path.append({"step": state.step, **measured(model)})

    own = Task(task.name, latent, task.concept, task.format)
    train(new_state(model, config.train), own, config.train_scales, config.train, spec.seed, on_step=on_step)
    described = [part.described() for part in parts]
    row: Row = rounded({"key": spec.key, **spec.model_dump(mode="json"), "parts": described, "path": path})
    return row


def _words(spec: TaskSpec, config: RunConfig, task: Task) -> tuple[list[Part], Words, Measured]:
    cube = WordCube(task, spec.base, spec.scale)
    primed = primed_rows(spec, cube.width)
    position = build_position(config.position, config.position_options)
    parts = word_parts(cube, spec.train_scale, primed, position)

    def measured(model: GPT) -> dict[str, Any]:
        values, exact = cube.evaluate(model)
        return {"exact": exact, "parts": [part.measure(own) for part, own in zip(parts, values, strict=True)]}

    return parts, Words(spec.base, [cube.word(row) for row in primed], PRIMED_SHARE), measured


def _steps(spec: TaskSpec, task: Task) -> tuple[list[Part], Strings, Measured]:
    cubes = [StepCube(task, spec.base, scale) for scale in range(1, spec.scale + 1)]
    parts = [cube.part(cube.scale <= spec.train_scale) for cube in cubes]

    def measured(model: GPT) -> dict[str, Any]:
        return {"parts": [part.measure(cube.evaluate(model)) for part, cube in zip(parts, cubes, strict=True)]}

    return parts, Strings(spec.base), measured

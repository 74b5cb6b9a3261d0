"""Cells: one concept, one model and several seeds, measured; and a folder that keeps them so that none runs twice."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from ldhd.bias.concepts import CONCEPTS, GROUPS
from ldhd.bias.measure import Measurement, measure, root_mean_square, spread
from ldhd.bias.models import MODELS, make_model, parse_projection
from ldhd.bias.problem import Problem, make_problem
from ldhd.bias.references import Reference, references
from ldhd.boolean import fourier
from ldhd.files import read_lines, sealed, write_bytes, write_lines

Floats = NDArray[np.float64]
Row = dict[str, Any]
"""A measured cell as it is printed and stored."""

STUDY_BASES = ("concept", "fourier", "B(V)", "plaa", "rpe", "rpe-square", "kernel")
SHOWN_COEFFICIENTS = 10
DIGITS = 5
"""Significant digits that are kept."""


class CellSpec(BaseModel):
    """What determines a cell."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    concept: str
    model: str
    settings: dict[str, Any]
    seeds: tuple[int, ...]
    dimension: int | None = None
    scale: int | None = None
    where: str | None = None
    samples: int | None = None
    priming: int = 0
    bases: tuple[str, ...] = STUDY_BASES
    projection: str | None = None

    @property
    def key(self) -> str:
        """A name that is the same if and only if the spec is."""
        digest: str = sealed(self.model_dump(mode="json"))["sha256"][:16]
        return digest

    def problem(self) -> Problem:
        """Return the problem that the model is trained on."""
        return make_problem(self.concept, self.dimension, self.scale, self.where, self.samples, self.priming)

    def references(self, problem: Problem) -> list[Reference]:
        """Return what is compared with."""
        V = None if self.projection is None else parse_projection(self.projection, problem.dimension)
        return references(problem, self.bases, V)


def make_specs(
    concepts: str,
    models: str,
    *,
    dimensions: Sequence[int] | None,
    widths: Sequence[int] | None,
    settings: Mapping[str, Any],
    bases: tuple[str, ...] | None,
    against: Sequence[str] = (),
    projection: str | None,
    common: Mapping[str, Any],
) -> list[CellSpec]:
    """Return the cells of concepts and models, by names with commas between them or a group, at each N and width.

    A text that is not made of names is one concept. The projection is also that of the model `rfmp`. By default the
    bases of a group are those of the study, others those that suit the models.
    """
    names = concepts.split(",") if set(concepts.split(",")) <= CONCEPTS.keys() else [concepts]
    chosen = GROUPS.get(concepts, names)
    learners = list(MODELS) if models == "all" else models.split(",")
    if concepts in GROUPS:
        projection = projection or "square"
    compared = bases or _suitable(concepts, learners, projection)
    compared += tuple(f"={expression}" for expression in against)
    found = []
    for model, concept in product(learners, chosen):
        own = {**settings, **({"projection": projection} if model == "rfmp" and projection else {})}
        sizes: list[Sequence[int | None]] = [dimensions or [None], widths or [None]]
        for dimension, width in product(*sizes):
            sized = {**own, **({} if width is None else {"width": width})}
            place = {"concept": concept, "dimension": dimension, "projection": projection, **common}
            found.append(CellSpec(model=model, settings=sized, bases=compared, **place))
    return found


def _suitable(concepts: str, models: Sequence[str], projection: str | None) -> tuple[str, ...]:
    """The bases of the study, or those of Fourier, V, PLAA and the embeddings of the models."""
    if concepts in GROUPS:
        return STUDY_BASES
    positions = [make_model(model).model_dump().get("position") for model in models]
    own = dict.fromkeys(position for position in positions if position is not None)
    return ("concept", "fourier", *(["B(V)"] if projection else []), "plaa", *own, "kernel")


def complete(spec: CellSpec) -> CellSpec:
    """Fill in the defaults of the model's settings; ValueError if the cell cannot be run."""
    settings = make_model(spec.model, spec.settings).model_dump()
    return spec.model_copy(update={"settings": settings})


def run_cell(spec: CellSpec) -> tuple[Row, Floats]:
    """Train and measure one cell; return its row, and what each seed has learned: (S, 2^N)."""
    problem = spec.problem()
    compared = spec.references(problem)
    path, learned = [], np.empty(0)
    for step, learned in make_model(spec.model, spec.settings).learn(problem, spec.seeds):
        path.append((step, [measure(problem, learned[seed], compared) for seed in range(len(learned))]))
    row = {
        "key": spec.key,
        **spec.model_dump(mode="json"),
        "N": problem.dimension,
        "N0": problem.scale,
        "training_points": len(problem.rows),
        "references": [_reference_row(problem, one) for one in compared],
        "runs": [
            {"seed": seed, "fitted": found.fitted, **asdict(found)}
            for seed, found in zip(spec.seeds, path[-1][1], strict=True)
        ],
        "spread": spread(problem, list(learned)),
        "path": [_moment(step, found) for step, found in path],
        "coefficients": _coefficients(learned, compared),
    }
    return rounded(row), learned


def run_cells(specs: Iterable[CellSpec], folder: Path | None, strict: bool) -> Iterator[Row]:
    """Yield the row of each cell, read from the folder where it is there already, and kept there otherwise.

    Where a model does not apply to a problem, such as PLAA to a concept outside its span, the row has an `error`
    instead; with `strict` that is a ValueError.
    """
    store = Store(folder) if folder is not None else None
    for spec in map(complete, specs):
        row = store.rows.get(spec.key) if store else None
        if row is None:
            spec.references(problem := spec.problem())  # what is wrong with the problem is always an error
            try:
                row, learned = run_cell(spec)
            except ValueError as error:
                if strict:
                    raise
                own = {"N": problem.dimension, "N0": problem.scale, "error": str(error)}
                row, learned = {"key": spec.key, **spec.model_dump(mode="json"), **own}, np.empty((0, 0))
            if store:
                store.add(row, learned)
        yield row


class Store:
    """A folder with `cells.jsonl`, a row for each cell, and `learned.npz`, what each seed learned, by the key."""

    LARGEST = 2**12
    """Functions on more points are not kept."""

    def __init__(self, folder: Path) -> None:
        self.rows_path, self.learned_path = folder / "cells.jsonl", folder / "learned.npz"
        self.rows: dict[str, Row] = {}
        if self.rows_path.exists():
            self.rows = {row["key"]: row for row in read_lines(self.rows_path)}
        self.learned: dict[str, NDArray[np.float16]] = {}
        if self.learned_path.exists():
            with np.load(self.learned_path) as stored:
                self.learned = dict(stored)

    def add(self, row: Row, learned: Floats) -> None:
        """Keep a cell; the functions as 16-bit floats, good to three digits."""
        self.rows[row["key"]] = row
        if learned.size and learned.shape[1] <= self.LARGEST:
            self.learned[row["key"]] = learned.astype(np.float16)
            content = io.BytesIO()
            np.savez_compressed(content, **self.learned)  # type: ignore[arg-type]
            write_bytes(self.learned_path, content.getvalue())
        write_lines(self.rows_path, list(self.rows.values()))


def read_cells(folder: Path) -> list[Row]:
    """Return the cells that a folder keeps; ValueError if it keeps none."""
    rows = list(Store(folder).rows.values())
    if not rows:
        raise ValueError(f"{folder} holds no measured cells; `ldhd bias .. --out {folder}` writes them")
    return rows


def _reference_row(problem: Problem, one: Reference) -> Row:
    """The LDHD error of a reference: how far it is from the concept on the unseen points."""
    if one.values is None:
        return {"name": one.name, "error": None, "reason": one.reason}
    gap = root_mean_square((one.values - problem.concept.values)[problem.unseen]) / problem.label_size
    return {"name": one.name, "error": gap, "reason": ""}


def _moment(step: int, found: Sequence[Measurement]) -> Row:
    """The means over seeds at one time of training, and the leakage of each seed."""
    first = found[0]
    return {
        "step": step,
        "training_error": float(np.mean([one.training_error for one in found])),
        "leakage": None if first.leakage is None else float(np.mean([one.leakage for one in found])),
        "leakages": [one.leakage for one in found],
        "profile": np.mean([one.profile for one in found], axis=0).tolist(),
        "distances": {
            name: None if value is None else float(np.mean([one.distances[name] for one in found]))
            for name, value in first.distances.items()
        },
    }


def _coefficients(learned: Floats, compared: Sequence[Reference]) -> list[Row]:
    """The Fourier coefficients that are largest in what was learned or in the concept, beside those of references."""
    found = np.array([fourier(values) for values in learned])
    known = {one.name: fourier(one.values) for one in compared if one.values is not None}
    size = np.max(np.abs([found.mean(axis=0), *known.values()]), axis=0)
    rows = []
    for index in np.argsort(-size, kind="stable")[:SHOWN_COEFFICIENTS]:
        variables = [f"x{k + 1}" for k in range(int(index).bit_length()) if index >> k & 1]
        own = {"mean": found[:, index].mean(), "low": found[:, index].min(), "high": found[:, index].max()}
        others = {name: float(values[index]) for name, values in known.items()}
        rows.append({"character": " ".join(variables) or "1", **own, "references": others})
    return rows


def rounded(value: Any) -> Any:
    """Round all floats of a document to some significant digits."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.{DIGITS}g}")
    return value

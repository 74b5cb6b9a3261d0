"""The results of `ldhd bias`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from ldhd.bias.cells import Row
from ldhd.bias.summary import LIKE, agreements, closest, distance, fitted, interpolators, verdict
from ldhd.report.figures.bias import figures
from ldhd.report.render_matplotlib import save_figure
from ldhd.report.terminal import Output, folding, numeric, plain_table
from ldhd.statistics import Mean

UNIT = "distances are root mean squares over the unseen points, in units of that of the labels; means over fitted seeds"


def show_bias(rows: Sequence[Row], folder: Path | None = None) -> Output:
    """Show measured cells, a single one in detail, and draw their figures where there is a folder."""
    summary = [asdict(one) for one in agreements(rows)]
    document: dict[str, Any] = {"cells": [_document(row) for row in rows], "agreements": summary}
    view: list[RenderableType] = [_cell_table(rows)]
    measured = [row for row in rows if "runs" in row]
    if len(measured) == 1:
        view += [_reference_table(measured[0]), _coefficient_table(measured[0]), *_facts(measured[0])]
        view += [_path_table(measured[0])] if len(measured[0]["path"]) > 1 else []
    elif len({row["concept"] for row in rows}) > 1:
        view.append(_agreement_table(rows))
    for name, figure in figures(rows).items() if folder is not None else ():
        assert folder is not None
        view.append(f"figure: {save_figure(figure, folder / f'{name}.png')}")
    return document, view


def _document(row: Row) -> dict[str, Any]:
    found = {name: asdict(value) for name, value in interpolators(row).items()}
    return {**row, "verdict": verdict(row), "interpolators": found, "closest": closest(row)}


def _cell_table(rows: Sequence[Row]) -> Table:
    columns = *folding("concept", "model"), *numeric("width", "N0", "N", "fitted", "leakage"), *folding("closest")
    shown = []
    for row in rows:
        head = row["concept"], row["model"], row["settings"].get("width") or "", row["N0"], row["N"]
        if "error" in row:
            shown.append((*map(escape, map(str, head)), "", "", "", "", "does not apply"))
            continue
        ranked = interpolators(row)
        nearest = ", ".join(closest(row))
        value = _interval(next(iter(ranked.values()), None))
        leaks = [run["leakage"] for run in row["runs"] if run["leakage"] is not None]
        leak = f"{sum(leaks) / len(leaks):.3f}" if leaks else ""
        fits = f"{fitted(row)} of {len(row['runs'])}"
        shown.append((*map(escape, map(str, head)), fits, leak, nearest, value, verdict(row)))
    columns = *columns, *numeric("distance"), *folding(f"learned, up to {LIKE:g}")
    return plain_table("which interpolator was learned", columns, shown, UNIT)


def _reference_table(row: Row) -> Table:
    shown = []
    for one in row["references"]:
        if one["reason"]:
            shown.append((one["name"], "", escape(one["reason"])))
        else:
            shown.append((one["name"], f"{one['error']:.3g}", _interval(distance(row, one["name"]))))
    columns = [*folding("reference"), *numeric("its LDHD error")]
    columns += folding("distance of what was learned (95 % over seeds)")
    caption = "LDHD error: distance of the reference itself from the concept, on the same points"
    return plain_table("references", columns, shown, caption)


def _coefficient_table(row: Row) -> Table:
    names = list(row["coefficients"][0]["references"]) if row["coefficients"] else []
    shown = []
    for one in row["coefficients"]:
        others = (f"{one['references'][name]:.3f}" for name in names)
        shown.append((one["character"], f"{one['mean']:.3f}", f"{one['low']:.3f} to {one['high']:.3f}", *others))
    columns = [*folding("character"), *numeric("learned", "over seeds", *names)]
    return plain_table("largest Fourier coefficients", columns, shown)


def _path_table(row: Row) -> Table:
    names = [name for name, value in row["path"][0]["distances"].items() if value is not None]
    shown = []
    for moment in row["path"]:
        leak = "" if moment["leakage"] is None else f"{moment['leakage']:.3f}"
        distances = tuple(f"{moment['distances'][name]:.3f}" for name in names)
        shown.append((moment["step"], f"{moment['training_error']:.4f}", leak, *distances))
    columns = numeric("steps", "training error", "leakage", *(f"to {name}" for name in names))
    return plain_table("over training, means over seeds", columns, shown)


def _facts(row: Row) -> list[str]:
    profiles = [run["profile"] for run in row["runs"]]
    means = [sum(values) / len(values) for values in zip(*profiles, strict=True)]
    weights = ", ".join(f"{degree}: {weight:.3f}" for degree, weight in enumerate(means) if weight >= 5e-4)
    spread = "one seed" if row["spread"] is None else f"{row['spread']:.3g}"
    return [f"share of Fourier weight by degree: {weights}", f"spread over seeds: {spread}"]


def _agreement_table(rows: Sequence[Row]) -> Table:
    shown = [
        (one.model, one.reference, _interval(one.distance), f"{one.like.successes} of {one.like.n}", one.closest)
        for one in agreements(rows)
    ]
    columns = *folding("model", "reference"), *numeric("distance (95 % over concepts)", f"at most {LIKE:g}", "closest")
    return plain_table("models and references", columns, shown)


def _interval(value: Mean | None) -> str:
    if value is None:
        return ""
    if value.low is None or value.high is None:
        return f"{value.value:.3g}"
    return f"{value.value:.3g} ({value.low:.3g} to {value.high:.3g})"

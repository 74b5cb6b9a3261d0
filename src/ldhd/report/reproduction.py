"""The paper's figures, drawn from the records of their presets, and the tables beside them."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from ldhd.bench.ratio import machine
from ldhd.experiments import Record, RunConfig
from ldhd.experiments.preset import SIX, SIZES, Preset
from ldhd.experiments.presets import PRESETS
from ldhd.experiments.reproduction import by_kind, document, outcomes, smallest_depths, stem, stored
from ldhd.files import write_json
from ldhd.names import lookup_only
from ldhd.report.by_task import draw_by_task
from ldhd.report.grid import draw_grid
from ldhd.report.look import DASHES, MARKERS, Look, looks, position_title
from ldhd.report.paper import draw_digits, draw_matrix
from ldhd.report.plot import draw_curves, save_figure, seeds_of
from ldhd.report.statistics import Mean, mean_interval
from ldhd.report.summary import Cell, cells
from ldhd.report.table import percent
from ldhd.report.terminal import plain_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_reproduction(
    name: str, size: str, configs: Sequence[RunConfig], records: Sequence[Record], out: Path, command: str
) -> dict[str, Any]:
    """Draw a preset's figure as PNG and PDF, and write what came of it beside."""
    preset, own = PRESETS[name], {config.hash for config in configs}
    found = [record for record in records if record.hash in own]
    paths: list[Path] = []
    if found or preset.view == "plane":
        figures = {stem(name): _figure(preset, configs, found)}
        if preset.curves:
            figures[f"{stem(name)}-curves"] = _curves(preset, configs, found)
        paths = [
            save_figure(figure, out / f"{file}.{kind}") for file, figure in figures.items() for kind in ("png", "pdf")
        ]
    written = document(name, size, configs, found, command=command, machine=machine())
    write_json(out / f"{stem(name)}.json", written)
    return {**written, "figures": [str(path) for path in paths]}


def write_comparison(configs: Mapping[str, Sequence[RunConfig]], records: Sequence[Record], out: Path) -> list[Path]:
    """Small multiples of all figures of six embeddings that were asked for, if there are several."""
    compared = [name for name in configs if PRESETS[name].view == "panels" and PRESETS[name].parts[0].positions == SIX]
    own = {config.hash: config for name in compared for config in configs[name]}
    found = [record for record in records if record.hash in own]
    if len(compared) < 2 or not found:
        return []
    order = {digest: place for place, digest in enumerate(own)}
    figure = draw_matrix(cells(sorted(found, key=lambda record: order[record.hash]), own))
    return [save_figure(figure, out / f"comparison.{kind}") for kind in ("png", "pdf")]


def reproduction_view(written: dict[str, Any]) -> RenderableType:
    """Exact match at the largest scale beside the paper's claim."""
    told = [f"{written['preset']}: {written['title']}", f"the paper: {written['says']}"]
    told += [f"assumed: {assumed}" for assumed in written["assumed"]]
    parts: list[RenderableType] = [escape(line) for line in told]
    if written["outcomes"]:
        table = plain_table()
        for column in ("task", "", "fitted", "scale", "exact match in %", "95 % interval", "factor", "the paper", ""):
            table.add_column(column)
        for outcome in written["outcomes"]:
            agrees = {True: "as the paper says", False: "not as the paper says", None: ""}[outcome["agrees"]]
            if outcome["agrees"] and not outcome["fitted"]:
                agrees += ", but it does not fit"
            claim = "" if outcome["claim"] == "untold" else outcome["claim"]
            fitted, exact = f"{outcome['fitted']}/{outcome['seeds']}", mean_interval(outcome["by_seed"])
            label = "" if outcome["label"] == outcome["task"] else outcome["label"]
            factor = f"{outcome['factor']:g}"
            measured = percent(exact.value), _interval(exact)
            table.add_row(outcome["task"], label, fitted, str(outcome["scale"]), *measured, factor, claim, agrees)
        parts.append(table)
    parts += [escape(f"figure: {path}") for path in written["figures"]]
    return Group(*parts, "")


def _interval(mean: Mean) -> str:
    return "one seed" if mean.low is None or mean.high is None else f"{percent(mean.low)}-{percent(mean.high)}"


def preset_table(size: str) -> Table:
    """Every preset with its number of runs, the time its training takes, and its stored result."""
    lookup_only(size, SIZES, "size")
    table = plain_table(f"presets, size {size}")
    for column in ("name", "what", "runs", "training", "stored result"):
        table.add_column(column, overflow="fold")
    for row in preset_rows(size):
        seconds = row["expected_seconds"]
        time = "seconds" if not row["runs"] else "not measured" if seconds is None else _about(seconds)
        table.add_row(row["preset"], escape(row["title"]), str(row["runs"]), time, row["stored"] or "none")
    table.caption = "training times are sums over runs of one core each, from the stored seeds"
    return table


def preset_rows(size: str) -> list[dict[str, Any]]:
    """What `preset_table` shows."""
    rows = []
    for name, preset in PRESETS.items():
        if size not in preset.sizes:
            continue
        own, other = stored(name, size), {"full": "quick", "quick": "full"}.get(size)
        known = own or (stored(name, other) if other else None)
        seeds, runs = len(preset.sizes[size]), len(preset.configs(size))
        rows.append(
            {
                "preset": name,
                "title": preset.title,
                "says": preset.says,
                "seeds": list(preset.sizes[size]),
                "runs": runs,
                "expected_seconds": known["seconds"] * runs / len(known["runs"]) if known and known["runs"] else None,
                "stored": None if own is None else _in_short(own, seeds),
                "assumed": preset.assumptions(size),
            }
        )
    return rows


def _in_short(document: dict[str, Any], seeds: int) -> str:
    """`rpe-square 100, rpe 0 (1 seed, not fitted)` and so on, at the largest scale, and how many seeds, if not all."""
    most = len(document["seeds"])
    shown = []
    for found in document["outcomes"]:
        notes = [seeds_of(found["seeds"])] * (found["seeds"] < most) + ["not fitted"] * (not found["fitted"])
        shown.append(f"{found['label']} {percent(found['exact'])}" + (f" ({', '.join(notes)})" if notes else ""))
    if not shown or PRESETS[document["preset"]].view in ("grid", "depths"):
        shown = ["drawn"]
    return ", ".join(shown) + (f"; {most} of {seeds} seeds" if document["runs"] and most < seeds else "")


def _about(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else str(timedelta(seconds=round(seconds)))


def _figure(preset: Preset, configs: Sequence[RunConfig], records: Sequence[Record]) -> "Figure":
    from matplotlib.figure import Figure

    if preset.view == "plane":
        from ldhd.report.plane import plane_figure

        return plane_figure()
    if preset.view == "grid":
        return draw_grid(outcomes(preset, configs, records), preset.title)
    if preset.view == "depths":
        return draw_grid(smallest_depths(outcomes(preset, configs, records)), preset.title, depths=True)
    panels = _panels(preset, configs, records)
    if preset.view == "digits":
        (found,) = panels.values()
        figure = draw_digits(found, looks(found))
        assert figure is not None, "such presets test beyond training"
        return figure
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(3.5 * columns + 0.4, 2.5 * rows + 0.9), layout="constrained")
    grid = list(figure.subplots(rows, columns, squeeze=False, sharey=True).flat)
    for axes, (title, found) in zip(grid, panels.items(), strict=False):
        draw_curves(axes, found, _shades(found) if preset.view == "shares" else looks(found))
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_xlabel("scale")
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    for axes in grid[::columns]:
        axes.set_ylabel("exact match")
    if preset.view == "shares":
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, frameon=False, fontsize=8, loc="outside lower center", ncols=5)
    figure.suptitle(preset.title, x=0.01, ha="left", fontsize=11)
    return figure


def _curves(preset: Preset, configs: Sequence[RunConfig], records: Sequence[Record]) -> "Figure":
    panels: dict[str, list[Cell]] = {}
    for (task, _), own in by_kind(preset, configs, records).items():
        first = own[0]
        label = position_title(first.position)
        panels.setdefault(task, []).append(Cell(task, first.position, first.model, tuple(own), label=label))
    trained, most = records[0].train_scales, max(len(cell.records) for cells in panels.values() for cell in cells)
    seeds = f"{'mean over ' * (most > 1)}{seeds_of(most)}"
    title = f"Trained on scales {min(trained)}-{max(trained)}, the same tasks and steps for all; {seeds}"
    return draw_by_task(panels, title)


def _panels(preset: Preset, configs: Sequence[RunConfig], records: Sequence[Record]) -> dict[str, list[Cell]]:
    """Title -> what is drawn under it."""
    panels: dict[str, list[Cell]] = {}
    for (_, kind), own in by_kind(preset, configs, records).items():
        first, fitted = own[0], sum(record.fitted for record in own)
        name = position_title(first.position)
        state = "" if fitted == len(own) else " (not fitted)" if not fitted else f" ({fitted} of {len(own)} fitted)"
        label = f"{kind.rsplit(', ', 1)[1]} of scale 5" if preset.view == "shares" else kind
        title = {"shares": name, "tasks": f"{kind}, {name}{state}"}.get(preset.view, f"{name}{state}")
        cell = Cell(first.task, first.position, first.model, tuple(own), label=label)
        panels.setdefault(title, []).append(cell)
    return panels


def _shades(found: Sequence[Cell]) -> list[Look]:
    """From dark to light, the more the lighter."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    shades = [to_hex(colormaps["viridis"](0.85 * k / max(len(found) - 1, 1))) for k in range(len(found))]
    return [Look(shade, marker, DASHES[0]) for shade, marker in zip(shades, MARKERS, strict=False)]

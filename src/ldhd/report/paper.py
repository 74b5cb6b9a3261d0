"""Every figure of the report for papers: matplotlib, saved as PNG and PDF."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldhd.bench import Case
from ldhd.report.bench import draw_growth
from ldhd.report.errors import Map, carry_map, error_map
from ldhd.report.figures.accuracy import accuracy_figure
from ldhd.report.look import DASHES, Look, looks
from ldhd.report.plot import add_legend, draw_curves, percent_axis, save_figure
from ldhd.report.render_matplotlib import draw
from ldhd.report.runs import Runs
from ldhd.report.string_picture import draw_string
from ldhd.report.summary import Cell, per_position
from ldhd.report.traces import chosen_traces
from ldhd.report.training import FATES, Course, course

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES = {plotly: matplotlib for matplotlib, plotly in DASHES}


def draw_all(
    cells: Sequence[Cell], runs: Runs, folder: Path, benchmarks: Sequence[Mapping[str, Any]] = ()
) -> list[Path]:
    """Every figure there is something to show in, each as PNG and PDF."""
    styles = dict(zip(map(_key, cells), looks(cells), strict=True))
    drawn: dict[str, Figure | None] = {}
    if len(cells) > 1:
        drawn["matrix"] = draw_matrix(cells)
        drawn["final"] = draw_final(cells)
    for task in dict.fromkeys(cell.task for cell in cells):
        own = [cell for cell in cells if cell.task == task]
        name = _file_name(task)
        drawn[f"{name}-accuracy"] = draw(accuracy_figure(own, [styles[_key(cell)] for cell in own]))
        drawn[f"{name}-digits"] = draw_digits(own, [styles[_key(cell)] for cell in own])
        drawn[f"{name}-errors"] = draw_errors(own)
        drawn[f"{name}-carries"] = draw_carries(own)
        for cell in own:
            courses = [course(record, cell, runs.metrics(record.hash)) for record in cell.records]
            drawn[f"{name}-{_file_name(cell.label)}-training"] = draw_training(courses, f"{task}, {cell.label}")
        for label, trace in chosen_traces(own, runs):
            drawn[f"{name}-{_file_name(label)}-string"] = draw_string(trace, f"{task}, {label}")
    drawn["growth"] = draw_growth([_case(case) for benchmark in benchmarks for case in benchmark["cases"]])
    return [
        save_figure(figure, folder / f"{name}.{suffix}")
        for name, figure in drawn.items()
        if figure is not None
        for suffix in ("png", "pdf")
    ]


def draw_matrix(cells: Sequence[Cell]) -> "Figure":
    """Small multiples: a row for each task, a column for each embedding, exact match against scale."""
    tasks = list(dict.fromkeys(cell.task for cell in cells))
    positions = list(dict.fromkeys(cell.position for cell in cells))
    figure = _figure(1.0 + 1.7 * len(positions), 0.6 + 1.4 * len(tasks))
    grid = figure.subplots(len(tasks), len(positions), squeeze=False, sharey=True)
    styles = dict(zip(map(_key, cells), looks(cells), strict=True))
    for row, task in enumerate(tasks):
        for column, position in enumerate(positions):
            axes = grid[row][column]
            own = [cell for cell in cells if (cell.task, cell.position) == (task, position)]
            if own:
                draw_curves(axes, own, [styles[_key(cell)] for cell in own])
            else:
                axes.set_axis_off()
            axes.tick_params(labelsize=7)
            if row == 0:
                axes.set_title(position, fontsize=9)
        grid[row][0].text(-0.42, 0.5, task, rotation=90, va="center", fontsize=9, transform=grid[row][0].transAxes)
    figure.supxlabel("scale of the instance", fontsize=9)
    return figure


def draw_digits(cells: Sequence[Cell], styles: Sequence[Look], scale: int | None = None) -> "Figure | None":
    """Accuracy of each answer token at a scale, the largest by default; None if it is within training."""
    at = max(cells[0].scales) if scale is None else scale
    if at <= max(cells[0].train_scales):
        return None
    figure = _figure(6.4, 3.6)
    axes = figure.subplots()
    for cell, look in zip(cells, styles, strict=True):
        values = per_position(cell, at)
        marker, dash = look.marker[0], look.dash[0]
        axes.plot(range(len(values)), values, label=cell.label, color=look.colour, marker=marker, ls=dash, ms=5)
    percent_axis(axes)
    axes.locator_params("x", integer=True)
    axes.set_xlabel("answer token, the first written first")
    axes.set_ylabel("right tokens")
    axes.set_title(f"{cells[0].task} at scale {at}, mean over seeds", loc="left")
    add_legend(figure, axes)
    return figure


def draw_final(cells: Sequence[Cell]) -> "Figure":
    """Bars of exact match at the largest test scale, with 95 % intervals and every seed; hatched if none fitted."""
    tasks = list(dict.fromkeys(cell.task for cell in cells))
    figure = _figure(max(4.0, 0.9 + 0.55 * len(cells) + 0.5 * len(tasks)), 3.8)
    axes = figure.subplots()
    place, places, shown = 0.0, [], set()
    for task in tasks:
        for cell, look in ((c, k) for c, k in zip(cells, looks(cells), strict=True) if c.task == task):
            found = cell.interval(cell.scales[-1])
            label = cell.position if cell.position not in shown else None
            hatch = None if cell.fitted else "///"
            axes.bar(place, found.value, 0.8, color=look.colour, alpha=0.75, label=label, hatch=hatch)
            if found.low is not None and found.high is not None:
                axes.plot([place, place], [found.low, found.high], color="0.25", lw=1.2)
            seeds = cell.exact(cell.scales[-1])
            axes.scatter([place] * len(seeds), seeds, s=9, color="0.15", alpha=0.6, lw=0, zorder=3)
            shown.add(cell.position)
            places.append((place, task, cell.scales[-1]))
            place += 1
        place += 0.7
    centres = {task: [at for at, name, _ in places if name == task] for task in tasks}
    scales = {task: scale for _, task, scale in places}
    names = [f"{task}\nscale {scales[task]}" for task in tasks]
    axes.set_xticks([sum(at) / len(at) for at in centres.values()], names, fontsize=8)
    percent_axis(axes)
    axes.set_ylabel("exact match, mean over seeds")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def draw_errors(cells: Sequence[Cell]) -> "Figure":
    """Share of wrong tokens by scale and place in the answer, a panel for each cell."""
    maps = {cell.label: error_map(cell) for cell in cells}
    return _maps({label: (rows, values) for label, (rows, values) in maps.items()}, cells[0].task, "scale")


def draw_carries(cells: Sequence[Cell]) -> "Figure | None":
    """Share of wrong tokens by the carry chain into them, a panel for each cell that has carries."""
    found = {cell.label: carry_map(cell) for cell in cells}
    maps = {label: (rows[0], rows[1]) for label, rows in found.items() if rows is not None}
    return _maps(maps, cells[0].task, "carry chain") if maps else None


def draw_training(courses: Sequence[Course], title: str) -> "Figure | None":
    """What each seed did while it trained, as in the report."""
    quantities = {
        "fit": [one.accuracy for one in courses],
        "anchor entropy\n(nats)": [one.entropy for one in courses],
        "attention on the\nweakest slot": [one.weakest for one in courses],
    }
    shown = {name: lines for name, lines in quantities.items() if any(lines)}
    if not shown:
        return None
    figure = _figure(5.6, 0.7 + 1.4 * len(shown))
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (name, lines) in zip(panels, shown.items(), strict=True):
        for one, values in zip(courses, lines, strict=True):
            colour, dash = FATES[one.fate]
            label = one.fate if axes is panels[0] else None
            marker = "o" if len(values) == 1 else None
            line = {"color": colour, "ls": LINES[dash], "lw": 1.3, "marker": marker, "ms": 4, "label": label}
            axes.plot(one.steps[: len(values)], values, **line)
        axes.set_ylabel(name, fontsize=8)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    handles = dict(zip(*panels[0].get_legend_handles_labels()[::-1], strict=True))
    panels[0].legend(handles.values(), handles.keys(), frameon=False, fontsize=8)
    panels[0].set_title(title, loc="left", fontsize=10)
    panels[-1].set_xlabel("step")
    return figure


def _maps(maps: Mapping[str, tuple[Sequence[int], Map]], task: str, y: str) -> "Figure":
    from matplotlib.colors import LinearSegmentedColormap

    columns = min(4, len(maps))
    rows = math.ceil(len(maps) / columns)
    figure = _figure(0.8 + 2.3 * columns, 0.7 + 2.2 * rows)
    panels: list[Axes] = list(figure.subplots(rows, columns, squeeze=False).flat)
    shades = LinearSegmentedColormap.from_list("errors", ["#f2f2f2", "#e8743b", "#7a1f0d"])
    for axes, (label, (names, values)) in zip(panels, maps.items(), strict=False):
        numbers = [[math.nan if value is None else value for value in row] for row in values]
        axes.imshow(numbers, cmap=shades, vmin=0, vmax=1, aspect="auto")
        axes.set_yticks(range(len(names)), list(map(str, names)), fontsize=7)
        axes.tick_params(labelsize=7)
        axes.set_title(textwrap.fill(label, 32), fontsize=8)
    for axes in panels[len(maps) :]:
        axes.set_axis_off()
    figure.supxlabel("answer token, the first written first", fontsize=9)
    figure.supylabel(y, fontsize=9)
    figure.suptitle(f"{task}: share of wrong tokens", fontsize=10)
    figure.colorbar(panels[0].images[0], ax=panels, shrink=0.8)
    return figure


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _case(case: Mapping[str, Any]) -> Case:
    """A case of a benchmark's file, which may hold more than we know."""
    return Case(**{field.name: case[field.name] for field in fields(Case) if field.name in case})


def _key(cell: Cell) -> tuple[str, str]:
    return cell.task, cell.label


def _file_name(label: str) -> str:
    """Letters, digits and dashes alone."""
    return "-".join("".join(c if c.isalnum() or c in "-+." else " " for c in label).split())

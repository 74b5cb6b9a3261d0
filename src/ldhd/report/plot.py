"""Figures for papers: accuracy against scale."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from ldhd.experiments import Record
from ldhd.files import write_bytes
from ldhd.report.summary import Cell, cells

if TYPE_CHECKING:  # importing it takes half a second
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart by colour-blind readers too; an embedding keeps its colour in every figure.
COLOURS = {
    "rpe-square": "#0072B2",
    "rpe": "#D55E00",
    "rpe-absolute": "#009E73",
    "abacus": "#CC79A7",
    "rope": "#E69F00",
    "alibi": "#56B4E9",
    "none": "#000000",
    "absolute": "#8C6D31",
}
OTHERS = ["#7F7F7F", "#9467BD", "#17BECF", "#BCBD22"]
MARKERS = "osD^vP*X"


def plot_accuracy(records: Sequence[Record], path: Path) -> Path:
    """Exact match against scale, the training range shaded, a line for each embedding, its band over seeds."""
    grouped = cells(records)
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    train = grouped[0].train_scales
    axes.axvspan(min(train) - 0.5, max(train) + 0.5, color="0.92", lw=0, label="training scales")
    others = iter(OTHERS * len(grouped))
    for index, cell in enumerate(grouped):
        colour = COLOURS.get(cell.position) or next(others)
        _draw(axes, cell, colour, index, _label(cell, grouped))
    scales = sorted({scale for cell in grouped for scale in cell.scales})
    if max(scales) > 30:
        axes.set_xscale("symlog", linthresh=10)
    axes.set_xticks(_ticks(scales), [str(scale) for scale in _ticks(scales)])
    axes.minorticks_off()
    axes.set_xlim(min(scales) - 0.5, max(scales) + 0.5)
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("scale of the instance")
    axes.set_ylabel("exact match")
    axes.set_title(f"{grouped[0].task}: trained on scales {min(train)}-{max(train)}", loc="left")
    axes.grid(axis="y", color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return save_figure(figure, path, dpi=160)


def save_figure(figure: "Figure", path: Path, dpi: int) -> Path:
    """Write a figure at once, as PNG or PDF by its suffix."""
    content = BytesIO()
    figure.savefig(content, format=path.suffix.lstrip(".") or "png", dpi=dpi)
    write_bytes(path, content.getvalue())
    return path


def _draw(axes: "Axes", cell: Cell, colour: str, index: int, label: str) -> None:
    """Mean over seeds with the band from the worst to the best; every seed is in it.

    Later lines are thinner, so that lines on top of each other are all seen.
    """
    scales = cell.scales
    low = [min(cell.exact(scale)) for scale in scales]
    high = [max(cell.exact(scale)) for scale in scales]
    means = [cell.mean(scale) for scale in scales]
    width, size, marker = max(1.4, 3.2 - 0.6 * index), max(3.5, 7.5 - index), MARKERS[index % len(MARKERS)]
    axes.fill_between(scales, low, high, color=colour, alpha=0.18, lw=0)
    axes.plot(scales, means, color=colour, marker=marker, lw=width, ms=size, label=label)


def _label(cell: Cell, grouped: Sequence[Cell]) -> str:
    several = len({other.model for other in grouped}) > 1
    name = f"{cell.position} ({cell.model})" if several else cell.position
    count = len(cell.records)
    seeds = f"{count} seed{'s' if count > 1 else ''}"
    return f"{name}, {seeds}" if cell.fitted == count else f"{name}, {seeds}, {cell.fitted} fitted"


def _ticks(scales: Sequence[int]) -> list[int]:
    """Every scale up to 10, then only those that leave room."""
    ticks: list[int] = []
    for scale in scales:
        if not ticks or scale <= 10 or scale >= 1.2 * ticks[-1]:
            ticks.append(scale)
    return ticks

"""Figures for papers: accuracy against scale. Bands are 95 % intervals of the mean over seeds, as in all figures."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from ldhd.experiments import Record, RunConfig
from ldhd.experiments.groups import group_runs
from ldhd.files import write_bytes
from ldhd.report import render_matplotlib
from ldhd.report.figures.accuracy import accuracy_figure
from ldhd.report.look import Look
from ldhd.report.summary import Cell

if TYPE_CHECKING:  # importing it takes half a second
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


ALONE = 3
"""As which of several lines one is drawn that has its axes for itself."""

MOST_BANDS = 6
"""Of more curves in one pair of axes the means alone are drawn: bands would hide each other."""

LONGEST_BESIDE = 44
"""Labels of more characters would leave no room for the axes beside them."""


def plot_accuracy(
    records: Sequence[Record], path: Path, configs: Mapping[str, RunConfig] | None = None, title: str = ""
) -> Path:
    """Exact match against scale, the training range shaded, for each embedding the mean, its 95 % band, every seed."""
    return render_matplotlib.save_figure(accuracy_figure(group_runs(records, configs), title=title), path)


def add_legend(figure: "Figure", axes: "Axes") -> None:
    """Beside the axes, or below where labels are long: the figure grows by what they take."""
    handles, labels = axes.get_legend_handles_labels()
    if max(map(len, labels)) <= LONGEST_BESIDE:
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        return
    figure.set_figheight(figure.get_figheight() + 0.22 * len(labels))
    figure.legend(handles, labels, frameon=False, loc="outside lower left")


def draw_curves(axes: "Axes", grouped: Sequence[Cell], styles: Sequence[Look]) -> None:
    """The curves of some cells on one pair of axes, the training range shaded if they have it in common."""
    if len(ranges := _training_ranges(grouped)) == 1:
        axes.axvspan(ranges[0][0] - 0.5, ranges[0][1] + 0.5, color="0.92", lw=0, label="training scales")
    for index, (cell, look) in enumerate(zip(grouped, styles, strict=True)):
        if len(cell.records) > 1 and len(grouped) <= MOST_BANDS:
            _draw_spread(axes, cell, look)
        _draw_mean(axes, cell, look, index if len(grouped) > 1 else ALONE)
    scales = sorted({scale for cell in grouped for scale in cell.scales})
    far = max(scales) > 30
    if far:
        axes.set_xscale("symlog", linthresh=10)
    axes.set_xticks(ticks(scales), [str(scale) for scale in ticks(scales)])
    axes.minorticks_off()
    axes.set_xlim(min(scales) - 0.5, 1.1 * max(scales) if far else max(scales) + 0.5)
    percent_axis(axes)


def percent_axis(axes: "Axes") -> None:
    """Shares from 0 to 1 as per cent, on light lines."""
    from matplotlib.ticker import PercentFormatter

    axes.set_ylim(-0.05, 1.07)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.grid(axis="y", color="0.9")
    axes.spines[["top", "right"]].set_visible(False)


def save_figure(figure: "Figure", path: Path, dpi: int = 160) -> Path:
    """Write a figure at once, as PNG or PDF by its suffix."""
    content = BytesIO()
    figure.savefig(content, format=path.suffix.lstrip(".") or "png", dpi=dpi)
    write_bytes(path, content.getvalue())
    return path


def ticks(scales: Sequence[int]) -> list[int]:
    """Every scale up to 10, then only those that leave room."""
    chosen: list[int] = []
    for scale in scales:
        if not chosen or scale <= 10 or scale >= 1.2 * chosen[-1]:
            chosen.append(scale)
    return chosen


def _training_ranges(grouped: Sequence[Cell]) -> list[tuple[int, int]]:
    return sorted({(min(cell.train_scales), max(cell.train_scales)) for cell in grouped})


def _draw_spread(axes: "Axes", cell: Cell, look: Look) -> None:
    """The 95 % interval of the mean over seeds as a band, every seed as a dot."""
    scales = cell.scales
    intervals = [cell.interval(scale) for scale in scales]
    low = [found.value if found.low is None else found.low for found in intervals]
    high = [found.value if found.high is None else found.high for found in intervals]
    axes.fill_between(scales, low, high, color=look.colour, alpha=0.18, lw=0)
    dots = [(scale, value) for scale in scales for value in cell.exact(scale)]
    axes.scatter([x for x, _ in dots], [y for _, y in dots], color=look.colour, alpha=0.4, s=6, lw=0)


def _draw_mean(axes: "Axes", cell: Cell, look: Look, index: int) -> None:
    """The mean over seeds. Later lines are thinner, so that lines on top of each other are all seen."""
    scales = cell.scales
    means = [cell.interval(scale).value for scale in scales]
    width, size = max(1.4, 3.2 - 0.6 * index), max(3.5, 7.5 - index)
    marker, dash = look.marker[0], look.dash[0]
    axes.plot(scales, means, color=look.colour, marker=marker, ls=dash, lw=width, ms=size, label=_label(cell))


def _label(cell: Cell) -> str:
    count = len(cell.records)
    label = f"{cell.label}, {seeds_of(count)}"
    return label if cell.fitted == count else f"{label}, {cell.fitted} fitted"


def seeds_of(count: int) -> str:
    return f"{count} seed{'s' * (count > 1)}"

"""The renderer for print: figures drawn with matplotlib and saved as PNG or PDF. It knows nothing of runs."""

import math
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldhd.files import write_bytes
from ldhd.report.figures.marks import DASHES, MARKERS, Axis, Band, Bars, Figure, HeatMap, Line, Mark, Panel, Span, Text

if TYPE_CHECKING:  # importing it takes half a second
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LONGEST_BESIDE = 44
"""Legends with longer labels stand below the panels, because beside them they would leave the panels no room."""
CHARACTER = 0.075
"""Width of a character in the legend, in inches."""
AXIS = 0.4
"""Width of the numbers beside a panel, in inches."""


def save_figure(figure: Figure, path: Path, dpi: int = 160) -> Path:
    """Draw a figure and write it as PNG or PDF, as the suffix of the path says."""
    content, kind = BytesIO(), path.suffix.lstrip(".") or "png"
    draw(figure).savefig(content, format=kind, dpi=dpi)
    write_bytes(path, _with_palette(content) if kind == "png" else content.getvalue())
    return path


def _with_palette(png: BytesIO) -> bytes:
    """Return the picture with 256 colours, which a third of the bytes suffice for."""
    from PIL import Image

    content = BytesIO()
    picture = Image.open(png).convert("RGB").quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    picture.save(content, "png", optimize=True)
    return content.getvalue()


def save_for_print(figure: Figure, path: Path) -> list[Path]:
    """Save a figure as PNG and as PDF, under a path without suffix."""
    return [save_figure(figure, path.with_name(f"{path.name}.{suffix}")) for suffix in ("png", "pdf")]


def draw(figure: Figure) -> "Canvas":
    """Draw a figure with matplotlib."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=figure.size, layout="constrained")
    rows = -(-len(figure.panels) // figure.columns)
    share_x, share_y = figure.share == "x", figure.share == "y"
    grid = list(canvas.subplots(rows, figure.columns, squeeze=False, sharex=share_x, sharey=share_y).flat)
    panels = [*figure.panels, *[None] * (len(grid) - len(figure.panels))]
    size = 10 if len(grid) == 1 else 9
    for axes, panel in zip(grid, panels, strict=True):
        if panel is None:
            axes.set_axis_off()
        else:
            _draw_panel(axes, panel, size)
            fitting = _fitting(panel.title, size, figure.size[0] / figure.columns - AXIS)
            axes.set_title(panel.title, loc="left", fontsize=fitting)
    _drop_inner_labels(grid, figure.columns)
    if figure.title:
        canvas.suptitle(figure.title, x=0.01, ha="left", fontsize=_fitting(figure.title, size + 2, figure.size[0]))
    if figure.color_bar:
        canvas.colorbar(next(axes.images[0] for axes in grid if axes.images), ax=grid, shrink=0.8)
    if figure.legend:
        _add_legend(canvas, grid)
    return canvas


def _draw_panel(axes: "Axes", panel: Panel, size: float) -> None:
    for mark in panel.marks:
        _draw_mark(axes, mark)
    axes.tick_params(labelsize=size - 1)
    axes.spines[["top", "right"]].set_visible(False)
    _set_axis(axes, panel.x, "x", size)
    _set_axis(axes, panel.y, "y", size)
    if panel.y.percent or panel.y.scale == "log":
        axes.grid(axis="y", color="0.9")
        axes.set_axisbelow(True)
    if axes.images:
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, labeltop=bool(panel.x.tick_labels), labelbottom=not panel.x.tick_labels)
    if panel.bare:
        axes.set_axis_off()


def _set_axis(axes: "Axes", axis: Axis, name: str, size: float) -> None:
    from matplotlib.ticker import PercentFormatter

    own = axes.xaxis if name == "x" else axes.yaxis
    own.set_label_text(axis.label, fontsize=size)
    if axis.scale != "linear":
        options = {"linthresh": 10} if axis.scale == "symlog" else {}
        (axes.set_xscale if name == "x" else axes.set_yscale)(axis.scale, **options)
    if axis.ticks is not None:
        own.set_ticks(axis.ticks, axis.tick_labels or [f"{tick:g}" for tick in axis.ticks])
        own.set_ticks([], minor=True)
    if axis.range:
        axes.set(**{f"{name}lim": axis.range})
    if axis.percent:
        own.set_major_formatter(PercentFormatter(1.0))


def _draw_mark(axes: "Axes", mark: Mark) -> None:
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize

    match mark:
        case Line(style=style):
            marker = style.marker or "circle" * (len(mark.x) == 1)  # a line through one point would be invisible
            look: dict[str, Any] = {"color": style.color, "alpha": style.opacity, "lw": style.width, "ms": style.size}
            look |= {"ls": DASHES.get(style.dash, ""), "marker": MARKERS.get(marker, ""), "label": mark.label or None}
            axes.plot(mark.x, mark.y, mew=None if style.dash else 0, **look)
        case Band():
            axes.fill_between(mark.x, mark.low, mark.high, color=mark.color, alpha=0.18, lw=0)
        case Bars():
            hatch = "///" if mark.hatched else None
            axes.bar(mark.x, mark.y, mark.width, color=mark.color, alpha=0.75, hatch=hatch, label=mark.label or None)
        case Span():
            axes.axvspan(mark.low, mark.high, color="0.92", lw=0, label=mark.label or None)
        case HeatMap():
            values = [[math.nan if value is None else value for value in row] for row in mark.values]
            colors = LinearSegmentedColormap.from_list("heat map", list(mark.colors))
            norm = (LogNorm if mark.log else Normalize)(mark.low, mark.high, clip=True)
            axes.imshow(values, cmap=colors, norm=norm, aspect="auto")
        case Text():
            place: dict[str, Any] = {"ha": mark.align, "va": "center"}
            axes.text(mark.x, mark.y, mark.text, color=mark.color, fontsize=mark.size, **place)


def _drop_inner_labels(grid: Sequence["Axes"], columns: int) -> None:
    """Write labels that all of several panels have in common at the left and at the bottom only."""
    shown = [axes for axes in grid if axes.axison]
    x_labels, y_labels = {axes.get_xlabel() for axes in shown}, {axes.get_ylabel() for axes in shown}
    for index, axes in enumerate(grid):
        covered = any(other in shown for other in grid[index + columns :: columns])
        axes.set_xlabel("" if covered and len(x_labels) == 1 else axes.get_xlabel())
        axes.set_ylabel("" if index % columns and len(y_labels) == 1 else axes.get_ylabel())


def _fitting(text: str, size: float, width: float) -> float:
    """The largest font size, up to `size`, at which every line of a text fits a width in inches."""
    longest = max(map(len, text.split("\n")))
    return min(size, 72 * width / (0.55 * max(longest, 1)))


def _add_legend(canvas: "Canvas", grid: Sequence["Axes"]) -> None:
    """Name every label of all panels once: beside a single panel, or below, where the figure grows by its size."""
    named: dict[str, Any] = {}
    for axes in grid:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    if not named:
        return
    longest = max(map(len, named))
    place: dict[str, Any] = {"loc": "outside right center"}
    if len(grid) > 1 or longest > LONGEST_BESIDE:
        width = CHARACTER * longest + 0.85
        columns = max(1, min(5, int(canvas.get_figwidth() / width)))
        place = {"loc": "outside lower center", "ncols": columns}
        canvas.set_figwidth(max(width, canvas.get_figwidth()))
        canvas.set_figheight(canvas.get_figheight() + 0.2 * math.ceil(len(named) / columns))
    # handles are long enough to show the dashes beside the marker
    canvas.legend(named.values(), named.keys(), frameon=False, fontsize=8.5, handlelength=4, **place)

"""The renderer for print: figures drawn with matplotlib and saved as PNG or PDF. It knows nothing of runs."""

import math
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldhd.files import write_bytes
from ldhd.report.figures.marks import Arc, Axis, Band, Bars, Box, Figure, HeatMap, Line, Mark, Panel, Points, Span, Text

if TYPE_CHECKING:  # importing it takes half a second
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure as Canvas

MARKERS = {"circle": "o", "square": "s", "diamond": "D", "triangle-up": "^", "triangle-down": "v"}
MARKERS |= {"cross": "P", "x": "X", "star": "*", "triangle-left": "<", "triangle-right": ">", "pentagon": "p"}
MARKERS |= {"hexagon": "h", "octagon": "8", "diamond-tall": "d", "hexagon2": "H", "": ""}
DASHES = {"solid": "-", "dash": "--", "dashdot": "-.", "dot": ":"}
LONGEST_BESIDE = 44
"""Legends with longer labels stand below the panels, because beside them they would leave the panels no room."""
CHARACTER = 0.075
"""Width of a character in the legend, in inches."""


def save_figure(figure: Figure, path: Path, dpi: int = 160) -> Path:
    """Draw a figure and write it as PNG or PDF, as the suffix of the path says."""
    content = BytesIO()
    draw(figure).savefig(content, format=path.suffix.lstrip(".") or "png", dpi=dpi)
    write_bytes(path, content.getvalue())
    return path


def draw(figure: Figure) -> "Canvas":
    """Draw a figure with matplotlib."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=figure.size, layout="constrained")
    rows = -(-len(figure.panels) // figure.columns)
    share_x, share_y = figure.share == "x", figure.share == "y"
    grid = list(canvas.subplots(rows, figure.columns, squeeze=False, sharex=share_x, sharey=share_y).flat)
    alone = len(grid) == 1
    panels = [*figure.panels, *[None] * (len(grid) - len(figure.panels))]
    for axes, panel in zip(grid, panels, strict=True):
        if panel is None:
            axes.set_axis_off()
        else:
            _draw_panel(axes, panel, alone)
            size = _fitting(panel.title, 11 if alone else 9, figure.size[0] / figure.columns)
            axes.set_title(panel.title, loc="left", fontsize=size)
    _drop_inner_labels(grid, figure.columns)
    if figure.title:
        size = _fitting(figure.title, 12 if alone else 11, figure.size[0])
        canvas.suptitle(figure.title, x=0.01, ha="left", fontsize=size)
    if figure.color_bar:
        canvas.colorbar(next(axes.images[0] for axes in grid if axes.images), ax=grid, shrink=0.8)
    if figure.legend:
        _add_legend(canvas, grid)
    return canvas


def _drop_inner_labels(grid: Sequence["Axes"], columns: int) -> None:
    """Write labels that all of several panels have in common at the left and at the bottom only."""
    shown = [axes for axes in grid if axes.axison]
    for name in ("x", "y"):
        if len({getattr(axes, f"get_{name}label")() for axes in shown}) == 1:
            for index, axes in enumerate(grid):
                below = grid[index + columns :: columns]
                if index % columns if name == "y" else any(other in shown for other in below):
                    axes.set(**{f"{name}label": ""})


def _draw_panel(axes: "Axes", panel: Panel, alone: bool) -> None:
    for mark in panel.marks:
        _draw_mark(axes, mark)
    axes.tick_params(labelsize=9 if alone else 8)
    axes.spines[["top", "right"]].set_visible(False)
    _set_axis(axes, panel.x, "x", alone)
    _set_axis(axes, panel.y, "y", alone)
    if panel.y.percent or panel.y.scale == "log":
        axes.grid(axis="y", color="0.9")
        axes.set_axisbelow(True)
    if panel.square:
        axes.set_aspect("equal")
    if any(isinstance(mark, HeatMap) for mark in panel.marks):
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        if panel.x.tick_labels:
            axes.tick_params(labeltop=True, labelbottom=False)
    if not panel.axes:
        axes.set_axis_off()


def _set_axis(axes: "Axes", axis: Axis, name: str, alone: bool) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    own = axes.xaxis if name == "x" else axes.yaxis
    axes.set(**{f"{name}label": axis.label})
    own.label.set_fontsize(10 if alone else 9)
    if axis.scale != "linear":
        axes.set(**{f"{name}scale": axis.scale})
        if axis.scale == "symlog":
            axes.set_xscale("symlog", linthresh=10)
    if axis.ticks is not None:
        own.set_ticks(axis.ticks, axis.tick_labels or [f"{tick:g}" for tick in axis.ticks])
        own.set_minor_locator(_no_ticks())
    if axis.range:
        axes.set(**{f"{name}lim": axis.range})
    if axis.percent:
        own.set_major_formatter(PercentFormatter(1.0))
    if axis.integer:
        own.set_major_locator(MaxNLocator(integer=True))


def _fitting(text: str, size: float, width: float) -> float:
    """The largest font size, up to `size`, at which every line of a text fits a width in inches."""
    longest = max(map(len, text.split("\n")))
    return min(size, 72 * width / (0.55 * max(longest, 1)))


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()


def _draw_mark(axes: "Axes", mark: Mark) -> None:
    match mark:
        case Line():
            _draw_line(axes, mark)
        case Band():
            axes.fill_between(mark.x, mark.low, mark.high, color=mark.color, alpha=0.18, lw=0)
        case Points():
            _draw_points(axes, mark)
        case Bars():
            hatch = "///" if mark.hatched else None
            style: Any = {"color": mark.color, "alpha": 0.75, "hatch": hatch, "label": _label(mark.label)}
            axes.bar(mark.x, mark.y, mark.width, **style)
        case Span():
            axes.axvspan(mark.low, mark.high, color="0.92", lw=0, label=_label(mark.label))
        case HeatMap():
            values = [[math.nan if value is None else value for value in row] for row in mark.values]
            axes.imshow(values, cmap=_colors(mark), norm=_norm(mark), aspect="auto")
        case Text():
            family = "monospace" if mark.monospace else None
            style = {"ha": mark.align, "va": "center", "color": mark.color, "fontsize": mark.size, "family": family}
            axes.text(mark.x, mark.y, mark.text, **style)
        case Box():
            _draw_box(axes, mark)
        case Arc():
            _draw_arc(axes, mark)


def _draw_line(axes: "Axes", line: Line) -> None:
    marker = MARKERS[line.marker or "circle" * (len(line.x) == 1)]  # a line through one point would be invisible
    style: Any = {"color": line.color, "ls": DASHES[line.dash], "lw": line.width, "marker": marker, "ms": line.size}
    axes.plot(line.x, line.y, label=_label(line.label), **style)


def _draw_points(axes: "Axes", points: Points) -> None:
    crossed = points.crossed or [False] * len(points.x)
    for cross, marker in ((False, MARKERS[points.marker]), (True, "x")):
        chosen = [(x, y) for x, y, c in zip(points.x, points.y, crossed, strict=True) if c == cross]
        if chosen:
            style: Any = {"color": points.color, "alpha": points.opacity, "s": points.size**2, "lw": 0.8 * cross}
            axes.scatter(*zip(*chosen, strict=True), marker=marker, label=_label(points.label), zorder=3, **style)


def _draw_box(axes: "Axes", box: Box) -> None:
    from matplotlib.patches import Rectangle

    corner = box.x - box.width / 2, box.y - box.height / 2
    fill: Any = {"fc": box.color, "lw": 0} if box.filled else {"fill": False, "ec": box.color, "lw": box.line_width}
    axes.add_patch(Rectangle(corner, box.width, box.height, alpha=box.opacity, **fill))


def _draw_arc(axes: "Axes", arc: Arc) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Curve

    points = [(arc.start, arc.y), (arc.start, arc.top), (arc.end, arc.top), (arc.end, arc.y)]
    curve = Curve(points, [Curve.MOVETO, *[Curve.CURVE4] * 3])
    axes.add_patch(PathPatch(curve, fill=False, ec=arc.color, alpha=arc.opacity, lw=1.2))


def _colors(heat_map: HeatMap) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("heat map", list(heat_map.colors))


def _norm(heat_map: HeatMap) -> "Normalize":
    from matplotlib.colors import LogNorm, Normalize

    return (LogNorm if heat_map.log else Normalize)(heat_map.low, heat_map.high, clip=True)


def _label(label: str) -> str | None:
    """Matplotlib leaves labels that begin with an underscore out of the legend; None is no label."""
    return label or None


def _add_legend(canvas: "Canvas", grid: Sequence["Axes"]) -> None:
    """Name every label of all panels once: beside a single panel, or below, where the figure grows by its size."""
    named: dict[str, Any] = {}
    for axes in grid:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    if not named:
        return
    longest = max(map(len, named))
    style: dict[str, Any] = {"frameon": False, "fontsize": 8 if len(grid) > 1 else 9}
    if len(grid) == 1 and longest <= LONGEST_BESIDE:
        canvas.legend(named.values(), named.keys(), loc="outside right center", **style)
        return
    width = CHARACTER * longest + 0.6
    columns = max(1, min(5, int(canvas.get_figwidth() / width)))
    canvas.set_figwidth(max(width, canvas.get_figwidth()))
    canvas.set_figheight(canvas.get_figheight() + 0.2 * math.ceil(len(named) / columns))
    canvas.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns, **style)

"""Exact match against scale, a panel for each task with all embeddings in it."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from ldhd.report.look import looks
from ldhd.report.plot import draw_curves
from ldhd.report.summary import Cell

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

COLUMNS = 3


def draw_by_task(panels: Mapping[str, Sequence[Cell]], title: str) -> "Figure":
    """Task -> its cells, each drawn in its embedding's colour and named once below; the first has the boldest line."""
    from matplotlib.figure import Figure

    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(3.4 * columns + 0.4, 2.3 * rows + 1.4), layout="constrained")
    grid = list(figure.subplots(rows, columns, squeeze=False, sharey=True).flat)
    named: dict[str, Artist] = {}
    every = iter(looks([cell for cells in panels.values() for cell in cells]))  # alike in all panels
    for axes, (task, cells) in zip(grid, panels.items(), strict=False):
        draw_curves(axes, cells, list(islice(every, len(cells))))
        axes.set_title(task, loc="left", fontsize=10)
        axes.tick_params(labelsize=8)
        handles, _ = axes.get_legend_handles_labels()
        shaded = len(handles) - len(cells)
        named |= dict(zip([*["training scales"] * shaded, *(cell.label for cell in cells)], handles, strict=True))
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    for axes in grid[max(0, len(panels) - columns) : len(panels)]:
        axes.set_xlabel("scale of the instance", fontsize=9)
    for axes in grid[::columns]:
        axes.set_ylabel("exact match", fontsize=9)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    figure.legend(list(named.values()), list(named), frameon=False, fontsize=8, loc="outside lower center", ncols=5)
    return figure

"""How far each row of a preset gets on each task: a table as a figure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ldhd.experiments.outcomes import Outcome
from ldhd.experiments.views import depth
from ldhd.report.plot import seeds_of
from ldhd.report.table import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST = 0.8
"""Factors below it share its colour."""


def draw_grid(outcomes: Sequence[Outcome], title: str, depths: bool = False) -> "Figure":
    """Rows by tasks: the extrapolation factor, below it exact match at the largest scale; with `depths` the depth.

    What has fewer seeds than others says so.
    """
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    tasks = list(dict.fromkeys(outcome.task for outcome in outcomes))
    rows = list(dict.fromkeys(outcome.label for outcome in outcomes))
    factors = [[float("nan")] * len(tasks) for _ in rows]
    names = 0.065 * max(map(len, rows))  # inches that the names of the rows take
    figure = Figure(figsize=(0.8 + names + 1.35 * len(tasks), 1.0 + 0.42 * len(rows)), layout="constrained")
    axes = figure.subplots()
    seeds = max(outcome.seeds for outcome in outcomes)
    norm = LogNorm(LEAST, max(2.0, *(outcome.factor for outcome in outcomes)), clip=True)
    for outcome in outcomes:
        x, y = tasks.index(outcome.task), rows.index(outcome.label)
        factors[y][x] = max(outcome.factor, LEAST)
        ink = "white" if norm(factors[y][x]) > 0.6 else "black"
        fewer = "" if outcome.seeds == seeds else f", {seeds_of(outcome.seeds)}"
        fitted = fewer if outcome.fitted == outcome.seeds else f", {outcome.fitted}/{outcome.seeds} fitted"
        layers = f"{depth(outcome.layers)}, " if depths else ""
        small = f"{layers}{percent(outcome.exact)} % at {outcome.scale}{fitted}"
        predicted = f"\npredicted: {outcome.predicted}" if outcome.predicted else ""
        axes.text(x, y - 0.2, f"{outcome.factor:g}x", ha="center", va="center", color=ink, fontsize=9)
        axes.text(x, y + 0.24, f"{small}{predicted}", ha="center", va="center", color=ink, fontsize=5.5)
    axes.imshow(factors, norm=norm, cmap="Greens", aspect="auto")
    axes.set_xticks(range(len(tasks)), tasks, fontsize=8)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
    figure.suptitle(f"{title}; {seeds_of(seeds)}", x=0.01, ha="left", fontsize=10)
    return figure

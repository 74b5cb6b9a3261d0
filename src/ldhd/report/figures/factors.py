"""How far each row of a preset gets on each task: a table as a figure."""

from collections.abc import Sequence
from math import log

from ldhd.experiments.outcomes import Outcome
from ldhd.experiments.views import depth
from ldhd.report.figures.accuracy import seeds_of
from ldhd.report.figures.marks import Axis, Figure, HeatMap, Mark, Panel, Text
from ldhd.report.table import percent

LOWEST = 0.8
"""Factors below it share its colour."""
COLORS = ("#f7fcf5", "#c7e9c0", "#74c476", "#238b45", "#00441b")


def factor_figure(outcomes: Sequence[Outcome], title: str, depths: bool = False) -> Figure:
    """Rows by tasks: the extrapolation factor and, below it, exact match at the largest scale and the prediction.

    With `depths`, the number of layers is written too. A cell with fewer seeds than others says so.
    """
    tasks = list(dict.fromkeys(outcome.task for outcome in outcomes))
    rows = list(dict.fromkeys(outcome.label for outcome in outcomes))
    seeds = max(outcome.seeds for outcome in outcomes)
    highest = max(2.0, *(outcome.factor for outcome in outcomes))
    values: list[list[float | None]] = [[None] * len(tasks) for _ in rows]
    texts: list[Mark] = []
    for outcome in outcomes:
        x, y = tasks.index(outcome.task), rows.index(outcome.label)
        factor = values[y][x] = max(outcome.factor, LOWEST)
        ink = "#ffffff" if log(factor / LOWEST) > 0.6 * log(highest / LOWEST) else "#000000"
        texts.append(Text(x, y - 0.2, f"{outcome.factor:g}x", 9, ink))
        texts.append(Text(x, y + 0.24, _small_print(outcome, seeds, depths), 5.5, ink))
    panel = Panel(
        [HeatMap(values, COLORS, LOWEST, highest, log=True), *texts],
        Axis(ticks=range(len(tasks)), tick_labels=tasks),
        Axis(ticks=range(len(rows)), tick_labels=rows),
    )
    names = 0.065 * max(map(len, rows))  # the width of the names of the rows, in inches
    size = 0.8 + names + 1.35 * len(tasks), 1.0 + 0.42 * len(rows)
    return Figure([panel], size, title=f"{title}; {seeds_of(seeds)}")


def _small_print(outcome: Outcome, seeds: int, depths: bool) -> str:
    fewer = "" if outcome.seeds == seeds else f", {seeds_of(outcome.seeds)}"
    fitted = fewer if outcome.fitted == outcome.seeds else f", {outcome.fitted}/{outcome.seeds} fitted"
    layers = f"{depth(outcome.layers)}, " if depths else ""
    predicted = f"\npredicted: {outcome.predicted}" if outcome.predicted else ""
    return f"{layers}{percent(outcome.exact)} % at {outcome.scale}{fitted}{predicted}"

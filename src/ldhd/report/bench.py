"""The result of `ldhd bench`, and its figure."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import RenderableType
from rich.table import Table

from ldhd.bench import Case
from ldhd.bench.ratio import machine
from ldhd.report.plot import save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEANINGS = {
    "speed": "time of the opponent over ours: above 1, we are faster",
    "cost": "our time over the opponent's",
    "memory": "our largest sum of tensors alive over the opponent's",
    "growth": "our time for one string over the opponent's for one of the smallest n",
    "share": "our operations a second over the opponent's",
    "exponent": "power of n that fits best",
}


@dataclass(frozen=True)
class BenchResult:
    """The cases that `ldhd bench` has measured."""

    cases: Sequence[Case]
    figures: Sequence[Path] = ()

    def document(self) -> dict[str, Any]:
        """Return every case, and the machine it was measured on."""
        return {"cases": [asdict(case) for case in self.cases], "machine": machine()}

    def view(self) -> Iterator[RenderableType]:
        """Yield a table for each measure, then the paths of the figures."""
        tables = [self._table(measure) for measure in dict.fromkeys(case.measure for case in self.cases)]
        tables[-1].caption = ", ".join(f"{key} {value}" for key, value in machine().items())
        yield from tables
        yield from (f"figure: {path}" for path in self.figures)

    def _table(self, measure: str) -> Table:
        table = Table(title=f"{measure}: {MEANINGS[measure]}", title_justify="left", box=box.SIMPLE_HEAD)
        for column in ("case", "shape", "against", measure, "range"):
            table.add_column(column)
        for case in (case for case in self.cases if case.measure == measure):
            low, high = case.spread
            span = "" if low == high else f"{low:.2f}-{high:.2f}"
            table.add_row(case.case, case.shape, case.against, f"{case.ratio:.2f}", span)
        return table


def plot_growth(cases: Sequence[Case], folder: Path) -> list[Path]:
    """The picture of `draw_growth`, if there is one."""
    figure = draw_growth(cases)
    return [] if figure is None else [save_figure(figure, folder / "attention.png", dpi=150)]


def draw_growth(cases: Sequence[Case]) -> "Figure | None":
    """Time against length, on logarithmic axes, with the fitted exponent; nothing if no such case was measured."""
    from matplotlib.figure import Figure

    grown = [case for case in cases if case.measure == "growth" and case.n is not None]
    if not grown:
        return None
    exponents = {
        case.case.split(", time")[0]: case.ratio
        for case in cases
        if case.measure == "exponent" and ", time" in case.case
    }
    figure = Figure(figsize=(7.5, 4.8), layout="constrained")
    axes = figure.add_subplot()
    for number, name in enumerate(dict.fromkeys(case.case.split(", forward")[0] for case in grown)):
        line = [(case.n, case.ratio) for case in grown if case.case.split(", forward")[0] == name]
        label = f"{name}  (n^{exponents[name]:.2f})" if name in exponents else name
        colour, style = f"C{number % 10}", "-" if number < 10 else "--"
        axes.plot(*zip(*line, strict=True), style, color=colour, marker="o", markersize=4, linewidth=1.5, label=label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    lengths = sorted({case.n for case in grown if case.n is not None})
    axes.set_xticks(lengths, [str(n) for n in lengths])
    axes.set_xlabel("length n")
    axes.set_ylabel(f"time for one string, rpe at n = {lengths[0]} as 1")
    axes.set_title("Whole attention, forward and backward")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, frameon=False)
    return figure

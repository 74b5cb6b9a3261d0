"""The result of `ldhd bench`, and its figure."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table

from ldhd.bench import Case
from ldhd.bench.ratio import machine
from ldhd.report.figures.growth import growth_figure
from ldhd.report.render_matplotlib import save_figure

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
    """Draw how time grows with length, if that was measured."""
    figure = growth_figure(cases)
    return [] if figure is None else [save_figure(figure, folder / "attention.png", dpi=150)]

"""The result of `ldhd bench`, and its figure."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from ldhd.bench import Case
from ldhd.bench.ratio import machine
from ldhd.report.figures.growth import growth_figure
from ldhd.report.render_matplotlib import save_figure
from ldhd.report.terminal import plain_table

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
        return {"cases": [asdict(case) for case in self.cases], "machine": machine()}

    def view(self) -> Iterator[RenderableType]:
        """Yield a table for each measure, the machine, and the paths of the figures."""
        for measure in dict.fromkeys(case.measure for case in self.cases):
            columns = "case", "shape", "against", measure, "range"
            rows = [_row(case) for case in self.cases if case.measure == measure]
            yield plain_table(f"{measure}: {MEANINGS[measure]}", columns, rows)
        yield ", ".join(f"{key} {value}" for key, value in machine().items())
        yield from (f"figure: {path}" for path in self.figures)


def plot_growth(cases: Sequence[Case], folder: Path) -> list[Path]:
    """Draw how time grows with length, if that was measured."""
    figure = growth_figure(cases)
    return [] if figure is None else [save_figure(figure, folder / "attention.png", dpi=150)]


def _row(case: Case) -> tuple[str, ...]:
    low, high = case.spread
    return case.case, case.shape, case.against, f"{case.ratio:.2f}", "" if low == high else f"{low:.2f}-{high:.2f}"

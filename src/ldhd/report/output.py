"""The results of commands that train and evaluate runs."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from ldhd.evaluate import ScaleResult
from ldhd.experiments import Record, RunConfig, make_config
from ldhd.experiments.groups import Group, group_runs, setting
from ldhd.report.figures.accuracy import accuracy_figure
from ldhd.report.render_matplotlib import save_figure
from ldhd.report.table import accuracy_table, digit_table
from ldhd.report.terminal import numeric, plain_table


@dataclass(frozen=True)
class TrainedRuns:
    """The runs of one command, and their figure."""

    records: Sequence[Record]
    groups: Sequence[Group]
    out: Path
    figure: Path
    report: Path | None = None
    """A report about them, if there is one."""

    def document(self) -> dict[str, Any]:
        report = {} if self.report is None else {"report": str(self.report)}
        return {"runs": [record.document() for record in self.records], "figure": str(self.figure), **report}

    def view(self) -> Iterator[RenderableType]:
        """Yield the table of exact match, that of single answer tokens, and where everything is."""
        yield accuracy_table(self.groups)
        digits = digit_table(self.groups)
        if digits is not None:
            yield digits
        for record in self.records:
            folder = self.out / record.hash
            yield f"{record.position} seed {record.seed}: {folder} ({record.seconds:.0f} s of training)"
        yield f"figure: {self.figure}"
        if self.report is not None:
            yield f"report: {self.report}"


def draw_runs(
    configs: Sequence[RunConfig], records: Sequence[Record], out: Path, report: Path | None = None
) -> TrainedRuns:
    """Draw the figure of some runs of the folder `out`, which is where it is written."""
    groups = group_runs(records, {config.hash: config for config in configs})
    figure = save_figure(accuracy_figure(groups), out / figure_name(configs))
    return TrainedRuns(records, groups, out, figure, report)


def figure_name(configs: Sequence[RunConfig]) -> str:
    """Name the figure of some runs by task and embeddings, and by a hash of their settings unless they are defaults.

    Runs with other seeds and the same settings have the same figure.
    """
    name = "-".join(dict.fromkeys([configs[0].task, *(config.position for config in configs)])).replace(":", ".")
    settings = sorted({setting(config) for config in configs})
    defaults = {setting(make_config(config.task, config.position, built=False)) for config in configs}
    if settings != sorted(defaults):
        name += f"-{hashlib.sha256(repr(settings).encode()).hexdigest()[:8]}"
    return f"{name}.png"


@dataclass(frozen=True)
class Evaluation:
    """A finished run, tested at the scales of `ldhd evaluate`."""

    config: RunConfig
    results: Sequence[ScaleResult]

    def document(self) -> dict[str, Any]:
        return {
            "hash": self.config.hash,
            "task": self.config.task,
            "position": self.config.position,
            "results": [asdict(result) for result in self.results],
        }

    def view(self) -> Iterator[Table]:
        title = f"{self.config.label}, trained on {list(self.config.train_scales)}"
        columns = numeric("scale", "instances", "exact match", "95 % interval", "per token")
        rows = [
            (r.scale, r.n, f"{r.exact:.3f}", f"{r.low:.3f}-{r.high:.3f}", f"{r.per_token:.3f}") for r in self.results
        ]
        yield plain_table(title, columns, rows)

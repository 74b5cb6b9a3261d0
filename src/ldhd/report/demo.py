"""The demonstration of the README: two embeddings on copy, the paper's claims, and a report."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from ldhd.experiments.config import make_configs
from ldhd.report.html import write_report
from ldhd.report.instance import TracedInstance, trace_run
from ldhd.report.ledger import Ledger
from ldhd.report.output import TrainedRuns, draw_runs
from ldhd.report.progress import ProgressBars, watch
from ldhd.sweep import run_all
from ldhd.theory.ledger import CLAIMS, verify

PROMPT = "b3141592653="
"""A string of scale 10, twice as long as any in training."""


@dataclass(frozen=True)
class Demo:
    """The runs of the demonstration, one instance for each of them, and the ledger of claims."""

    runs: TrainedRuns
    instances: list[TracedInstance]
    ledger: Ledger

    def document(self) -> dict[str, Any]:
        return self.runs.document()

    def view(self) -> Iterator[RenderableType]:
        for record, instance in zip(self.runs.records, self.instances, strict=True):
            yield f"\n{record.position} on a string of scale 10, twice as long as any it was trained on:"
            yield from instance.view()
        counts = self.ledger.counts()
        yield f"\nof {len(self.ledger.entries)} claims of the paper {counts} (`ldhd verify` explains each)\n"
        yield from self.runs.view()


def run_demo(out: Path, command: str) -> Demo:
    """Train RPE and RPE-Square on copy, check every claim of the paper, and write the report of both."""
    configs = make_configs("copy", ["rpe", "rpe-square"])
    with ProgressBars() as bars:
        records = run_all(configs, out, command=command, on_progress=bars)
    ledger = Ledger(list(watch(verify(), len(CLAIMS), "claims")))
    instances = [trace_run(out / record.hash, PROMPT) for record in records]
    report = write_report([out], out / "report.html", ledger=ledger.document(), title="Copy, trained on scales 1-5")
    return Demo(draw_runs(configs, records, out, report.path), instances, ledger)

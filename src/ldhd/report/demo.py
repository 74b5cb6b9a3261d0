"""The demonstration of the README: two embeddings on copy, the paper's claims, and a report."""

from pathlib import Path

from rich.console import RenderableType

from ldhd.experiments.config import make_configs
from ldhd.report.html import write_report
from ldhd.report.instance import trace_run
from ldhd.report.output import draw_runs
from ldhd.report.progress import ProgressBars, watch
from ldhd.report.terminal import Output
from ldhd.report.theory import count_verdicts, show_ledger
from ldhd.sweep import run_all
from ldhd.theory.ledger import CLAIMS, verify

PROMPT = "b3141592653="
"""A string of scale 10, twice as long as any in training."""


def run_demo(out: Path, command: str) -> Output:
    """Train RPE and RPE-Square on copy, check every claim of the paper, and write the report of both."""
    configs = make_configs("copy", ["rpe", "rpe-square"])
    with ProgressBars() as bars:
        records = run_all(configs, out, command=command, on_progress=bars)
    entries = list(watch(verify(), len(CLAIMS), "claims"))
    view: list[RenderableType] = []
    for record in records:
        view.append(f"\n{record.position} on a string of scale 10, twice as long as any it was trained on:")
        view += trace_run(out / record.hash, PROMPT)[1]
    view.append(f"\nof {len(entries)} claims of the paper {count_verdicts(entries)} (`ldhd verify` explains each)\n")
    ledger, _ = show_ledger(entries)
    report = write_report([out], out / "report.html", ledger=ledger, title="Copy, trained on scales 1-5").path
    runs, tables = draw_runs(configs, records, out)
    return {**runs, "report": str(report)}, [*view, *tables, f"report: {report}"]

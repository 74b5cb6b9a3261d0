"""What commands print: tables for people, JSON for programs."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from ldhd.evaluate import ScaleResult
from ldhd.experiments import Record, RunConfig, read_config
from ldhd.report.plot import plot_accuracy
from ldhd.report.table import accuracy_table, digit_table
from ldhd.report.terminal import print_view

if TYPE_CHECKING:
    from ldhd.report.html import Report


def print_runs(records: Sequence[Record], out: Path, as_json: bool = False, report: Path | None = None) -> None:
    """The table and figure of some runs, and where they are; and their report, if there is one."""
    name = "-".join(dict.fromkeys([records[0].task, *(record.position for record in records)]))
    configs = {record.hash: read_config(out / record.hash) for record in records}
    figure = plot_accuracy(records, out / f"{name.replace(':', '.')}.png", configs)
    if as_json:
        told = {} if report is None else {"report": str(report)}
        print_view({"runs": [record.document() for record in records], "figure": str(figure), **told})
        return
    print_view(accuracy_table(records, configs))
    digits = digit_table(records, configs)
    if digits is not None:
        print_view(digits)
    for record in records:
        print(f"{record.position} seed {record.seed}: {out / record.hash} ({record.seconds:.0f} s of training)")
    print(f"figure: {figure}")
    if report is not None:
        print(f"report: {report}")


def print_results(config: RunConfig, results: Sequence[ScaleResult], as_json: bool) -> None:
    """A run at the scales of `ldhd evaluate`."""
    if as_json:
        print_view(
            {
                "hash": config.hash,
                "task": config.task,
                "position": config.position,
                "results": [asdict(r) for r in results],
            }
        )
        return
    table = Table(title=f"{config.label}, trained on {list(config.train_scales)}", title_justify="left")
    for column in ("scale", "instances", "exact match", "95 % interval", "per token"):
        table.add_column(column, justify="right")
    for r in results:
        table.add_row(str(r.scale), str(r.n), f"{r.exact:.3f}", f"{r.low:.3f}-{r.high:.3f}", f"{r.per_token:.3f}")
    print_view(table)


def print_export(document: dict[str, Any], as_json: bool) -> None:
    """Where an exported run is, and how to evaluate it with the lm-evaluation-harness if it is made for that."""
    if as_json:
        print_view(document)
        return
    folder, tasks = document["folder"], document["lm_eval"]
    print(f"{document['task']} {document['position']}: {folder}")
    if tasks:
        model = f"--model hf --model_args pretrained={folder},trust_remote_code=True"
        print(f"to evaluate it: lm_eval {model} --include_path {folder} --tasks {tasks[0]}")


def print_report(report: "Report") -> None:
    """Where the report is and what it is about; what could not be read was warned of."""
    runs = report.runs
    counts = [f"{len(runs.finished)} runs in {len(report.cells)} cells"]
    counts += [f"{len(runs.failed)} failed"] if runs.failed else []
    counts += [f"{len(runs.unfinished)} unfinished"] if runs.unfinished else []
    counts += [f"{len(runs.problems)} unreadable"] if runs.problems else []
    print(f"report: {report.path} ({', '.join(counts)})")
    if report.figures:
        print(f"figures: {report.figures[0].parent} ({len(report.figures)} files)")

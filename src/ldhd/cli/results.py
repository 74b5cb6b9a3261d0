"""Commands that turn runs into figures and reports."""

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ldhd.cli.options import Device, Json, Workers


def reproduce(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIGURE]...", help="Such as fig2a, cot, priming, record, or all of the paper."),
    ] = None,
    size: Annotated[
        str, typer.Option(metavar="SIZE", help="quick (one seed), full (three or more) or paper (GPT-2, for GPUs).")
    ] = "quick",
    listed: Annotated[bool, typer.Option("--list", help="Show what there is, its time and its stored result.")] = False,
    seeds: Annotated[
        str | None, typer.Option(metavar="SEEDS", help="Such as 0-9; those of the size by default.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, max=10**12, help="Stop training after so many steps, to try a preset out.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of runs and figures; reproduced/SIZE by default.")
    ] = None,
    drawn: Annotated[bool, typer.Option("--finished", help="Draw the runs that are finished; train nothing.")] = False,
    device: Device = "cpu",
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """The paper's figures: train what each shows, draw it, and hold it against what the paper says.

    Runs that several figures share, or that are finished already, are done once. Exit code 1 if a run failed for good.
    """
    from ldhd.experiments.presets import PRESETS, chosen
    from ldhd.experiments.studies import Study
    from ldhd.parsing import SEEDS, parse_range
    from ldhd.report.html import write_report
    from ldhd.report.reproduction import (
        preset_rows,
        preset_table,
        reproduction_view,
        write_comparison,
        write_reproduction,
    )
    from ldhd.report.sweep import SweepView, failure_lines
    from ldhd.report.terminal import print_view
    from ldhd.sweep import in_processes, run_sweep

    if listed or not names:
        print_view({"presets": preset_rows(size)} if as_json else preset_table(size))
        return
    asked = chosen(names)
    given = None if seeds is None else parse_range(seeds, "--seeds", SEEDS)
    configs = {name: PRESETS[name].configs(size, given, steps, device) for name in asked}
    every = {config.hash: config for found in configs.values() for config in found}
    out = out or Path("reproduced") / size
    if drawn and every:
        study = Study(out)
        count, every = len(every), {name: config for name, config in every.items() if study.finished(config)}
        if not every:
            raise ValueError(f"none of the {count} runs is finished in {out}")
        without = [name for name, found in configs.items() if found and not any(one.hash in every for one in found)]
        if without:
            print(f"nothing is finished of {', '.join(without)}; left as it is", file=sys.stderr)
        asked = [name for name in asked if name not in without]
    with SweepView(len(every)) as view:
        swept = run_sweep(
            list(every.values()),
            out,
            in_processes(workers or os.cpu_count() or 1),
            command=context.obj,
            on_progress=view.on_progress,
            on_settled=view.on_settled,
        )
    written = [write_reproduction(name, size, configs[name], swept.records, out, context.obj) for name in asked]
    compared = write_comparison(configs, swept.records, out)
    reports = [str(write_report([out], out / "report.html").path)] if every else []
    for document in [] if as_json else written:
        print_view(reproduction_view(document))
    for path in [] if as_json else compared:
        print(f"figure of all comparisons: {path}")
    for report in [] if as_json else reports:
        print(f"report: {report}")
    if as_json:
        failures = [asdict(failure) for failure in swept.failures]
        print_view({"presets": written, "failures": failures, "report": reports[0] if reports else None})
    for line in failure_lines(swept.failures):
        print(line, file=sys.stderr)
    if swept.failures:
        raise typer.Exit(1)


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="Folders of runs, or folders of such folders.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The report.")] = Path("report.html"),
    ledger: Annotated[Path | None, typer.Option(metavar="FILE", help="From `ldhd verify --json`.")] = None,
    predictions: Annotated[Path | None, typer.Option(metavar="FILE", help="From `ldhd predict --json`.")] = None,
    bench: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="From `ldhd bench --json`; repeatable.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also draw every figure here, as PNG and PDF.")
    ] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="Heading of the report.")] = "Length generalization",
    as_json: Json = False,
) -> None:
    """One HTML file that opens offline: curves, statistics, error maps, anchors, ledger, from records alone."""
    from ldhd.report.given import read_given
    from ldhd.report.html import write_report
    from ldhd.report.terminal import print_result

    written = write_report(
        runs,
        out,
        ledger=read_given(ledger, "claims") if ledger else None,
        predictions=read_given(predictions, "predictions") if predictions else None,
        benchmarks=[read_given(path, "cases") for path in bench or []],
        title=title,
        figures=figures,
    )
    print_result(written, as_json)

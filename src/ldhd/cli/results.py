"""Commands that turn runs into figures and reports."""

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Context, Exit, Option

from ldhd.cli.options import Device, Json, Workers, print_result
from ldhd.parsing import SEEDS, parse_range


def reproduce(
    context: Context,
    names: Annotated[
        list[str] | None,
        Argument(metavar="[FIGURE]...", help="Such as fig2a, cot, priming, record, or all of the paper."),
    ] = None,
    size: Annotated[
        str, Option(metavar="SIZE", help="quick (one seed), full (three or more) or paper (GPT-2, for GPUs).")
    ] = "quick",
    listed: Annotated[bool, Option("--list", help="Show what there is, its time and its stored result.")] = False,
    seeds: Annotated[str | None, Option(metavar="SEEDS", help="Such as 0-9; those of the size by default.")] = None,
    steps: Annotated[
        int | None, Option(min=1, max=10**12, help="Stop training after so many steps, to try a preset out.")
    ] = None,
    out: Annotated[
        Path | None, Option(metavar="FOLDER", help="Folder of runs and figures; reproduced/SIZE by default.")
    ] = None,
    finished_only: Annotated[
        bool, Option("--finished", help="Draw the runs that are finished; train nothing.")
    ] = False,
    device: Device = "cpu",
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """The paper's figures: train what each shows, draw it, and hold it against what the paper says.

    Runs that several figures share, or that are finished already, are done once. Exit code 1 if a run failed for good.
    """
    if listed or not names:
        from ldhd.report.listing import list_presets

        print_result(*list_presets(size), as_json)
        return

    from ldhd.report.reproduction import reproduce

    document, view, problems = reproduce(
        names,
        size,
        seeds=None if seeds is None else parse_range(seeds, "--seeds", SEEDS),
        steps=steps,
        out=out,
        finished_only=finished_only,
        device=device,
        workers=workers,
        command=context.obj,
    )
    print_result(document, view, as_json)
    for line in problems:
        print(line, file=sys.stderr)
    if document["failures"]:
        raise Exit(1)


def report(
    runs: Annotated[list[Path], Argument(metavar="RUNS...", help="Folders of runs, or folders of such folders.")],
    out: Annotated[Path, Option("-o", "--out", metavar="FILE", help="The report.")] = Path("report.html"),
    ledger: Annotated[Path | None, Option(metavar="FILE", help="From `ldhd verify --json`.")] = None,
    predictions: Annotated[Path | None, Option(metavar="FILE", help="From `ldhd predict --json`.")] = None,
    bench: Annotated[list[Path] | None, Option(metavar="FILE", help="From `ldhd bench --json`; repeatable.")] = None,
    figures: Annotated[
        Path | None, Option(metavar="FOLDER", help="Also draw every figure here, as PNG and PDF.")
    ] = None,
    title: Annotated[str, Option(metavar="TEXT", help="Heading of the report.")] = "Length generalization",
    as_json: Json = False,
) -> None:
    """One HTML file that opens offline: curves, statistics, error maps, anchors, ledger, from records alone."""
    from ldhd.report.html import read_document, write_report

    written = write_report(
        runs,
        out,
        ledger=read_document(ledger, "claims") if ledger else None,
        predictions=read_document(predictions, "predictions") if predictions else None,
        benchmarks=[read_document(path, "cases") for path in bench or []],
        title=title,
        figures=figures,
    )
    print_result(written.document(), written.view(), as_json)

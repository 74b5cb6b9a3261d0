"""The command that runs the benchmarks."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ldhd.cli.options import Json


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="attention, step, decode, sweep, wht; all by default."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Threads to compute with; all cores by default.")
    ] = None,
    figures: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Also draw cost against length here.")] = None,
    as_json: Json = False,
) -> None:
    """Benchmarks: ratios to the opponents, each measured in one run. Minutes; leave the machine idle."""
    from ldhd.bench import BENCHMARKS
    from ldhd.names import lookup_only
    from ldhd.process import prepare
    from ldhd.report.bench import BenchResult, plot_growth
    from ldhd.report.progress import watch
    from ldhd.report.terminal import print_result

    chosen = [lookup_only(name, BENCHMARKS, "benchmark") for name in names or BENCHMARKS]
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    prepare(threads or os.cpu_count() or 1)
    measured = watch((run_benchmark() for run_benchmark in chosen), len(chosen), "benchmarks")
    cases = [case for found in measured for case in found]
    print_result(BenchResult(cases, plot_growth(cases, figures) if figures is not None else []), as_json)

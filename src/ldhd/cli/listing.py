"""Commands that list what there is, and measure how fast it is."""

import os
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ldhd.cli.options import Json, print_result
from ldhd.names import lookup_only


def tasks(
    task: Annotated[str | None, Argument(metavar="[TASK]", help="A task or module:Class; all by default.")] = None,
    scale: Annotated[int, Option(min=1, max=100_000, help="Scale of the examples.")] = 3,
    count: Annotated[int, Option(min=1, max=100_000, help="How many examples of one task.")] = 3,
    seed: Annotated[int, Option(min=0, help="Seed of the examples.")] = 0,
    as_json: Json = False,
) -> None:
    """The tasks, with worked examples."""
    from ldhd.report.listing import list_examples, list_tasks

    shown = list_tasks(scale, seed) if task is None else list_examples(task, scale, count, seed)
    print_result(*shown, as_json)


def positions(as_json: Json = False) -> None:
    """The position embeddings and their options."""
    from ldhd.report.listing import list_positions

    print_result(*list_positions(), as_json)


def bench(
    names: Annotated[
        list[str] | None,
        Argument(metavar="[NAME]...", help="attention, step, decode, sweep, wht; all by default."),
    ] = None,
    threads: Annotated[
        int | None, Option(min=1, max=1024, help="Threads to compute with; all cores by default.")
    ] = None,
    figures: Annotated[Path | None, Option(metavar="FOLDER", help="Also draw cost against length here.")] = None,
    as_json: Json = False,
) -> None:
    """Benchmarks: ratios to the opponents, each measured in one run. Minutes; leave the machine idle."""
    from ldhd.bench import BENCHMARKS
    from ldhd.process import prepare
    from ldhd.report.bench import show_benchmarks
    from ldhd.report.progress import watch

    chosen = [lookup_only(name, BENCHMARKS, "benchmark") for name in names or BENCHMARKS]
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    prepare(threads or os.cpu_count() or 1)
    measured = watch((run_benchmark() for run_benchmark in chosen), len(chosen), "benchmarks")
    cases = [case for found in measured for case in found]
    print_result(*show_benchmarks(cases, figures), as_json)

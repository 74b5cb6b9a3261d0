"""Commands that train."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Context, Exit, Option

from ldhd.cli.completion import position_names, preset_names, task_names
from ldhd.cli.options import (
    Device,
    Json,
    Log,
    Out,
    Scales,
    Settings,
    Threads,
    Trust,
    Workers,
    output_path,
    print_result,
)
from ldhd.names import lookup_only
from ldhd.parsing import SEEDS, parse_range, parse_settings

if TYPE_CHECKING:
    from ldhd.report.terminal import View


def run(
    context: Context,
    task: Annotated[
        str,
        Argument(
            metavar="TASK",
            help="Name of a task (see `ldhd tasks`), module:NAME, or a description such as my.toml.",
            autocompletion=task_names,
        ),
    ],
    position: Annotated[
        str,
        Option(metavar="P[,P...]", help="Names of embeddings (see `ldhd positions`).", autocompletion=position_names),
    ],
    model: Annotated[
        str | None, Option(metavar="NAME", help="small, small-2, base, lstm, ssm or gpt2; the task's own by default.")
    ] = None,
    train_scales: Scales = None,
    test_scales: Scales = None,
    steps: Annotated[int | None, Option(min=1, max=10**12, help="Training steps.")] = None,
    seeds: Annotated[str, Option(metavar="SEEDS", help="Such as 0 or 0-4.")] = "0",
    settings: Settings = None,
    out: Out = Path("runs"),
    device: Device = "cpu",
    workers: Workers = None,
    threads: Threads = 1,
    log: Log = None,
    as_json: Json = False,
) -> None:
    """Train on small scales, test on large ones: a run for each embedding and seed, a table and a figure.

    Under torchrun (`torchrun --nproc-per-node=2 -m ldhd run ...`) all processes train each model together.
    """
    from ldhd.experiments.config import make_configs
    from ldhd.report.output import draw_runs
    from ldhd.report.progress import ProgressBars
    from ldhd.sweep import run_all, run_together
    from ldhd.train import parallel

    configs = make_configs(
        task,
        position.split(","),
        model=model,
        train_scales=None if train_scales is None else parse_range(train_scales, "--train-scales"),
        test_scales=None if test_scales is None else parse_range(test_scales, "--test-scales"),
        steps=steps,
        seeds=parse_range(seeds, "--seeds", SEEDS),
        settings=parse_settings(settings or []),
        device=device,
    )
    with ProgressBars() as bars:
        if parallel.processes_started() > 1:
            records = run_together(configs, out, threads, context.obj, log, bars)
        else:
            records = run_all(
                configs, out, workers=workers, threads=threads, command=context.obj, log=log, on_progress=bars
            )
    if records:  # under torchrun the first process has them
        print_result(*draw_runs(configs, records, out), as_json)


def sweep(
    context: Context,
    file: Annotated[Path, Argument(metavar="FILE.toml", help="Tasks, positions, seeds and options of the runs.")],
    on: Annotated[str, Option(metavar="WHERE", help="Where to run: local or ray.")] = "local",
    out: Out = Path("runs"),
    workers: Workers = None,
    address: Annotated[
        str | None, Option(metavar="ADDRESS", help="Ray: the cluster, such as auto or ray://head:10001.")
    ] = None,
    cpus: Annotated[float, Option(min=0.01, max=1024, help="Ray: processors for each run.")] = 1,
    gpus: Annotated[float, Option(min=0, max=1024, help="Ray: GPUs for each run.")] = 0,
    threads: Threads = 1,
    retries: Annotated[int, Option(min=0, max=1000, help="How often a failed run is tried again.")] = 2,
    log: Log = None,
    as_json: Json = False,
) -> None:
    """Do all runs of a file: the finished are skipped, the interrupted go on, the failed are tried again.

    Given twice at once, on the same folder, the two share the runs. Exit code 1 if a run failed for good.
    """
    from ldhd.report.output import summarize_sweep
    from ldhd.report.progress import SweepView
    from ldhd.sweep import in_processes, on_ray, run_sweep
    from ldhd.sweep.file import read_sweep

    lookup_only(on, {"local": None, "ray": None}, "place to run")
    executor = on_ray(address, cpus, gpus) if on == "ray" else in_processes(workers or os.cpu_count() or 1)
    configs = read_sweep(file)
    with SweepView(len(configs)) as view:
        result = run_sweep(
            configs,
            out,
            executor,
            retries=retries,
            threads=threads,
            command=context.obj,
            log=log,
            on_progress=view.on_progress,
            on_completed=view.on_completed,
        )
    print_result(*summarize_sweep(configs, result.records, result.failures), as_json)
    if result.failures:
        raise Exit(1)


def reproduce(
    context: Context,
    names: Annotated[
        list[str] | None,
        Argument(
            metavar="FIGURE",
            help="Such as fig2a, fig2 for all its panels, record, or all of the paper.",
            autocompletion=preset_names,
        ),
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
        Path | None, output_path(metavar="FOLDER", help="Folder of runs and figures; reproduced/SIZE by default.")
    ] = None,
    finished_only: Annotated[
        bool, Option("--finished", help="Draw the runs that are finished; train nothing.")
    ] = False,
    device: Device = "cpu",
    workers: Workers = None,
    log: Log = None,
    as_json: Json = False,
) -> None:
    """The paper's figures: train what each shows, draw it, and hold it against what the paper says.

    Runs that several figures share, or that are finished already, are done once. Exit code 1 if a run failed for good.
    """
    if listed or not names:
        from ldhd.report.listing import list_presets

        print_result(*list_presets(names or [], size), as_json)
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
        log=log,
        command=context.obj,
    )
    _finish(document, view, problems, as_json)


def protocol(
    context: Context,
    tasks: Annotated[str, Option(metavar="TASK[,TASK...]", help="Tasks; all six by default.")] = "",
    entrants: Annotated[str, Option(metavar="E[;E...]", help="Embeddings and models; all by default.")] = "",
    seeds: Annotated[str, Option(metavar="SEEDS", help="Seeds of the reported runs, such as 0-2.")] = "0-2",
    curves: Annotated[str, Option(metavar="E[;E...]", help="Those to train with every budget, fitted or not.")] = "",
    steps: Annotated[
        int | None, Option(min=1, max=10**9, help="Steps of a trial, instead of the task's, to try it out.")
    ] = None,
    out: Annotated[Path, output_path(metavar="FOLDER", help="Folder of trials, runs and tables.")] = Path("protocol"),
    finished_only: Annotated[bool, Option("--finished", help="Tabulate what is finished; train nothing.")] = False,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Compare embeddings fairly: as many trials for each, chosen on training scales, then trained until they fit.

    Given again, it continues. Exit code 1 if a run failed for good.
    """
    from ldhd.report.protocol import run_protocol

    document, view, problems = run_protocol(
        out,
        tasks=[name for name in tasks.split(",") if name],
        entrants=[name.strip() for name in entrants.split(";") if name],
        seeds=parse_range(seeds, "--seeds", SEEDS),
        curves=[name.strip() for name in curves.split(";") if name],
        shortened=steps,
        finished_only=finished_only,
        workers=workers,
        command=context.obj,
    )
    _finish(document, view, problems, as_json)


def extend(
    context: Context,
    folders: Annotated[list[Path], Argument(metavar="RUN", help="Folders of finished runs, such as runs/1a2b3c.")],
    steps: Annotated[int, Option(min=1, max=10**12, help="Training steps in all.")],
    schedule_steps: Annotated[
        int | None, Option(min=1, max=10**12, help="Length of the cosine; the steps in all by default.")
    ] = None,
    workers: Workers = None,
    threads: Threads = 1,
    log: Log = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Train finished runs on, from their last weights and optimizer state: new runs beside them that say so."""
    from ldhd.experiments.loading import common_folder, extended
    from ldhd.report.output import draw_runs
    from ldhd.report.progress import ProgressBars
    from ldhd.sweep import run_all

    configs = [extended(folder, steps, schedule_steps, trust) for folder in folders]
    out = common_folder(folders)
    with ProgressBars() as bars:
        records = run_all(
            configs, out, workers=workers, threads=threads, command=context.obj, log=log, on_progress=bars
        )
    print_result(*draw_runs(configs, records, out), as_json)


def demo(
    context: Context,
    out: Annotated[Path, output_path(metavar="FOLDER", help="Folder of everything the demo writes.")] = Path("demo"),
    as_json: Json = False,
) -> None:
    """RPE-Square against RPE on copy, trained on scales 1-5 and tested to 10, and the ledger: ends with a report."""
    from ldhd.report.reproduction import run_demo

    if not as_json:
        print("Training RPE and RPE-Square on copy, scales 1-5, then checking the paper's claims; minutes.", flush=True)
    print_result(*run_demo(out, context.obj), as_json)


def _finish(document: dict[str, Any], view: "View", problems: Sequence[str], as_json: bool) -> None:
    """Print a result and what was left out or failed; exit code 1 if a run failed for good."""
    print_result(document, view, as_json)
    for line in problems:
        print(line, file=sys.stderr)
    if document["failures"]:
        raise Exit(1)

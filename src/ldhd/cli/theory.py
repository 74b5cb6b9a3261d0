"""Commands that need no runs: predictions, claims, lists of what there is, benchmarks."""

import os
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ldhd.cli.completion import position_names, task_names
from ldhd.cli.options import Json, Scales, Trust, output_path, print_result
from ldhd.names import lookup_only
from ldhd.parsing import parse_range, parse_settings


def predict(
    task: Annotated[
        str,
        Argument(
            metavar="TASK",
            help="Name of a task, all, module:Class, or a description such as my.toml.",
            autocompletion=task_names,
        ),
    ],
    position: Annotated[
        str, Option(metavar="P[,P...]", help="Names of embeddings, or all.", autocompletion=position_names)
    ] = "all",
    layers: Annotated[str, Option(metavar="LAYERS", help="Layers of the model, such as 1 or 1-2.")] = "1-2",
    train_scales: Scales = None,
    test_scales: Annotated[str, Option(metavar="SCALES", help="Such as 1-10,20,50.")] = "1-10",
    settings: Annotated[list[str] | None, Option("--set", metavar="KEY=VALUE", help="position.X; repeatable.")] = None,
    explain: Annotated[bool, Option("--explain", help="Show the strings behind each failure.")] = False,
    measured: Annotated[
        Path | None, Option(metavar="FOLDER", help="Compare finished runs with what was predicted of them.")
    ] = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Say before training whether an embedding will carry a task to larger scales, and why."""
    from ldhd.experiments.predictions import predictions
    from ldhd.report.theory import compare_measured, show_predictions

    found = predictions(
        [task],
        position.split(","),
        layers=parse_range(layers, "--layers"),
        train_scales=None if train_scales is None else parse_range(train_scales, "--train-scales"),
        test_scales=parse_range(test_scales, "--test-scales"),
        settings=parse_settings(settings or []),
    )
    comparisons = None if measured is None else compare_measured(measured, task, trust)
    print_result(*show_predictions(list(found), comparisons, explain), as_json)


def register(
    sweep: Annotated[Path, Argument(metavar="SWEEP", help="The sweep that will test the predictions.")],
    file: Annotated[Path, output_path(metavar="FILE", help="Where predictions are added.")] = Path(
        "results/predictions.json"
    ),
    measured: Annotated[
        Path, Option(metavar="FOLDER", help="Finished runs from which a baseline learns; none if it does not exist.")
    ] = Path("results"),
    as_json: Json = False,
) -> None:
    """Write down predictions for the runs of a sweep, and those of two baselines, to be committed before these runs."""
    from ldhd.experiments.groups import setting
    from ldhd.experiments.registering import new_entries, registered_entries, write_entries
    from ldhd.experiments.studies import read_runs
    from ldhd.report.progress import watch
    from ldhd.report.theory import show_registered
    from ldhd.sweep.file import read_sweep

    configs, known = read_sweep(sweep), registered_entries(file)
    runs = list(read_runs(measured)) if measured.is_dir() else []
    found = list(watch(new_entries(configs, known, runs), len({setting(config) for config in configs}), "predictions"))
    added = [entry for entry in found if entry is not None]
    write_entries(file, [*known, *added])
    print_result(*show_registered(added, len(found) - len(added), file), as_json)


def design(
    task: Annotated[
        str,
        Argument(
            metavar="TASK",
            help="Name of a task, module:Class, or a description such as my.toml.",
            autocompletion=task_names,
        ),
    ],
    layers: Annotated[int, Option(min=1, max=1000, help="Layers of the model.")] = 1,
    train_scales: Scales = None,
    test_scales: Annotated[str, Option(metavar="SCALES", help="Such as 1-10.")] = "1-10",
    as_json: Json = False,
) -> None:
    """What an embedding for this task must be able to tell apart, and which embeddings do."""
    from ldhd.experiments.predictions import designed
    from ldhd.report.theory import show_design

    scales = None if train_scales is None else parse_range(train_scales, "--train-scales")
    print_result(*show_design(*designed(task, scales, parse_range(test_scales, "--test-scales"), layers)), as_json)


def verify(
    claims: Annotated[list[str] | None, Argument(metavar="CLAIM", help="Such as theorem-2; all by default.")] = None,
    figures: Annotated[
        Path | None, output_path(metavar="FOLDER", help="Also draw the pictures of the theory here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The ledger of the paper's claims, computed: what holds, what holds corrected, what fails."""
    from ldhd.report.figures.theory import draw_theory
    from ldhd.report.progress import watch
    from ldhd.report.theory import show_ledger
    from ldhd.theory.ledger import CLAIMS, verify

    found = verify(claims or ())
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    entries = list(watch(found, len(claims or CLAIMS), "claims"))
    print_result(*show_ledger(entries, draw_theory(figures) if figures is not None else []), as_json)


def tasks(
    task: Annotated[
        str | None,
        Argument(metavar="TASK", help="A task or module:Class; all by default.", autocompletion=task_names),
    ] = None,
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
        Argument(metavar="NAME", help="all, wht, attention, length, step, peers, decode, start, seeds or sweep."),
    ] = None,
    threads: Annotated[
        int | None, Option(min=1, max=1024, help="Threads to compute with; all cores by default.")
    ] = None,
    out: Annotated[
        Path | None, output_path(metavar="FOLDER", help="Also write NAME.json here, and draw cost against length.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Benchmarks: ratios to the opponents, each measured in one run. Minutes; leave the machine idle."""
    from ldhd.bench import BENCHMARKS
    from ldhd.process import prepare
    from ldhd.report.bench import show_benchmarks
    from ldhd.report.progress import watch

    for name in names or []:
        lookup_only(name, {"all": None, **BENCHMARKS}, "benchmark")
    chosen = [name for name in BENCHMARKS if not names or name in names or "all" in names]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    prepare(threads or os.cpu_count() or 1)
    measured = watch(((name, BENCHMARKS[name]()) for name in chosen), len(chosen), "benchmarks")
    print_result(*show_benchmarks(measured, out), as_json)

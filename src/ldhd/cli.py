"""The command line: it reads arguments, calls the library and prints."""

import os
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ldhd.messages import Interrupted, warn_in_one_line

app = typer.Typer(
    name="ldhd",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="A laboratory for length generalization: train on short instances, test on long ones.",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Out = Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the runs.")]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a finished run, such as runs/1a2b3c.")]
Scales = Annotated[str | None, typer.Option(metavar="SCALES", help="Such as 1-10,20,50.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="position.X, model.X, train.X or test_instances; repeatable."),
]
Device = Annotated[str, typer.Option(metavar="DEVICE", help="cpu, cuda, cuda:INDEX or mps.")]
Workers = Annotated[int | None, typer.Option(min=1, max=1024, help="Runs at once; one for each core by default.")]


@app.command()
def run(
    context: typer.Context,
    task: Annotated[str, typer.Argument(metavar="TASK", help="Name of a task (see `ldhd tasks`) or module:Class.")],
    position: Annotated[str, typer.Option(metavar="P[,P...]", help="Names of embeddings (see `ldhd positions`).")],
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="small, small-2, base or gpt2; the task's own by default.")
    ] = None,
    train_scales: Scales = None,
    test_scales: Scales = None,
    steps: Annotated[int | None, typer.Option(min=1, max=10**12, help="Training steps.")] = None,
    seeds: Annotated[str, typer.Option(metavar="SEEDS", help="Such as 0 or 0-4.")] = "0",
    settings: Settings = None,
    out: Out = Path("runs"),
    device: Device = "cpu",
    workers: Workers = None,
    threads: Annotated[int, typer.Option(min=1, max=1024, help="Threads of each run.")] = 1,
    as_json: Json = False,
) -> None:
    """Train on small scales, test on large ones: a run for each embedding and seed, a table and a figure.

    Under torchrun (`torchrun --nproc-per-node=2 -m ldhd run ...`) all processes train each model together.
    """
    from ldhd.experiments.config import make_configs
    from ldhd.parsing import parse_range, parse_settings
    from ldhd.report.output import print_runs
    from ldhd.report.progress import ProgressBars
    from ldhd.sweep import run_all
    from ldhd.sweep.torchrun import run_under_torchrun
    from ldhd.train.parallel import asked_for

    configs = make_configs(
        task,
        position.split(","),
        model=model,
        train_scales=None if train_scales is None else parse_range(train_scales, "--train-scales"),
        test_scales=None if test_scales is None else parse_range(test_scales, "--test-scales"),
        steps=steps,
        seeds=parse_range(seeds, "--seeds", least=0),
        settings=parse_settings(settings or []),
        device=device,
    )
    if asked_for() > 1:
        with ProgressBars() as bars:
            records = run_under_torchrun(configs, out, threads=threads, command=context.obj, on_progress=bars)
        if not records:
            return
    else:
        with ProgressBars() as bars:
            records = run_all(configs, out, workers=workers, threads=threads, command=context.obj, on_progress=bars)
    print_runs(records, out, as_json)


@app.command()
def sweep(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="Tasks, positions, seeds and options of the runs.")],
    on: Annotated[str, typer.Option(metavar="WHERE", help="Where to run: local or ray.")] = "local",
    out: Out = Path("runs"),
    workers: Workers = None,
    address: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Ray: the cluster, such as auto or ray://head:10001.")
    ] = None,
    cpus: Annotated[float, typer.Option(min=0.01, max=1024, help="Ray: processors for each run.")] = 1,
    gpus: Annotated[float, typer.Option(min=0, max=1024, help="Ray: GPUs for each run.")] = 0,
    threads: Annotated[int, typer.Option(min=1, max=1024, help="Threads of each run.")] = 1,
    retries: Annotated[int, typer.Option(min=0, max=1000, help="How often a failed run is tried again.")] = 2,
    as_json: Json = False,
) -> None:
    """Do all runs of a file: the finished are skipped, the interrupted go on, the failed are tried again.

    Given twice at once, on the same folder, the two share the runs. Exit code 1 if a run failed for good.
    """
    from ldhd.names import lookup_only
    from ldhd.recall import recall
    from ldhd.report.swept import summary_json, summary_view
    from ldhd.report.terminal import print_view

    lookup_only(on, {"local": None, "ray": None}, "place to run")
    question = f"sweep in {out.absolute()}: ".encode() + (file.read_bytes() if file.is_file() else b"")
    known = recall(question)
    if known is not None:
        print_view(summary_json(known, out) if as_json else summary_view(known))
        return

    from ldhd.report.sweep import SweepView, sweep_summary
    from ldhd.sweep import in_processes, on_ray, run_sweep
    from ldhd.sweep.file import read_sweep
    from ldhd.sweep.runs import remember_sweep

    executor = on_ray(address, cpus, gpus) if on == "ray" else in_processes(workers or os.cpu_count() or 1)
    configs = read_sweep(file)
    with SweepView(len(configs)) as view:
        swept = run_sweep(
            configs,
            out,
            executor,
            retries=retries,
            threads=threads,
            command=context.obj,
            on_progress=view.on_progress,
            on_settled=view.on_settled,
        )
    summary = sweep_summary(configs, swept.records, swept.failures)
    failures = [asdict(failure) for failure in swept.failures]
    print_view(summary_json(summary, out, failures) if as_json else summary_view(summary))
    if swept.failures:
        raise typer.Exit(1)
    remember_sweep(question, configs, out, summary)


@app.command()
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
    from ldhd.experiments.record import finished
    from ldhd.parsing import parse_range
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
    given = None if seeds is None else parse_range(seeds, "--seeds", least=0)
    configs = {name: PRESETS[name].configs(size, given, steps, device) for name in asked}
    every = {config.hash: config for found in configs.values() for config in found}
    out = out or Path("reproduced") / size
    if drawn and every:
        count, every = len(every), {name: config for name, config in every.items() if finished(out / name, config)}
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


@app.command()
def extend(
    context: typer.Context,
    folders: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders of finished runs, such as runs/1a2b3c.")
    ],
    steps: Annotated[int, typer.Option(min=1, max=10**12, help="Training steps in all.")],
    schedule_steps: Annotated[
        int | None, typer.Option(min=1, max=10**12, help="Length of the cosine; the steps in all by default.")
    ] = None,
    workers: Workers = None,
    threads: Annotated[int, typer.Option(min=1, max=1024, help="Threads of each run.")] = 1,
    as_json: Json = False,
) -> None:
    """Train finished runs on, from their last weights and optimizer state: new runs beside them that say so."""
    from ldhd.experiments.extension import extended
    from ldhd.report.output import print_runs
    from ldhd.report.progress import ProgressBars
    from ldhd.sweep import run_all

    configs = [extended(folder, steps, schedule_steps) for folder in folders]
    parents = [Path(os.path.normpath(folder.absolute())).parent for folder in folders]
    out = folders[0].parent if folders[0].name not in ("", "..") else parents[0]
    if len(set(parents)) > 1:
        raise ValueError("the runs to extend lie in several folders; extend those of one folder at a time")
    with ProgressBars() as bars:
        records = run_all(configs, out, workers=workers, threads=threads, command=context.obj, on_progress=bars)
    print_runs(records, out, as_json)


@app.command()
def evaluate(
    folder: Run,
    test_scales: Annotated[str, typer.Option(metavar="SCALES", help="Such as 1-10,20,50.")],
    instances: Annotated[
        int | None, typer.Option(min=1, max=1_000_000, help="Instances a scale; as in the run by default.")
    ] = None,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Test a finished run at new scales, without training."""
    from ldhd.experiments import evaluate_run
    from ldhd.parsing import parse_range
    from ldhd.report.output import print_results

    config, results = evaluate_run(folder, parse_range(test_scales, "--test-scales"), instances, device)
    print_results(config, results, as_json)


@app.command()
def show(
    folder: Run,
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="Such as b123=")],
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """One instance: what the model writes, its first error, its anchors, where it looks for what it needs."""
    from ldhd.evaluate import trace
    from ldhd.experiments import load_run
    from ldhd.report.instance import trace_json, trace_view
    from ldhd.report.terminal import print_view

    _, task, model = load_run(folder, device)
    traced = trace(model, task.read(prompt))
    print_view(trace_json(traced, task) if as_json else trace_view(traced, task))


@app.command()
def tasks(
    task: Annotated[
        str | None, typer.Argument(metavar="[TASK]", help="A task or module:Class; all by default.")
    ] = None,
    scale: Annotated[int, typer.Option(min=1, max=100_000, help="Scale of the examples.")] = 3,
    count: Annotated[int, typer.Option(min=1, max=100_000, help="How many examples of one task.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the examples.")] = 0,
    as_json: Json = False,
) -> None:
    """The tasks, with worked examples."""
    from ldhd.report import listing
    from ldhd.report.terminal import print_view

    if task is None:
        print_view({"tasks": listing.tasks_json(scale, seed)} if as_json else listing.tasks_table(scale, seed))
    else:
        examples = listing.task_examples(task, scale, count, seed)
        print_view({"task": task, "examples": examples} if as_json else listing.examples_table(task, examples))


@app.command()
def positions(as_json: Json = False) -> None:
    """The position embeddings and their options."""
    from ldhd.report import listing
    from ldhd.report.terminal import print_view

    print_view({"positions": listing.positions_json()} if as_json else listing.positions_table())


@app.command()
def predict(
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="Name of a task, all, module:Class, or a description such as my.toml.")
    ],
    position: Annotated[str, typer.Option(metavar="P[,P...]", help="Names of embeddings, or all.")] = "all",
    layers: Annotated[str, typer.Option(metavar="LAYERS", help="Layers of the model, such as 1 or 1-2.")] = "1-2",
    train_scales: Scales = None,
    test_scales: Annotated[str, typer.Option(metavar="SCALES", help="Such as 1-10,20,50.")] = "1-10",
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="position.X; repeatable.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the strings behind each failure.")] = False,
    measured: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Compare finished runs with what was predicted of them.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say before training whether an embedding will carry a task to larger scales, and why."""
    from ldhd.experiments.predictions import predictions
    from ldhd.experiments.registered import Register, compare, finished_runs
    from ldhd.parsing import parse_range, parse_settings
    from ldhd.report import prediction
    from ldhd.report.terminal import print_view

    found = list(
        predictions(
            [task],
            position.split(","),
            layers=parse_range(layers, "--layers"),
            train_scales=None if train_scales is None else parse_range(train_scales, "--train-scales"),
            test_scales=parse_range(test_scales, "--test-scales"),
            settings=parse_settings(settings or []),
        )
    )
    rows = None
    if measured is not None:
        runs = [run for run in finished_runs(measured) if task in ("all", run[0].task)]
        rows = compare(runs, Register(prediction.repository()))
    if as_json:
        print_view(prediction.predictions_json(found, rows))
        return
    for view in prediction.predictions_views(found, explain):
        print_view(view)
    if rows is not None:
        print_view(prediction.comparison_table(rows))


@app.command()
def register(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write them.")] = Path(
        "results/predictions.json"
    ),
) -> None:
    """Write down the predictions of every task with every embedding, to be committed before the runs that test them."""
    from ldhd.experiments.predictions import registered_count, registered_matrix
    from ldhd.report.prediction import write_register
    from ldhd.report.progress import watch

    file.parent.mkdir(parents=True, exist_ok=True)  # before the minutes that it takes
    named = list(watch(registered_matrix(), registered_count(), "predictions"))
    write_register(file, named)
    print(f"{len(named)} predictions: {file}")


@app.command()
def design(
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="Name of a task, module:Class, or a description such as my.toml.")
    ],
    layers: Annotated[int, typer.Option(min=1, max=1000, help="Layers of the model.")] = 1,
    train_scales: Scales = None,
    test_scales: Annotated[str, typer.Option(metavar="SCALES", help="Such as 1-10.")] = "1-10",
    as_json: Json = False,
) -> None:
    """What an embedding for this task must be able to tell apart, and which embeddings do."""
    from ldhd.experiments.predictions import designed
    from ldhd.parsing import parse_range
    from ldhd.report import prediction
    from ldhd.report.terminal import print_view

    scales = None if train_scales is None else parse_range(train_scales, "--train-scales")
    found, embeddings = designed(task, scales, parse_range(test_scales, "--test-scales"), layers)
    for view in [prediction.design_json(found, embeddings)] if as_json else prediction.design_views(found, embeddings):
        print_view(view)


@app.command()
def verify(
    claims: Annotated[
        list[str] | None, typer.Argument(metavar="[CLAIM]...", help="Such as theorem-2; all by default.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also draw the pictures of the theory here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The ledger of the paper's claims, computed: what holds, what holds corrected, what fails."""
    from ldhd.report.ledger import ledger_json, ledger_table
    from ldhd.report.progress import watch
    from ldhd.report.terminal import print_view
    from ldhd.report.theory_figures import draw_theory
    from ldhd.theory.ledger import CLAIMS, verify

    found = verify(claims or ())
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    entries = list(watch(found, len(claims or CLAIMS), "claims"))
    drawn = draw_theory(figures) if figures is not None else []
    print_view(ledger_json(entries) if as_json else ledger_table(entries))
    for path in [] if as_json else drawn:
        print(f"figure: {path}")


@app.command()
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
    from ldhd.report.bench import bench_json, bench_tables, plot_growth
    from ldhd.report.progress import watch
    from ldhd.report.terminal import print_view

    chosen = [lookup_only(name, BENCHMARKS, "benchmark") for name in names or BENCHMARKS]
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    prepare(threads or os.cpu_count() or 1)
    measured = watch((run_benchmark() for run_benchmark in chosen), len(chosen), "benchmarks")
    cases = [case for found in measured for case in found]
    drawn = plot_growth(cases, figures) if figures is not None else []
    for view in [bench_json(cases)] if as_json else bench_tables(cases):
        print_view(view)
    for path in [] if as_json else drawn:
        print(f"figure: {path}")


@app.command()
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
    from ldhd.report.output import print_report
    from ldhd.report.terminal import print_view

    written = write_report(
        runs,
        out,
        ledger=read_given(ledger, "claims") if ledger else None,
        predictions=read_given(predictions, "predictions") if predictions else None,
        benchmarks=[read_given(path, "cases") for path in bench or []],
        title=title,
        figures=figures,
    )
    if as_json:
        print_view(written.document())
    else:
        print_report(written)


@app.command()
def export(
    folder: Run,
    out: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write; it must not exist.")],
    lm_eval: Annotated[
        bool, typer.Option("--lm-eval", help="Also write the test instances as tasks of lm-evaluation-harness.")
    ] = False,
    test_scales: Scales = None,
    instances: Annotated[
        int | None, typer.Option(min=1, max=1_000_000, help="Instances a scale; as in the run by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a finished run as a folder that Hugging Face transformers loads, with its card and its own code.

    Its card shows the run's results, or those at the scales and on the number of instances asked for.
    """
    from ldhd.hf import export_run
    from ldhd.parsing import parse_range
    from ldhd.report.output import print_export

    scales = None if test_scales is None else parse_range(test_scales, "--test-scales")
    written = export_run(folder, out, test_scales=scales, instances=instances, lm_eval=lm_eval)
    print_export(written.document(), as_json)


@app.command()
def demo(
    context: typer.Context,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of everything the demo writes.")] = Path("demo"),
    as_json: Json = False,
) -> None:
    """RPE-Square against RPE on copy, trained on scales 1-5 and tested to 10, and the ledger: ends with a report."""
    from ldhd.evaluate import trace
    from ldhd.experiments import load_run
    from ldhd.experiments.config import make_configs
    from ldhd.report.html import write_report
    from ldhd.report.instance import trace_view
    from ldhd.report.ledger import ledger_counts, ledger_json
    from ldhd.report.output import print_runs
    from ldhd.report.progress import ProgressBars, watch
    from ldhd.report.terminal import print_view
    from ldhd.sweep import run_all
    from ldhd.theory.ledger import CLAIMS, verify

    if not as_json:
        print("Training RPE and RPE-Square on copy, scales 1-5, then checking the paper's claims; minutes.", flush=True)
    with ProgressBars() as bars:
        records = run_all(make_configs("copy", ["rpe", "rpe-square"]), out, command=context.obj, on_progress=bars)
    ledger = list(watch(verify(), len(CLAIMS), "claims"))
    for record in [] if as_json else records:
        _, task, model = load_run(out / record.hash)
        print(f"\n{record.position} on a string of scale 10, twice as long as any it was trained on:")
        print_view(trace_view(trace(model, task.read("b3141592653=")), task))
    if not as_json:
        print(f"\nof {len(ledger)} claims of the paper {ledger_counts(ledger)} (`ldhd verify` explains each)\n")
    report = write_report([out], out / "report.html", ledger=ledger_json(ledger), title="Copy, trained on scales 1-5")
    print_runs(records, out, as_json, report=report.path)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; bad input is one line on standard error and exit code 2."""
    warn_in_one_line()
    arguments = sys.argv[1:] if arguments is None else arguments
    command = shlex.join(["ldhd", *arguments])
    try:
        code = app(args=arguments or ["--help"], standalone_mode=False, obj=command)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except Exception as error:
        code = _refusal(error, command)
        if code is None or os.environ.get("LDHD_DEBUG"):
            raise
    sys.exit(code if isinstance(code, int) else 0)


def _refusal(error: Exception, command: str) -> int | None:
    """Say in one line what was wrong with the input; None if the error is not the user's."""
    if isinstance(error, Interrupted):
        print(f"ldhd: {error}; the same command goes on from there: {command}", file=sys.stderr)
        return 130
    if hasattr(error, "format_message"):  # typer's own errors, whichever click it carries
        message = error.format_message()
    elif isinstance(error, (ValueError, OSError, FloatingPointError)):
        message = str(error)
    else:
        return None
    if os.environ.get("RANK", "0") == "0":  # under torchrun the first process speaks for all
        print(f"ldhd: error: {' '.join(message.split())}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()

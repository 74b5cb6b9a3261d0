"""The results of `ldhd reproduce`, whose presets are run, drawn and compared with the paper, and of `ldhd demo`."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from ldhd.bench.ratio import machine
from ldhd.experiments import Record, RunConfig
from ldhd.experiments.config import make_configs
from ldhd.experiments.groups import group_runs
from ldhd.experiments.outcomes import outcomes, preset_groups
from ldhd.experiments.predictions import predict_run, prediction_key
from ldhd.experiments.preset import SIX, Panels, Preset
from ldhd.experiments.presets import choose
from ldhd.experiments.studies import Study
from ldhd.files import write_json
from ldhd.report.figures.accuracy import accuracy_matrix
from ldhd.report.html import write_report
from ldhd.report.output import draw_runs, failure_lines, trace_run
from ldhd.report.preset_figures import preset_figures
from ldhd.report.progress import ProgressBars, SweepView, watch
from ldhd.report.render_matplotlib import save_for_print
from ldhd.report.terminal import Output, View, bounds, percent, plain_table, success_share
from ldhd.report.theory import count_verdicts, show_ledger
from ldhd.statistics import Share, mean_interval, wilson
from ldhd.sweep import in_processes, run_all, run_sweep
from ldhd.theory.ledger import CLAIMS, verify

PROMPT = "b3141592653="
"""The string of the demonstration: of scale 10, twice as long as any in training."""
COLUMNS = (
    *("task", "", "fitted", "scale", "exact match in %", "95 % interval", "succeed, 95 % interval"),
    *("factor", "verdict", "predicted", "the paper", ""),
)


def reproduce(
    names: Sequence[str],
    size: str = "quick",
    *,
    seeds: Sequence[int] | None = None,
    steps: int | None = None,
    out: Path | None = None,
    finished_only: bool = False,
    device: str = "cpu",
    workers: int | None = None,
    log: str | None = None,
    command: str = "",
) -> tuple[dict[str, Any], View, list[str]]:
    """Predict, run and draw presets; the name `all` stands for every preset of the paper.

    By default, the seeds are those of the size, results go to `reproduced/SIZE`, and there is a worker for each core.
    With `steps`, runs stop after so many steps; with `finished_only`, finished runs are drawn and nothing is trained.
    Returns the document, its view, and a line for everything that was left out or failed.
    """
    presets = choose(names)
    out = out or Path("reproduced") / size
    configs = {preset.name: preset.configs(size, seeds, steps, device) for preset in presets}
    shortened = {
        config.hash
        for preset in presets
        for config, whole in zip(configs[preset.name], preset.configs(size, seeds, None, device), strict=True)
        if config.train.steps < whole.train.steps
    }
    runs = {config.hash: config for own in configs.values() for config in own}
    if finished_only and runs:
        study, count = Study(out), len(runs)
        runs = {name: config for name, config in runs.items() if study.finished(config)}
        if not runs:
            raise ValueError(f"none of the {count} runs is finished in {out}")
    skipped = [name for name, own in configs.items() if own and not any(config.hash in runs for config in own)]
    predicted = predicted_verdicts(list(runs.values()))
    with SweepView(len(runs)) as live:
        result = run_sweep(
            list(runs.values()),
            out,
            in_processes(workers or os.cpu_count() or 1),
            command=command,
            log=log,
            on_progress=live.on_progress,
            on_completed=live.on_completed,
        )
    documents = [
        write_preset(preset, size, configs[preset.name], result.records, out, command, predicted, shortened)
        for preset in presets
        if preset.name not in skipped
    ]
    comparison = write_comparison(presets, configs, result.records, out)
    report = str(write_report([out], out / "report.html").path) if runs else None
    view = [part for document in documents for part in preset_view(document)]
    view += [f"figure of all comparisons: {path}" for path in comparison] + [f"report: {report}"] * bool(report)
    problems = [f"nothing is finished of {', '.join(skipped)}; left as it is"] if skipped else []
    failures = [asdict(failure) for failure in result.failures]
    document = {"presets": documents, "failures": failures, "report": report}
    return document, view, problems + failure_lines(result.failures)


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


def predicted_verdicts(configs: Sequence[RunConfig]) -> dict[str, str | None]:
    """Return the predictor's verdict about each run, by its hash; the predictor is asked once for each setting."""
    settings = {prediction_key(config): config for config in configs}
    asked = watch(settings.items(), len(settings), "predictions")
    verdicts = {key: predict_run(config) for key, config in asked}
    return {config.hash: verdicts[prediction_key(config)] for config in configs}


def write_preset(
    preset: Preset,
    size: str,
    configs: Sequence[RunConfig],
    records: Sequence[Record],
    out: Path,
    command: str,
    predicted: Mapping[str, str | None],
    shortened: Collection[str] = (),
) -> dict[str, Any]:
    """Draw a preset as PNG and PDF, write its document beside them, and return it with the paths of the figures.

    `predicted` and `shortened` are those of `outcomes`.
    """
    by_hash = {record.hash: record for record in records}
    found = [by_hash[config.hash] for config in configs if config.hash in by_hash]
    groups = preset_groups(preset, configs, found)
    measured = list(outcomes(preset, groups, predicted, shortened))
    figures = preset_figures(preset, groups, measured)
    paths = [path for name, figure in figures.items() for path in save_for_print(figure, out / name)]
    document = {
        "preset": preset.name,
        "size": size,
        "title": preset.title,
        "says": preset.statement,
        "assumed": preset.assumptions(size),
        "seeds": sorted({record.seed for record in found}),
        "outcomes": [asdict(outcome) for outcome in measured],
        "runs": [record.hash for record in found],
        "seconds": round(sum(record.seconds for record in found), 1),
        "command": command,
        "machine": machine(),
    }
    write_json(out / f"{preset.file_name}.json", document)
    return {**document, "figures": [str(path) for path in paths]}


def write_comparison(
    presets: Sequence[Preset], configs: Mapping[str, Sequence[RunConfig]], records: Sequence[Record], out: Path
) -> list[Path]:
    """Draw a matrix of all comparisons of six embeddings, if there are several; `configs` is by name of preset."""
    compared = [p.name for p in presets if isinstance(p.view, Panels) and p.parts[0].positions == SIX]
    own = {config.hash: config for name in compared for config in configs[name]}
    by_hash = {record.hash: record for record in records}
    found = [by_hash[name] for name in own if name in by_hash]
    if len(compared) < 2 or not found:
        return []
    return save_for_print(accuracy_matrix(group_runs(found, own)), out / "comparison")


def preset_view(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield exact match at the largest scale beside the prediction and the paper's claim."""
    lines = [f"{document['preset']}: {document['title']}", f"the paper: {document['says']}"]
    yield Text("\n".join([*lines, *(f"assumed: {assumed}" for assumed in document["assumed"])]))
    if document["outcomes"]:
        yield plain_table(None, COLUMNS, map(_row, document["outcomes"]))
    yield from (f"figure: {path}" for path in document["figures"])
    yield ""


def _row(outcome: Mapping[str, Any]) -> tuple[Any, ...]:
    exact = mean_interval(outcome["by_seed"])
    name = "" if outcome["label"] == outcome["task"] else outcome["label"]
    claim = "" if outcome["claim"] == "unspecified" else outcome["claim"]
    successes, seeds = outcome["successes"], outcome["seeds"]
    success = "" if successes is None else success_share(Share(successes, seeds, *wilson(successes, seeds)))
    measured = outcome["scale"], percent(exact.value), bounds(exact), success, f"{outcome['factor']:.3g}"
    fitted = f"{outcome['fitted']}/{outcome['seeds']}"
    agreement = {None: "", False: "not as the paper says", True: "as the paper says"}[outcome["agrees"]]
    if outcome["short"]:
        agreement = "too short to judge"
    elif outcome["verdict"] == "does not fit":
        agreement = "says nothing about length"
    words = outcome["verdict"], outcome["predicted"] or "", claim, agreement
    return outcome["task"], name, fitted, *measured, *words

"""The results of `ldhd protocol`: every entrant tuned alike, chosen on training scales, trained until it fits."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ldhd.experiments import RunConfig
from ldhd.experiments.entrants import ENTRANTS, TRIALS
from ldhd.experiments.groups import Group
from ldhd.experiments.protocol import (
    TASKS,
    Trial,
    budget_groups,
    check_names,
    choose,
    final_groups,
    next_runs,
    trial_config,
    trials,
)
from ldhd.experiments.studies import FinishedRun, read_runs
from ldhd.files import write_json
from ldhd.report.figures.budgets import budget_figure
from ldhd.report.output import failure_lines
from ldhd.report.progress import SweepView
from ldhd.report.render_matplotlib import save_for_print
from ldhd.report.terminal import View, plain_table, success_share
from ldhd.sweep import in_processes, run_sweep

TRIAL_COLUMNS = "task", "entrant", "trial", "settings", "worst training scale", "loss", "chosen"


def run_protocol(
    out: Path,
    *,
    tasks: Sequence[str] = (),
    entrants: Sequence[str] = (),
    seeds: Sequence[int] = (0, 1, 2),
    curves: Sequence[str] = (),
    shortened: int | None = None,
    finished_only: bool = False,
    workers: int | None = None,
    command: str = "",
) -> tuple[dict[str, Any], View, list[str]]:
    """Do what is not finished in `out` of the trials and the reported runs, task by task, and tabulate it.

    By default, these are all tasks and all entrants. `curves` names entrants that are trained with every budget,
    whether they fit or not. `shortened` replaces the steps of a trial, to try the protocol out. Returns the document,
    its view, and a line for each failure.
    """
    tasks, entrants = tasks or TASKS, entrants or list(ENTRANTS)
    check_names(tasks, [*entrants, *curves])
    failures: list[Any] = []

    def work(configs: Sequence[RunConfig], folder: Path) -> None:
        if configs and not finished_only:
            with SweepView(len(configs)) as live:
                ended = run_sweep(
                    configs,
                    folder,
                    in_processes(workers or os.cpu_count() or 1),
                    command=command,
                    on_progress=live.on_progress,
                    on_completed=live.on_completed,
                )
            failures.extend(ended.failures)

    tried: list[Trial] = []
    chosen: list[Trial] = []
    for task in tasks:
        work([trial_config(task, name, k, shortened) for name in entrants for k in range(TRIALS)], out / "trials")
        found = [trials(task, name, stored_runs(out / "trials"), shortened) for name in entrants]
        tried += [trial for own in found for trial in own]
        best = [trial for own in found if (trial := choose(own)) is not None]
        chosen += best
        while not finished_only and not failures:
            known = {name: run.record for name, run in stored_runs(out / "runs").items()}
            waiting = next_runs(best, seeds, known, shortened, curves)
            if not waiting:
                break
            work(waiting, out / "runs")
    return write_protocol(out, tried, chosen, seeds, shortened, failures, command)


def write_protocol(
    out: Path,
    tried: Sequence[Trial],
    chosen: Sequence[Trial],
    seeds: Sequence[int],
    shortened: int | None,
    failures: Sequence[Any],
    command: str,
) -> tuple[dict[str, Any], View, list[str]]:
    """Write protocol.json, the budget curves, and both tables in Markdown; return the document and its view."""
    runs = stored_runs(out / "runs")
    groups = final_groups(chosen, seeds, runs, shortened)
    every_budget = budget_groups(chosen, seeds, runs, shortened)
    out.mkdir(parents=True, exist_ok=True)
    figures = [
        str(path)
        for name, minutes in (("budget-steps", False), ("budget-minutes", True))
        if every_budget
        for path in save_for_print(budget_figure(every_budget, minutes), out / name)
    ]
    document = {
        "trials": [asdict(trial) for trial in tried],
        "chosen": [asdict(trial) for trial in chosen],
        "cells": [cell(group) for group in groups],
        "figures": figures,
        "failures": [asdict(failure) for failure in failures],
        "command": command,
    }
    write_json(out / "protocol.json", document)
    rows = list(trial_rows(tried, chosen))
    columns, table = comparison_rows(groups)
    (out / "trials.md").write_text(markdown(TRIAL_COLUMNS, rows), encoding="utf-8")
    (out / "comparison.md").write_text(markdown(columns, table), encoding="utf-8")
    view: list[Any] = [plain_table("trials: chosen on training scales and training loss alone", TRIAL_COLUMNS, rows)]
    if table:
        caption = (
            "extrapolation factor; seeds that succeed at the largest scale, with Wilson's 95 % interval of the share"
        )
        view.append(plain_table("the chosen settings on the reported seeds", columns, table, caption))
    view += [f"figure: {path}" for path in figures]
    return document, view, failure_lines(failures)


def stored_runs(folder: Path) -> dict[str, FinishedRun]:
    """Return the finished runs of a folder by their hash, none if it does not exist."""
    return {run.record.hash: run for run in read_runs(folder)} if folder.is_dir() else {}


def cell(group: Group) -> dict[str, Any]:
    """Return what the table shows of an entrant on a task, and every seed."""
    scale, success = group.scales[-1], group.success()
    return {
        "task": group.task,
        "entrant": group.label,
        "verdict": group.verdict(),
        "factor": group.factor(),
        "fitted": group.fitted,
        "seeds": len(group.records),
        "successes": success.successes,
        "low": success.low,
        "high": success.high,
        "scale": scale,
        "exact_by_seed": group.by_seed(scale),
        "steps_by_seed": {record.seed: record.steps for record in group.records},
    }


def trial_rows(tried: Iterable[Trial], chosen: Sequence[Trial]) -> Iterable[tuple[str, ...]]:
    """Yield a row for each trial, with what it changes."""
    for trial in tried:
        entrant = ENTRANTS[trial.entrant]
        changed = {**entrant.changes[trial.number], **entrant.options[trial.number % len(entrant.options)]}
        settings = ", ".join(f"{key.partition('.')[2]} {value}" for key, value in changed.items()) or "as they are"
        mark = "chosen" if trial in chosen else ""
        worst, loss = f"{trial.worst:.3f}", f"{trial.loss:.4f}"
        yield trial.task, trial.entrant, str(trial.number), settings, worst, loss, mark


def comparison_rows(groups: Sequence[Group]) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the columns and rows of the comparison: an entrant in each row, a task in each column."""
    tasks = list(dict.fromkeys(group.task for group in groups))
    found = {(group.label, group.task): _written(group) for group in groups}
    names = dict.fromkeys(group.label for group in groups)
    return ["entrant", *tasks], [(name, *(found.get((name, task), "") for task in tasks)) for name in names]


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [list(columns), ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _written(group: Group) -> str:
    """Return `20: 3/3 (44-100)`, or that the entrant does not fit."""
    success, n = group.success(), len(group.records)
    if not group.fits:
        return f"does not fit ({group.fitted}/{n} fit)"
    share = success_share(success)
    fitted = "" if group.fitted == n else f", {group.fitted}/{n} fit"
    return f"{group.factor():g}: {share}{fitted}"

"""The report: one HTML file that opens offline, and its figures for print, made from records alone."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from ldhd.experiments.groups import Group, group_runs
from ldhd.files import write_bytes
from ldhd.report import sections
from ldhd.report.bench import case_of, growth_figure
from ldhd.report.configurations import Configuration, badge, by_task, configurations
from ldhd.report.figures import accuracy
from ldhd.report.figures.learning_curves import learning_curve_figure, learning_curves
from ldhd.report.figures.marks import Figure
from ldhd.report.figures.strings import chosen_traces, string_figure, string_picture
from ldhd.report.look import group_title
from ldhd.report.overview import headline, overview_section
from ldhd.report.page import Page, facts
from ldhd.report.render_matplotlib import save_for_print
from ldhd.report.runs import Runs, find_runs
from ldhd.report.task_page import in_detail, task_section


@dataclass(frozen=True)
class Report:
    """A report that was written, and what it was made from."""

    path: Path
    configurations: list[Configuration]
    runs: Runs
    figures: list[Path]

    @property
    def groups(self) -> list[Group]:
        return [one.group for one in self.configurations]

    def document(self) -> dict[str, Any]:
        return {
            "report": str(self.path),
            "figures": [str(path) for path in self.figures],
            "runs": len(self.runs.finished),
            "failed": self.runs.failed,
            "unfinished": [str(folder) for folder in self.runs.unfinished],
            "problems": self.runs.problems,
            "cells": list(map(_document, self.configurations)),
        }

    def view(self) -> Iterator[str]:
        """Yield where the report and its figures are; files that could not be read were warned of."""
        runs = self.runs
        others = {"failed": len(runs.failed), "unfinished": len(runs.unfinished), "unreadable": len(runs.problems)}
        counts = [f", {count} {name}" for name, count in others.items() if count]
        yield f"report: {self.path} ({len(runs.finished)} runs in {len(self.configurations)} cells{''.join(counts)})"
        if self.figures:
            yield f"figures: {self.figures[0].parent} ({len(self.figures)} files)"


def write_report(
    runs: Sequence[Path],
    out: Path,
    *,
    ledger: Mapping[str, Any] | None = None,
    predictions: Mapping[str, Any] | None = None,
    benchmarks: Sequence[Mapping[str, Any]] = (),
    bias: Path | None = None,
    title: str = "Length generalization",
    figures: Path | None = None,
    trust: bool = False,
) -> Report:
    """Write the HTML file `out` about all runs in some folders, at any depth to three.

    `ledger`, `predictions` and each of `benchmarks` are documents that `ldhd verify`, `predict` and `bench` print with
    `--json`; `bias` is a folder that `ldhd bias --out` wrote. If a folder `figures` is given, each figure is saved
    there as PNG and PDF. A user's own task that a run names is imported only with `trust`, and only to see whether
    predictions are about equivalent settings.
    """
    if out.is_dir():
        raise ValueError(f"{out} is a folder; name the file to write, such as {out / 'report.html'}")
    above = next(folder for folder in out.absolute().parents if folder.exists())
    if not above.is_dir():
        raise ValueError(f"{out} cannot be written: {above} is no folder")
    found = find_runs(runs)
    empty = not (found.finished or found.failed or found.unfinished or found.problems)
    if empty and ledger is None and predictions is None and bias is None and not benchmarks:
        raise ValueError(f"no runs in {', '.join(map(str, runs))}: a run's folder holds config.json and record.json")
    groups = group_runs([run.record for run in found.finished], {run.record.hash: run.config for run in found.finished})
    rows = [] if predictions is None else sections.compared(predictions, found, trust)
    page, every = Page(), configurations(groups)
    detailed, whole = in_detail(every), by_task(every)
    by_hash = {group.records[0].hash: row for group, row in zip(groups, rows, strict=False) if row.predicted}
    predicted = {one.place: by_hash[one.hash] for one in detailed if one.hash in by_hash}
    shown = [overview_section(every, detailed, found)] if every else []
    for task, own in by_task(detailed).items():
        shown.append(task_section(page, own, len(whole[task]) - len(own), found, predicted))
    shown += [] if predictions is None else [sections.prediction_section(predictions, rows)]
    shown += [] if ledger is None else [sections.ledger_section(ledger)]
    shown += [] if bias is None else [sections.bias_section(page, bias)]
    shown += [sections.bench_section(page, benchmarks)] if benchmarks else []
    shown.append(sections.runs_section(every, detailed, found))
    text = page.render(title=title, headline=headline(every), facts=facts(found), sections=shown)
    for line in found.problems:
        warnings.warn(line, stacklevel=2)
    write_bytes(out, text.encode(errors="backslashreplace"))
    drawn: list[Path] = []
    if figures is not None:
        for name, figure in every_figure([one.group for one in every if one.chosen], found, benchmarks):
            drawn += [] if figure is None else save_for_print(figure, figures / name)
    return Report(out, every, found, drawn)


def every_figure(
    groups: Sequence[Group], runs: Runs, benchmarks: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, Figure | None]]:
    """Yield each figure for print with the name of its file, None where there is nothing to show."""
    if len(groups) > 1:
        yield "matrix", accuracy.accuracy_matrix(groups)
        yield "final", accuracy.final_accuracy(groups)
    for task, members in groupby(groups, lambda group: group.task):
        own, name = list(members), _file_name(task)
        yield f"{name}-accuracy", accuracy.accuracy_figure(own)
        yield f"{name}-digits", accuracy.digit_figure(own) if accuracy.scales_beyond(own[:1]) else None
        yield f"{name}-errors", accuracy.error_figure(own, accuracy.error_panel)
        yield f"{name}-carries", accuracy.error_figure(own, accuracy.carry_panel)
        for group in own:
            figure = learning_curve_figure(learning_curves(group, runs), f"{task}, {group_title(group)}")
            yield f"{name}-{_file_name(group.label)}-training", figure
        for label, trace in chosen_traces(own, runs):
            yield f"{name}-{_file_name(label)}-string", string_figure(string_picture(label, trace), f"{task}, {label}")
    yield "growth", growth_figure([case_of(case) for benchmark in benchmarks for case in benchmark["cases"]])


def _document(one: Configuration) -> dict[str, Any]:
    """The statistics of one configuration."""
    group = one.group
    return {
        "task": group.task,
        "position": group.position,
        "label": one.label,
        "name": one.title,
        "chosen": one.chosen,
        "seeds": [record.seed for record in group.records],
        "fitted": group.fitted,
        "verdict": group.verdict(),
        "badge": badge(group),
        "success": asdict(group.success()),
        "exact": {str(scale): asdict(group.interval(scale)) for scale in group.scales},
        "hashes": [record.hash for record in group.records],
    }


def _file_name(label: str) -> str:
    """Keep letters, digits and a few signs of a label; dashes stand for the rest."""
    return "-".join("".join(c if c.isalnum() or c in "-+." else " " for c in label).split())

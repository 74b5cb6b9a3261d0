"""The report: one HTML file that opens offline, made from records alone."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ldhd.experiments.groups import Group, group_runs
from ldhd.files import write_bytes
from ldhd.report import sections
from ldhd.report.figures.catalogue import every_figure
from ldhd.report.headline import facts, headline
from ldhd.report.page import Page
from ldhd.report.render_matplotlib import save_for_print
from ldhd.report.runs import Runs, find_runs


@dataclass(frozen=True)
class Report:
    """A report that was written, and what it was made from."""

    path: Path
    groups: list[Group]
    runs: Runs
    figures: list[Path]

    def document(self) -> dict[str, Any]:
        return {
            "report": str(self.path),
            "figures": [str(path) for path in self.figures],
            "runs": len(self.runs.finished),
            "failed": [f"{folder}: {reason}" for folder, reason in self.runs.failed.items()],
            "unfinished": [str(folder) for folder in self.runs.unfinished],
            "problems": self.runs.problems,
            "cells": [_document(group) for group in self.groups],
        }

    def view(self) -> Iterator[str]:
        """Yield where the report and its figures are; files that could not be read were warned of."""
        runs = self.runs
        others = {"failed": runs.failed, "unfinished": runs.unfinished, "unreadable": runs.problems}
        counts = [f", {len(found)} {name}" for name, found in others.items() if found]
        yield f"report: {self.path} ({len(runs.finished)} runs in {len(self.groups)} cells{''.join(counts)})"
        if self.figures:
            yield f"figures: {self.figures[0].parent} ({len(self.figures)} files)"


def write_report(
    runs: Sequence[Path],
    out: Path,
    *,
    ledger: Mapping[str, Any] | None = None,
    predictions: Mapping[str, Any] | None = None,
    benchmarks: Sequence[Mapping[str, Any]] = (),
    title: str = "Length generalization",
    figures: Path | None = None,
) -> Report:
    """Write the HTML file `out` about all runs in some folders, at any depth to three.

    `ledger`, `predictions` and each of `benchmarks` are documents that `ldhd verify`, `predict` and `bench` print with
    `--json`. If a folder `figures` is given, each figure is saved there as PNG and PDF.
    """
    _check_place(out)
    found = find_runs(runs)
    empty = not (found.finished or found.failed or found.unfinished or found.problems)
    if empty and ledger is None and predictions is None and not benchmarks:
        raise ValueError(f"no runs in {', '.join(map(str, runs))}: a run's folder holds config.json and record.json")
    configs = {run.record.hash: run.config for run in found.finished}
    groups = group_runs([run.record for run in found.finished], configs)
    page = _page(groups, found, ledger, predictions, benchmarks, title)
    for line in found.problems:
        warnings.warn(line, stacklevel=2)
    write_bytes(out, page.encode())
    drawn: list[Path] = []
    if figures is not None:
        for name, figure in every_figure(groups, found, benchmarks):
            drawn += [] if figure is None else save_for_print(figure, figures / name)
    return Report(out, groups, found, drawn)


def _page(
    groups: Sequence[Group],
    runs: Runs,
    ledger: Mapping[str, Any] | None,
    predictions: Mapping[str, Any] | None,
    benchmarks: Sequence[Mapping[str, Any]],
    title: str,
) -> str:
    page = Page()
    places = {(group.task, group.label): f"cell-{number}" for number, group in enumerate(groups)}
    found = [sections.matrix_section(groups)]
    for task in dict.fromkeys(group.task for group in groups):
        own = [group for group in groups if group.task == task]
        found.append(sections.task_section(page, own, places, runs))
    found += [] if predictions is None else [sections.prediction_section(predictions, runs)]
    found += [] if ledger is None else [sections.ledger_section(ledger)]
    found += [sections.bench_section(page, benchmarks)] if benchmarks else []
    found.append(sections.run_section(groups, runs))
    head = {"title": title, "headline": headline(groups), "facts": facts(runs)}
    return page.render(**head, places=places, sections=[section for section in found if section is not None])


def _check_place(out: Path) -> None:
    """ValueError if the report cannot be written there, before anything is read."""
    if out.is_dir():
        raise ValueError(f"{out} is a folder; name the file to write, such as {out / 'report.html'}")
    above = next(folder for folder in out.absolute().parents if folder.exists())
    if not above.is_dir():
        raise ValueError(f"{out} cannot be written: {above} is no folder")


def _document(group: Group) -> dict[str, Any]:
    """The statistics of one group."""
    return {
        "task": group.task,
        "position": group.position,
        "label": group.label,
        "seeds": [record.seed for record in group.records],
        "fitted": group.fitted,
        "verdict": group.verdict(),
        "success": asdict(group.success()),
        "exact": {str(scale): asdict(group.interval(scale)) for scale in group.scales},
        "hashes": [record.hash for record in group.records],
    }

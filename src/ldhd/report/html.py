"""The report: one HTML file that opens offline, made from records alone."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

import ldhd
from ldhd.files import write_bytes
from ldhd.report.look import Look, looks
from ldhd.report.markup import Page, counted, listed
from ldhd.report.matrix import matrix_section
from ldhd.report.prediction_section import prediction_section
from ldhd.report.run_list import run_list
from ldhd.report.runs import Runs, find_runs
from ldhd.report.side_sections import bench_section, ledger_section
from ldhd.report.summary import Cell, cells
from ldhd.report.task_section import task_section

TITLE = "Length generalization"
VERBS = {
    "generalises": "generalises on",
    "mixed": "is mixed on",
    "fails": "fails on",
    "not fitted": "does not fit",
    "too few seeds, generalises": "seems to generalise on",
    "too few seeds, mixed": "seems mixed on",
    "too few seeds, fails": "seems to fail on",
}
MOST_FINDINGS, MOST_TASKS = 6, 3
"""Embeddings named in the headline, and tasks up to which they are named there too."""


@dataclass(frozen=True)
class Report:
    """What was written, and what it was made from."""

    path: Path
    cells: list[Cell]
    runs: Runs
    figures: list[Path]

    def document(self) -> dict[str, Any]:
        """The statistics of each cell, as JSON."""
        return {
            "report": str(self.path),
            "figures": [str(path) for path in self.figures],
            "runs": len(self.runs.finished),
            "failed": [f"{folder}: {reason}" for folder, reason in self.runs.failed.items()],
            "unfinished": [str(folder) for folder in self.runs.unfinished],
            "problems": self.runs.problems,
            "cells": [cell_document(cell) for cell in self.cells],
        }

    def view(self) -> Iterator[str]:
        """Yield where the report and its figures are; files that could not be read were warned of."""
        counts = [f"{len(self.runs.finished)} runs in {len(self.cells)} cells"]
        counts += [f"{len(self.runs.failed)} failed"] if self.runs.failed else []
        counts += [f"{len(self.runs.unfinished)} unfinished"] if self.runs.unfinished else []
        counts += [f"{len(self.runs.problems)} unreadable"] if self.runs.problems else []
        yield f"report: {self.path} ({', '.join(counts)})"
        if self.figures:
            yield f"figures: {self.figures[0].parent} ({len(self.figures)} files)"


def write_report(
    runs: Sequence[Path],
    out: Path,
    *,
    ledger: Mapping[str, Any] | None = None,
    predictions: Mapping[str, Any] | None = None,
    benchmarks: Sequence[Mapping[str, Any]] = (),
    title: str = TITLE,
    figures: Path | None = None,
) -> Report:
    """Write the report of all runs in some folders; with `figures`, also each figure as PNG and PDF in that folder."""
    _check_place(out)
    found = find_runs(runs)
    empty = not (found.finished or found.failed or found.unfinished or found.problems)
    if empty and ledger is None and predictions is None and not benchmarks:
        raise ValueError(f"no runs in {', '.join(map(str, runs))}: a run's folder holds config.json and record.json")
    grouped = cells([run.record for run in found.finished], found.configs)
    page = Page()
    body = _body(page, grouped, found, ledger, predictions, benchmarks, title)
    footer = f"Written by ldhd {escape(ldhd.__version__)} from records alone; nothing was trained for it."
    for line in found.problems:
        warnings.warn(line, stacklevel=2)
    write_bytes(out, page.render(title, body, footer).encode())
    drawn: list[Path] = []
    if figures is not None:
        from ldhd.report.paper import draw_all

        drawn = draw_all(grouped, found, figures, benchmarks)
    return Report(out, grouped, found, drawn)


def _check_place(out: Path) -> None:
    """ValueError if the report cannot be written there, before anything is read."""
    if out.is_dir():
        raise ValueError(f"{out} is a folder; name the file to write, such as {out / 'report.html'}")
    above = next(folder for folder in out.absolute().parents if folder.exists())
    if not above.is_dir():
        raise ValueError(f"{out} cannot be written: {above} is no folder")


def cell_document(cell: Cell) -> dict[str, Any]:
    """The statistics of one cell."""
    return {
        "task": cell.task,
        "position": cell.position,
        "label": cell.label,
        "seeds": [record.seed for record in cell.records],
        "fitted": cell.fitted,
        "verdict": cell.verdict(),
        "success": asdict(cell.success()),
        "exact": {str(scale): asdict(cell.interval(scale)) for scale in cell.scales},
        "hashes": [record.hash for record in cell.records],
    }


def _body(
    page: Page,
    grouped: Sequence[Cell],
    found: Runs,
    ledger: Mapping[str, Any] | None,
    predictions: Mapping[str, Any] | None,
    benchmarks: Sequence[Mapping[str, Any]],
    title: str,
) -> str:
    places = {(cell.task, cell.label): f"cell-{number}" for number, cell in enumerate(grouped)}
    tasks: dict[str, list[tuple[Cell, Look]]] = {}
    for cell, look in zip(grouped, looks(grouped), strict=True):
        tasks.setdefault(cell.task, []).append((cell, look))
    sections = {"matrix": ("overview", matrix_section(grouped, places))}
    for task, rows in tasks.items():
        own = {cell.label: places[task, cell.label] for cell, _ in rows}
        of_task, styles = [cell for cell, _ in rows], [look for _, look in rows]
        sections[f"task-{task}"] = (task, task_section(page, of_task, styles, own, found))
    if predictions is not None:
        runs = [(run.config, run.record) for run in found.finished]
        sections["predictions"] = (
            "predictions",
            prediction_section(predictions, runs),
        )
    if ledger is not None:
        sections["ledger"] = ("claims of the paper", ledger_section(ledger))
    if benchmarks:
        sections["bench"] = ("benchmarks", bench_section(page, benchmarks))
    sections["runs"] = ("runs", run_list(grouped, found, places))
    links = "".join(f'<a href="#{escape(key)}">{escape(name)}</a>' for key, (name, text) in sections.items() if text)
    return _header(grouped, found, title, links) + "".join(text for _, text in sections.values())


def _header(grouped: Sequence[Cell], found: Runs, title: str, links: str) -> str:
    facts = [
        (len(found.finished), "runs", ""),
        (len({cell.task for cell in grouped}), "tasks", ""),
        (len({cell.position for cell in grouped}), "embeddings", ""),
        (len({record.seed for cell in grouped for record in cell.records}), "seeds", ""),
        (sum(not record.fitted for cell in grouped for record in cell.records), "not fitted", "alarm"),
        (len(found.failed), "failed", "alarm"),
        (len(found.unfinished), "unfinished", ""),
        (len(found.problems), "unreadable", "alarm"),
    ]
    shown = "".join(
        f'<li class="{tone}"><b>{count}</b>{name.removesuffix("s") if count == 1 else name}</li>'
        for count, name, tone in facts
        if count or name == "runs"
    )
    return (
        f'<header><h1>{escape(title)}</h1><p class="finding">{_finding(grouped)}</p><ul class="facts">{shown}</ul>'
        f"<nav>{links}</nav></header>"
    )


def _finding(grouped: Sequence[Cell]) -> str:
    """The headline: on which tasks each embedding generalises, and on which it does not."""
    if not grouped:
        return "No finished runs."
    found: dict[str, dict[str, list[str]]] = {}
    for cell in grouped:
        tasks = found.setdefault(cell.position, {}).setdefault(_verdict(cell), [])
        if cell.task not in tasks:
            tasks.append(cell.task)
    if len({cell.task for cell in grouped}) > MOST_TASKS:
        return _counts(found)
    ranked = sorted(found, key=lambda position: -len(_generalising(found[position])))
    sentences = [f"<b>{escape(position)}</b> {_by_verdict(found[position])}" for position in ranked[:MOST_FINDINGS]]
    rest = len(ranked) - MOST_FINDINGS
    more = f"; {counted(rest, 'other embedding')} below" if rest > 0 else ""
    return "; ".join(sentences) + more + "."


def _verdict(cell: Cell) -> str:
    """The verdict, or with too few seeds what it would be."""
    verdict = cell.verdict()
    return f"{verdict}, {cell.tendency()}" if verdict == "too few seeds" else verdict


def _by_verdict(found: Mapping[str, Sequence[str]]) -> str:
    """`generalises on copy and parity and fails on addition`, from verdict -> tasks."""
    return listed(
        [
            f"{verb} {listed([escape(task) for task in found[verdict]])}"
            for verdict, verb in VERBS.items()
            if verdict in found
        ]
    )


def _counts(found: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """`Of 8 tasks, a generalises on 7, b on 1, c and d on none`, from position -> verdict -> tasks."""
    tasks = {task for verdicts in found.values() for named in verdicts.values() for task in named}
    by_count: dict[int, list[str]] = {}
    for position, verdicts in found.items():
        asked = {task for named in verdicts.values() for task in named}
        limited = "" if asked == tasks else f" (tried on {len(asked)})"
        by_count.setdefault(len(_generalising(verdicts)), []).append(f"<b>{escape(position)}</b>{limited}")
    ranked = sorted(by_count, reverse=True)
    parts = [f"{listed(by_count[count])} on {count or 'none'}" for count in ranked]
    verb = "generalises" if len(by_count[ranked[0]]) == 1 else "generalise"
    parts[0] = f"{listed(by_count[ranked[0]])} {verb} on {ranked[0] or 'none'}"
    few = any("too few seeds" in verdict for verdicts in found.values() for verdict in verdicts)
    return f"Of {len(tasks)} tasks, {', '.join(parts)}{', counting one seed or two where there are no more' * few}."


def _generalising(verdicts: Mapping[str, Sequence[str]]) -> list[str]:
    """Tasks it generalises on, or seems to."""
    return [task for verdict, tasks in verdicts.items() if verdict.endswith("generalises") for task in tasks]

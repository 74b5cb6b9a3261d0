"""The sections of the report that are not about one task: each function prepares what its template shows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ldhd.bias.cells import Row, read_cells
from ldhd.bias.task_cells import read_task_cells
from ldhd.bias.task_summary import groups
from ldhd.experiments.registered import Comparison, Register, compare
from ldhd.experiments.scoring import count
from ldhd.report.bench import MEANINGS, case_of, growth_figure
from ldhd.report.configurations import Configuration, badge
from ldhd.report.figures.bias import bias_map
from ldhd.report.figures.bias_task import figures as task_figures
from ldhd.report.figures.marks import Figure
from ldhd.report.page import Page
from ldhd.report.runs import Runs
from ldhd.report.terminal import percent
from ldhd.report.theory import plural, repository

MOST_LINES = 20_000
"""Configurations that have a line each; of more, only the verdicts are counted."""
MOST_PREDICTED = 1000
"""Comparisons with predictions that are listed."""
LONGEST = 160
"""Characters of the settings in a line."""
SAMPLES = {"in-sample": "as the paper reports", "out-of-sample": "on what the paper does not report"}

Section = dict[str, Any]


def runs_section(found: Sequence[Configuration], detailed: Sequence[Configuration], runs: Runs) -> Section:
    """A line for each configuration, to be searched, and what failed, did not end or could not be read."""
    places = {one.place for one in detailed}
    lines = []
    for one in found[:MOST_LINES]:
        group, scale = one.group, one.group.scales[-1]
        settings = ", ".join(one.differs)
        short = settings if len(settings) <= LONGEST else f"{settings[:LONGEST]}…"
        place = one.place if one.place in places else ""
        seeds = f"{group.fitted}/{len(group.records)}"
        lines.append([group.task, one.title, short, seeds, scale, percent(group.mean(scale)), badge(group), place])
    left = Counter(badge(one.group) for one in found[MOST_LINES:])
    return _section("runs", "all runs", lines=lines, left=left, detailed=len(detailed), runs=runs)


def compared(predictions: Mapping[str, Any], runs: Runs, trust: bool = False) -> list[Comparison]:
    """Compare every group of runs, in their order, with its prediction."""
    register = Register(repository(), {None: list(predictions["predictions"])}, trusted=trust)
    return compare([(run.config, run.record) for run in runs.finished], register)


def prediction_section(predictions: Mapping[str, Any], rows: Sequence[Comparison]) -> Section:
    """A row for each predicted setting that was measured; predictions that were not measured are only counted."""
    return _section(
        "predictions",
        "predictions",
        counts=count(rows),
        meanings=SAMPLES,
        measured=len(rows),
        entries=len(predictions["predictions"]),
        known=sum(row.predicted is not None for row in rows),
        rows=[row for row in rows if row.predicted is not None][:MOST_PREDICTED],
    )


def ledger_section(ledger: Mapping[str, Any]) -> Section:
    """The paper's claims as `ldhd verify --json` printed them, to be filtered by verdict."""
    verdicts = [claim["verdict"] for claim in ledger["claims"]]
    counts = {verdict: verdicts.count(verdict) for verdict in dict.fromkeys(verdicts)}
    texts = {verdict: f"{number} {plural(verdict, number)}" for verdict, number in counts.items()}
    claims = [{"correction": None, "evidence": None, **claim} for claim in ledger["claims"]]
    return _section("ledger", "claims of the paper", claims=claims, counts=texts)


def bias_section(page: Page, folder: Path) -> Section:
    """The map of models and bases, of the cells that `ldhd bias` kept in a folder, and the figure of `ldhd bias-task`.

    On the page the pointer shows the numbers of the map.
    """
    tasks = read_task_cells(folder)
    cells = read_cells(folder) if not tasks or (folder / "cells.jsonl").exists() else []
    drawn = task_figures(groups(tasks)).get("tasks")
    return _section(
        "bias",
        "inductive bias",
        cells=len(cells),
        map=page.add(_shown_map(cells), 420) if cells else None,
        task_cells=len(tasks),
        tasks=page.add(drawn, 360 * -(-len(drawn.panels) // drawn.columns)) if drawn else None,
    )


def _shown_map(cells: Sequence[Row]) -> Figure:
    """The map without its texts, which the pointer shows."""
    panels = [replace(panel, marks=panel.marks[:1]) for panel in bias_map(cells).panels if panel is not None]
    return Figure(panels, (15.0, 5.0), columns=2)


def bench_section(page: Page, benchmarks: Sequence[Mapping[str, Any]]) -> Section:
    """The ratios that `ldhd bench --json` printed, each with its range over repetitions."""
    measures: dict[str, list[Any]] = {}
    for case in [case_of(row) for benchmark in benchmarks for row in benchmark["cases"]]:
        measures.setdefault(case.measure, []).append(case)
    growth = growth_figure([case for cases in measures.values() for case in cases])
    machines = {", ".join(f"{key} {value}" for key, value in (b.get("machine") or {}).items()) for b in benchmarks}
    return _section(
        "bench",
        "benchmarks",
        machines=sorted(machines),
        growth=None if growth is None else page.add(growth, 430),
        measures=measures,
        largest={name: max(max(c.spread[1], c.ratio, 1.0) for c in cases) for name, cases in measures.items()},
        meanings=MEANINGS,
    )


def _section(name: str, link: str, **shown: Any) -> Section:
    """A section, its link in the navigation, and what the template of its name shows."""
    return {"id": name, "link": link, "template": f"{name}.html", **shown}

"""The sections of the report: each function prepares what the template of its section shows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby, product
from typing import Any

from ldhd.bias.cells import Row
from ldhd.experiments.groups import Group
from ldhd.experiments.registered import Register, compare
from ldhd.experiments.scoring import count
from ldhd.parsing import evenly, format_range
from ldhd.report.bench import MEANINGS, case_of, growth_figure
from ldhd.report.figures import accuracy
from ldhd.report.figures.bias import bias_map
from ldhd.report.figures.learning_curves import explanation, learning_curve_figure, learning_curves
from ldhd.report.figures.marks import Band, Figure, HeatMap, Line, Panel, Span
from ldhd.report.figures.strings import chosen_traces, string_picture
from ldhd.report.look import looks
from ldhd.report.page import Page
from ldhd.report.runs import Runs
from ldhd.report.theory import plural, repository
from ldhd.statistics import Paired, paired

MOST_SCALES = 12
"""Scales to choose from in a figure of one scale at a time."""
MOST_CELLS = 200
"""Groups that the page shows in detail; of more, some of each task are chosen evenly, whatever their results."""
MOST_LINES = 20_000
"""Further groups that have a line each; of more, only the verdicts are counted."""
MOST_PREDICTED = 1000
"""Comparisons with predictions that are listed."""
MOST_PAIRED = 24
"""Groups of one task of which every two are compared; of more, each is compared with the best alone."""
MOST_NUMBERS = 60_000
"""Weights of one run beyond which its picture would make the page heavy."""
WIDTH, HEIGHT, MARGIN = 122.0, 50.0, 5.0
"""Size of a small curve."""
SAMPLES = {"in-sample": "as the paper reports", "out-of-sample": "on what the paper does not report"}

Section = dict[str, Any]
Places = Mapping[tuple[str, str], str]
"""Task and label of a group -> its element in the list of runs."""


def in_detail(groups: Sequence[Group]) -> list[Group]:
    """Return the groups that the page shows in detail: all, or at most `MOST_CELLS`, evenly from each task."""
    by_task = {task: list(own) for task, own in groupby(groups, lambda group: group.task)}
    if len(groups) <= MOST_CELLS:
        return list(groups)
    shown = evenly(list(by_task), MOST_CELLS)
    return [group for task in shown for group in evenly(by_task[task], max(2, MOST_CELLS // len(shown)))]


def rest_section(groups: Sequence[Group], shown: Sequence[Group]) -> Section | None:
    """A line for each group that the page does not show in detail; None if there is none."""
    detailed = set(map(id, shown))
    rest = [group for group in groups if id(group) not in detailed]
    verdicts = Counter(group.verdict() for group in rest)
    return (
        _section(
            "rest", "further cells", shown=len(shown), counts=verdicts, rows=rest[:MOST_LINES], left=rest[MOST_LINES:]
        )
        if rest
        else None
    )


def matrix_section(groups: Sequence[Group]) -> Section | None:
    """Tasks by embeddings, a small curve for each group; None if there is little to compare."""
    tasks = list(dict.fromkeys(group.task for group in groups))
    positions = list(dict.fromkeys(group.position for group in groups))
    if len(groups) < 2 or (len(tasks) < 2 and len(positions) < 4):
        return None
    found: dict[tuple[str, str], list[tuple[Group, Section]]] = {}
    for group in groups:
        curve = small_curve(accuracy.accuracy_panel([group], looks([group])))
        found.setdefault((group.task, group.position), []).append((group, curve))
    rows = {task: [found.get((task, position), []) for position in positions] for task in tasks}
    return _section("matrix", "overview", positions=positions, rows=rows)


def small_curve(panel: Panel) -> Section:
    """Scale the training range, the band and the line of a panel to a drawing of 122 by 50."""
    line = next(mark for mark in panel.marks if isinstance(mark, Line) and mark.label)
    first, last = min(line.x), max(line.x)

    def x(value: float) -> float:
        return round(MARGIN + (WIDTH - 2 * MARGIN) * (min(max(value, first), last) - first) / max(last - first, 1), 1)

    def y(value: float) -> float:
        return round(HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * value, 1)

    spans = [(x(span.low), x(span.high) - x(span.low)) for span in panel.marks if isinstance(span, Span)]
    edges = [
        f"{x(at)},{y(value)}"
        for band in panel.marks
        if isinstance(band, Band)
        for at, value in zip([*band.x, *reversed(band.x)], [*band.high, *reversed(band.low)], strict=True)
    ]
    points = [(x(at), y(value), at, value) for at, value in zip(line.x, line.y, strict=True)]
    size = {"width": WIDTH, "height": HEIGHT, "top": MARGIN, "bottom": HEIGHT - MARGIN}
    path = " ".join(f"{at},{value}" for at, value, *_ in points)
    return {"color": line.style.color, "spans": spans, "band": " ".join(edges), "line": path, "points": points, **size}


def task_section(page: Page, groups: Sequence[Group], places: Places, runs: Runs) -> Section:
    """Everything about one task."""
    task = groups[0].task
    links = {group.label: places[task, group.label] for group in groups}
    scales = evenly(accuracy.scales_beyond(groups), MOST_SCALES)
    beyond = {f"scale {scale}": accuracy.digit_figure(groups, scale) for scale in scales}
    compared = pairs(groups)
    shown = _section(
        "task",
        task,
        trained=" and ".join(dict.fromkeys(format_range(group.train_scales) for group in groups)),
        best=sorted(groups, key=lambda group: -group.mean(group.scales[-1]))[:6],
        accuracy=page.add(accuracy.accuracy_figure(groups, links=links), 430),
        scales=notable_scales(groups),
        groups=groups,
        pairs=compared,
        all_pairs=len(groups) <= MOST_PAIRED,
        fewest_seeds=min((len(found.seeds) for *_, found in compared), default=0),
        digits=page.add_choice(beyond, 360) if beyond else None,
        errors=[(group.label, _add_map(page, accuracy.error_panel(group))) for group in groups],
        carries=[(group.label, _add_map(page, panel)) for group in groups if (panel := accuracy.carry_panel(group))],
        strings=_strings(page, groups, runs),
        **_learning_curves(page, groups, runs),
    )
    return {**shown, "id": f"task-{task}"}


def notable_scales(groups: Sequence[Group]) -> list[int]:
    """The largest training scale, the first beyond, one in the middle, the largest."""
    scales = sorted({scale for group in groups for scale in group.scales})
    limit = max(groups[0].train_scales)
    within, beyond = [scale for scale in scales if scale <= limit], [scale for scale in scales if scale > limit]
    return sorted({*within[-1:], *beyond[:1], *beyond[len(beyond) // 2 :][:1], *beyond[-1:]})


def pairs(groups: Sequence[Group]) -> list[tuple[Group, Group, int, Paired]]:
    """Compare every two groups, the better first, at the largest test scale and over the seeds they share.

    Of more than `MOST_PAIRED` groups, each is compared with the best alone, so that the page grows in proportion.
    """
    found = []
    ranked = sorted(groups, key=lambda group: -group.mean(group.scales[-1]))
    for better, worse in combinations(ranked, 2) if len(ranked) <= MOST_PAIRED else product(ranked[:1], ranked[1:]):
        scale = max(set(better.scales) & set(worse.scales), default=0)
        compared = paired(better.by_seed(scale), worse.by_seed(scale))
        found += [] if compared is None else [(better, worse, scale, compared)]
    return found


def prediction_section(predictions: Mapping[str, Any], runs: Runs, trust: bool = False) -> Section:
    """A row for each predicted setting that was measured; predictions that were not measured are only counted."""
    entries = list(predictions["predictions"])
    register = Register(repository(), {None: entries}, trusted=trust)
    rows = compare([(run.config, run.record) for run in runs.finished], register)
    return _section(
        "predictions",
        "predictions",
        counts=count(rows),
        meanings=SAMPLES,
        measured=len(rows),
        entries=len(entries),
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


def bias_section(page: Page, rows: Sequence[Row]) -> Section:
    """The map of models and bases, from the cells that `ldhd bias` has kept; on the page the pointer shows numbers."""
    panels = [replace(panel, marks=panel.marks[:1]) for panel in bias_map(rows).panels if panel is not None]
    figure = Figure(panels, (15.0, 5.0), columns=2)
    return _section("bias", "inductive bias", cells=len(rows), map=page.add(figure, 420))


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


def _add_map(page: Page, panel: Panel) -> int:
    rows = next(len(mark.values) for mark in panel.marks if isinstance(mark, HeatMap))
    return page.add(Figure([panel], (3.0, 3.0)), 110 + 17 * min(rows, 16))


def _learning_curves(page: Page, groups: Sequence[Group], runs: Runs) -> Section:
    """How each seed trained, and in words why those failed that did not fit."""
    shown, failed, outcomes = [], [], set()
    for group in groups:
        curves = learning_curves(group, runs)
        figure = learning_curve_figure(curves, group.label)
        if figure is not None:
            shown.append((group.label, page.add(figure, 70 + 110 * len(figure.panels), legend=False)))
        outcomes |= {curve.outcome for curve in curves}
        unfitted = [curve for curve in curves if curve.outcome == "does not fit"]
        failed += [(group.label, curve.record, explanation(curve, curves)) for curve in unfitted]
    return {"curves": shown, "failed": failed, "any_failed": bool(outcomes - {"right"})}


def _strings(page: Page, groups: Sequence[Group], runs: Runs) -> range:
    """The indices of the pictures of one task, of which the page shows one at a time."""
    first = len(page.traces)
    for label, trace in chosen_traces(groups, runs):
        weights = [trace["attention"], trace.get("terms") or [], *(a["weights"] for a in trace.get("anchors") or [])]
        if _numbers_in(weights) <= MOST_NUMBERS:
            page.traces.append(string_picture(label, trace))
    return range(first, len(page.traces))


def _numbers_in(value: Any) -> int:
    return sum(map(_numbers_in, value)) if isinstance(value, list) else 1

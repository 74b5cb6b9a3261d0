"""The page of one task: a chart and a table of its configurations, and the details of each of them."""

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any

from ldhd.experiments.groups import Group
from ldhd.experiments.registered import Comparison
from ldhd.parsing import evenly, format_range
from ldhd.report.configurations import Configuration
from ldhd.report.figures import accuracy
from ldhd.report.figures.learning_curves import explanation, learning_curve_figure, learning_curves
from ldhd.report.figures.marks import Figure, HeatMap, Panel
from ldhd.report.figures.strings import chosen_traces, string_picture
from ldhd.report.page import Page
from ldhd.report.runs import Runs
from ldhd.statistics import Paired, paired

MOST_SCALES = 12
"""Scales to choose from in a figure of one scale at a time."""
MOST_CURVES = 10
"""Embeddings that a chart shows at first, those with the highest mean at the largest test scale."""
MOST_DETAILED = 300
"""Configurations that the report shows in detail."""
MOST_PAIRED = 8
"""Embeddings of a task of which every two are compared; of more, each is compared with the best alone."""
MOST_NUMBERS = 60_000
"""Weights of one run beyond which its picture would make the page heavy."""
ROUND = ((1, 2, 5), (1, 5), (1,))
"""Leading digits of the scales that a table shows, if there are many; the first choice that needs few columns."""
MOST_COLUMNS = 8
"""Scales beyond training that a table shows."""

Predictions = Mapping[str, Comparison]
"""The place of a configuration -> its prediction beside the measurement."""


def in_detail(found: Sequence[Configuration]) -> list[Configuration]:
    """Return the configurations that the report shows in detail: all, or those that count and some others, evenly.

    They are chosen whatever their results.
    """
    if len(found) <= MOST_DETAILED:
        return list(found)
    chosen = evenly([one for one in found if one.chosen], MOST_DETAILED)
    left = MOST_DETAILED - len(chosen)
    others = evenly([one for one in found if not one.chosen], left) if left > 1 else []
    kept = {one.place for one in (*chosen, *others)}
    return [one for one in found if one.place in kept]


def task_section(
    page: Page, found: Sequence[Configuration], more: int, runs: Runs, predictions: Predictions
) -> dict[str, Any]:
    """Everything about one task; `more` configurations are not shown in detail."""
    task = found[0].group.task
    groups = [one.group for one in found]
    chosen = [one.group for one in found if one.chosen]
    ranked = sorted(chosen, key=lambda group: -group.mean(group.scales[-1]))
    shown = [group for group in chosen if any(group is best for best in ranked[:MOST_CURVES])]
    links = {one.group.label: one.place for one in found}
    scales = evenly(accuracy.scales_beyond(shown), MOST_SCALES) if shown else []
    beyond = {f"scale {scale}": accuracy.digit_figure(_tested(shown, scale), scale) for scale in scales}
    compared = pairs(chosen)
    return {
        "id": f"task-{task}",
        "link": task,
        "template": "task.html",
        "trained": " and ".join(dict.fromkeys(format_range(group.train_scales) for group in chosen or groups)),
        "accuracy": page.add(
            accuracy.accuracy_figure(groups, links=links), 430, shown=[group.label for group in shown]
        ),
        "shown": {group.label for group in shown},
        "hidden": len(chosen) - len(shown),
        "scales": notable_scales(chosen or groups),
        "chosen": [one for one in found if one.chosen],
        "others": [one for one in found if not one.chosen],
        "found": found,
        "more": more,
        "predictions": predictions,
        "hard": any(group.hard_scales for group in groups),
        "pairs": compared,
        "all_pairs": len(chosen) <= MOST_PAIRED,
        "fewest_seeds": min((len(one.seeds) for *_, one in compared), default=0),
        "digits": page.add_choice(beyond, 360) if beyond else None,
        "details": {one.place: _details(page, one.group, runs) for one in found},
        "runs": runs,
    }


def notable_scales(groups: Sequence[Group]) -> list[int]:
    """Return the scales that a table shows: the largest training scale, those beyond it, of many the round ones.

    The first and the last are always among them.
    """
    scales = sorted({scale for group in groups for scale in group.scales})
    limit = max(groups[0].train_scales)
    within, beyond = [scale for scale in scales if scale <= limit], [scale for scale in scales if scale > limit]
    for leading in ROUND:
        if len(beyond) <= MOST_COLUMNS:
            break
        rounded = [scale for scale in scales if scale > limit and int(str(scale).rstrip("0")) in leading]
        beyond = sorted({beyond[0], *rounded, beyond[-1]})
    return [*within[-1:], *evenly(beyond, MOST_COLUMNS)]


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


def _tested(groups: Sequence[Group], scale: int) -> list[Group]:
    return [group for group in groups if scale in group.scales]


def _details(page: Page, group: Group, runs: Runs) -> dict[str, Any]:
    """How each seed trained, where answers go wrong, and the pictures of some strings."""
    curves = learning_curves(group, runs)
    figure = learning_curve_figure(curves, group.label)
    carries = accuracy.carry_panel(group)
    unfitted = [curve for curve in curves if curve.outcome == "does not fit"]
    return {
        "curves": None if figure is None else page.add(figure, 70 + 110 * len(figure.panels), legend=False),
        "failed": [(curve.record, explanation(curve, curves)) for curve in unfitted],
        "errors": _add_map(page, accuracy.error_panel(group)),
        "carries": None if carries is None else _add_map(page, carries),
        "strings": _strings(page, group, runs),
    }


def _add_map(page: Page, panel: Panel) -> int:
    rows = next(len(mark.values) for mark in panel.marks if isinstance(mark, HeatMap))
    return page.add(Figure([panel], (3.0, 3.0)), 110 + 17 * min(rows, 16))


def _strings(page: Page, group: Group, runs: Runs) -> range:
    """The indices of the pictures of one group, of which the page shows one at a time."""
    first = len(page.traces)
    for label, trace in chosen_traces([group], runs):
        weights = [trace["attention"], trace.get("terms") or [], *(a["weights"] for a in trace.get("anchors") or [])]
        if _numbers_in(weights) <= MOST_NUMBERS:
            page.traces.append(string_picture(label, trace))
    return range(first, len(page.traces))


def _numbers_in(value: Any) -> int:
    return sum(map(_numbers_in, value)) if isinstance(value, list) else 1

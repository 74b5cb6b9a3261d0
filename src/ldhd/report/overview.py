"""The front page of the report: its headline, the heat map of tasks by embeddings, and the certificates."""

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any, NamedTuple

from markupsafe import Markup

from ldhd.experiments.groups import Group
from ldhd.parsing import evenly
from ldhd.report.configurations import MEANING, RULE, Configuration, badge
from ldhd.report.runs import Runs, position_order
from ldhd.report.terminal import bounds, counted, percent

VERBS = {
    "generalises": "generalises on",
    "too few seeds, generalises": "seems to generalise on",
    "mixed": "is mixed on",
    "too few seeds, mixed": "seems mixed on",
    "fails": "fails on",
    "too few seeds, fails": "seems to fail on",
    "does not fit": "does not fit",
}
"""From the best verdict to the worst."""
MOST_NAMED, MOST_TASKS = 6, 3
"""Embeddings named in the headline, and tasks up to which they are named there too."""
MOST_ROWS, MOST_COLUMNS = 80, 60
"""Tasks and embeddings of the heat map; of more, some are chosen evenly."""


class Cell(NamedTuple):
    """A cell of the heat map: how strong its colour is from 0 to 1, and what is written in it; None if unmeasured."""

    strength: float | None
    text: str
    small: str


MEASURES = {
    "final": "exact match in %, at the largest test scale",
    "hard": "the same on hard instances",
    "factor": "extrapolation factor: the scale it holds up to, over the largest training scale",
    "seeds": "seeds that fit and reach 90 % at the largest test scale",
}
"""What the heat map may show."""


def headline(found: Sequence[Configuration]) -> Markup:
    """Say on which tasks each embedding generalises, in the one configuration that counts for each task."""
    chosen = [configuration for configuration in found if configuration.chosen]
    if not chosen:
        return Markup("No finished runs.")
    if len({one.group.task for one in chosen}) > MOST_TASKS:
        return _counted_tasks(chosen)
    verdicts: dict[str, dict[str, list[str]]] = {}  # title of the embedding -> verdict -> tasks
    for one in chosen:
        verdicts.setdefault(one.title, {}).setdefault(_verdict(one.group), []).append(one.group.task)
    ranked = sorted(verdicts, key=lambda name: -_generalised(verdicts[name]))
    sentences = [
        Markup("<b>{}</b> ").format(name)
        + _listed([Markup(verb) + " " + _listed(verdicts[name][v]) for v, verb in VERBS.items() if v in verdicts[name]])
        for name in ranked[:MOST_NAMED]
    ]
    rest = len(ranked) - MOST_NAMED
    return Markup("; ").join(sentences) + (f"; {counted(rest, 'other embedding')} below." if rest > 0 else ".")


def overview_section(found: Sequence[Configuration], detailed: Sequence[Configuration], runs: Runs) -> dict[str, Any]:
    """The heat map of the configurations that count, and what is certified of the runs shown in detail."""
    chosen = [one for one in found if one.chosen]
    tasks = evenly(list(dict.fromkeys(one.group.task for one in chosen)), MOST_ROWS)
    titles = dict.fromkeys((one.group.position, one.title) for one in chosen)
    positions = evenly(sorted(titles, key=lambda name: position_order(name[0])), MOST_COLUMNS)
    by_place = {(one.group.task, one.group.position): one for one in chosen}
    rows = {task: [by_place.get((task, position)) for position, _ in positions] for task in tasks}
    shown = [one for row in rows.values() for one in row if one is not None]
    certificates = _certificates(detailed, runs)
    farthest = max((one.group.factor() for one in shown), default=1.0)
    measures: dict[str, list[Cell]] = {name: [_cell(one.group, name, farthest) for one in shown] for name in MEASURES}
    return {
        "id": "overview",
        "link": "overview",
        "template": "overview.html",
        "tasks": len({one.group.task for one in chosen}),
        "positions": positions,
        "rows": rows,
        "first": iter(measures["final"]),
        "measures": {
            name: cells for name, cells in measures.items() if any(cell.strength is not None for cell in cells)
        },
        "names": MEASURES,
        "certificates": certificates,
        "certified": {place for place, _, certified, _ in certificates if certified},
        "linked": {one.place for one in detailed},
        "rule": RULE,
        "meaning": MEANING,
        "several": len(found) > len(chosen),
    }


def cell_title(one: Configuration) -> str:
    """Everything about a cell in one line, for the pointer."""
    group = one.group
    scale = group.scales[-1]
    mean = group.interval(scale)
    interval = "" if mean.low is None else f" ({bounds(mean)})"
    said = f"{one.title} on {group.task}: {percent(mean.value)} %{interval} at scale {scale}"
    return f"{said}, {group.fitted} of {counted(len(group.records), 'seed')} fitted: {badge(group)}"


def _cell(group: Group, measure: str, farthest: float) -> Cell:
    scale = group.scales[-1]
    if measure == "final":
        mean = group.mean(scale)
        return Cell(mean, percent(mean), f"at {scale}")
    if measure == "hard":
        if not group.hard_scales:
            return Cell(None, "", "not measured")
        hard = fmean(group.hard(group.hard_scales[-1]))
        return Cell(hard, percent(hard), f"at {group.hard_scales[-1]}")
    if measure == "factor":
        factor, limit = group.factor(), scale / max(group.train_scales)
        strength = math.log(max(factor, 1.0)) / math.log(max(farthest, 2.0))
        return Cell(strength, f"{'≥ ' * (factor >= limit > 1)}{factor:.3g}", f"of {limit:.3g}")
    success = group.success()
    return Cell(success.successes / success.n, f"{success.successes}/{success.n}", "")


def _certificates(detailed: Sequence[Configuration], runs: Runs) -> list[tuple[str, str, bool, str]]:
    """Return place, name, whether it is a proof, and what was found, for each certificate of the runs in detail."""
    found = []
    for one in detailed:
        for record in one.group.records:
            certificate = runs.certificate(record.hash)
            if certificate is not None:
                name = f"{one.group.task}, {one.title}, seed {record.seed}"
                found.append((one.place, name, certificate.verdict == "certified", certificate.sentence()))
    return found


def _counted_tasks(chosen: Sequence[Configuration]) -> Markup:
    """`a generalises on 7 of 8 tasks, b on 1 of 3; none of 5 other embeddings on any`."""
    tried: dict[str, list[str]] = {}
    for one in chosen:
        tried.setdefault(one.title, []).append(_verdict(one.group))
    counts = {name: verdicts.count("generalises") for name, verdicts in tried.items()}
    able = sorted((name for name in tried if counts[name]), key=lambda name: -counts[name])
    rest = len(tried) - len(able)
    tasks = len({one.group.task for one in chosen})
    if not able:
        return Markup("None of {} generalises on any of {} tasks.").format(counted(rest, "embedding"), tasks)
    parts = [
        Markup("<b>{}</b> {}on {} of {}{}").format(
            name, "" if index else "generalises ", counts[name], len(tried[name]), "" if index else " tasks"
        )
        for index, name in enumerate(able[:MOST_NAMED])
    ]
    if len(able) > MOST_NAMED:
        parts.append(Markup("{} on at least one").format(counted(len(able) - MOST_NAMED, "other")))
    others = {0: "", 1: "; the other embedding on none"}.get(rest, f"; none of {rest} other embeddings on any")
    return _listed(parts) + f"{others}."


def _verdict(group: Group) -> str:
    """The badge of a group as the headline words it: one that does not hold in the mean is mixed."""
    verdict = badge(group)
    if verdict == "too few seeds":
        return f"{verdict}, {group.tendency()}" if group.tendency() != "does not fit" else "does not fit"
    return verdict if verdict in VERBS else "mixed"


def _generalised(verdicts: dict[str, list[str]]) -> int:
    return sum(len(tasks) for verdict, tasks in verdicts.items() if verdict.endswith("generalises"))


def _listed(names: Sequence[str]) -> Markup:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = names
    return Markup(" and ").join([Markup(", ").join(first), last] if first else [last])

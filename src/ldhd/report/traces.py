"""The string with its anchors and what each answer token looks at: which runs are shown, and their data."""

from collections.abc import Sequence
from typing import Any

from ldhd.report.markup import Page
from ldhd.report.runs import Runs
from ldhd.report.summary import Cell
from ldhd.report.training import fate

MOST_NUMBERS = 60_000
"""Weights of one run beyond which its picture would make the page heavy."""

Trace = dict[str, Any]


def chosen_traces(cells: Sequence[Cell], runs: Runs) -> list[tuple[str, Trace]]:
    """Of each cell the first seed of each fate whose trace was kept, with a label."""
    found = []
    for cell in cells:
        fates: set[str] = set()
        for record in cell.records:
            told = fate(record, cell)
            if told in fates:
                continue
            trace = runs.trace(record.hash)
            if trace is not None:
                fates.add(told)
                found.append((f"{cell.label}, seed {record.seed}, {told}", trace))
    return found


def string_section(page: Page, cells: Sequence[Cell], runs: Runs) -> str:
    """The pictures of one task, one at a time; nothing if no run kept a trace."""
    keys = []
    for label, trace in chosen_traces(cells, runs):
        if _size(trace) <= MOST_NUMBERS:
            keys.append(str(len(page.traces)))
            page.traces.append(_compact(label, trace))
    if not keys:
        return ""
    selects = "".join(
        f'<select name="{name}" aria-label="{name}"></select>' for name in ("run", "anchor", "view", "head")
    )
    text = (
        "Arcs lead from each position to the token it measures its distance from, fainter where the anchor is "
        "undecided; below each token is that distance. Each row is an answer token being written: "
        '<span class="key filled"></span> where it looks, <span class="key"></span> the tokens it needs.'
    )
    return (
        f'<h3>Anchors and attention over a string</h3><p class="note">{text}</p>'
        f'<figure data-traces="{" ".join(keys)}"><div class="controls">{selects}<span class="said"></span></div>'
        '<div class="picture"></div></figure>'
    )


def _compact(label: str, trace: Trace) -> Trace:
    """Only what the picture shows; weights in thousandths, which are shorter."""
    kept = {name: trace.get(name) for name in ("text", "prompt", "output", "first_error", "needs")}
    anchors = [
        {"layer": a.get("layer", 0), "term": a.get("term", ""), "weights": _thousandths(a["weights"])}
        for a in trace.get("anchors") or []
    ]
    weights = {"attention": _thousandths(trace["attention"]), "terms": _thousandths(trace.get("terms") or [])}
    return {"label": label, **kept, "anchors": anchors, **weights}


def _thousandths(value: Any) -> Any:
    return [_thousandths(item) for item in value] if isinstance(value, list) else round(1000 * value)


def _size(trace: Trace) -> int:
    def count(value: Any) -> int:
        return sum(map(count, value)) if isinstance(value, list) else 1

    anchors = [anchor["weights"] for anchor in trace.get("anchors") or []]
    return count([trace["attention"], trace.get("terms") or [], *anchors])

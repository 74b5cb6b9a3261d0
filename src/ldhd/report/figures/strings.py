"""One string with its anchors, and what each answer token looks at while it is written.

`string_picture` prepares what the page lets a reader choose from; `string_figure` is its first choice, for print.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from ldhd.experiments.groups import Group
from ldhd.report.figures.learning_curves import seed_outcome
from ldhd.report.figures.marks import Arc, Axis, Box, Figure, Mark, Panel, Text
from ldhd.report.runs import Runs

COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
OTHER = "#7F7F7F"
FAINT = 20
"""Weights below so many thousandths are not drawn."""

Picture = dict[str, Any]
Rows = list[list[int]]


def chosen_traces(groups: Sequence[Group], runs: Runs) -> list[tuple[str, dict[str, Any]]]:
    """Return, for each group, the first seed of each outcome whose trace was kept, with a label."""
    found = []
    for group in groups:
        seen: set[str] = set()
        for record in group.records:
            outcome = seed_outcome(record, group)
            trace = None if outcome in seen else runs.trace(record.hash)
            if trace is not None:
                seen.add(outcome)
                found.append((f"{group.label}, seed {record.seed}, {outcome}", trace))
    return found


def string_picture(label: str, trace: Mapping[str, Any]) -> Picture:
    """Prepare a trace for drawing, with weights in thousandths, which are shorter.

    Returns:
        The string and the output; `anchors`, for each anchor the token each position measures its distance from; and
        `views`, for the attention and for the position term alone, the weights by head, `all` for the strongest.
    """
    kept = {name: trace.get(name) for name in ("text", "prompt", "output", "first_error", "needs")}
    views = {"attention": _by_head(trace["attention"], trace["prompt"], softmax=False)}
    if trace.get("terms"):
        views["terms"] = _by_head(trace["terms"], trace["prompt"], softmax=True)
    return {"label": label, **kept, "anchors": _anchors(trace.get("anchors") or []), "views": views}


def string_figure(picture: Picture, title: str) -> Figure:
    """Draw the first anchor of a picture, if it has any, as arcs, and below the attention of the strongest head."""
    text, answers = picture["text"], len(picture["text"]) - picture["prompt"]
    anchor = next(iter(picture["anchors"]), None)
    above = 3.0 if anchor else 0.4
    marks: list[Mark] = _anchor_marks(text, anchor, above) if anchor else []
    marks += [Text(index, 0.0, token, 11, monospace=True) for index, token in enumerate(text)]
    for k in range(answers):
        marks += _answer_marks(picture, k, -3.0 - k)
    panel = Panel(marks, Axis(range=(-2.6, len(text))), Axis(range=(-3.2 - answers, above + 0.8)), title, axes=False)
    return Figure([panel], (1.2 + 0.3 * len(text), 0.6 + 0.26 * (above + 3 + answers)))


def _anchors(anchors: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for anchor in anchors:
        whose = f" of {anchor.get('term', '')}, layer {anchor.get('layer', 0)}" if len(anchors) > 1 else ""
        for head, rows in enumerate(anchor["weights"]):
            name = f"anchor{whose}" + (f", head {head}" if len(anchor["weights"]) > 1 else "")
            at = [max(range(len(row)), key=row.__getitem__) for row in rows]
            weights = [round(1000 * row[a]) for row, a in zip(rows, at, strict=True)]
            order = sorted(set(at), key=lambda a: -at.count(a))
            colors = {a: COLORS[k] if k < len(COLORS) else OTHER for k, a in enumerate(order)}
            found.append({"name": name, "at": at, "weights": weights, "colors": colors})
    return found


def _by_head(layers: Sequence[Any], prompt: int, softmax: bool) -> dict[str, Rows]:
    """Return for each head, and for the strongest of all, what each answer token weighs each token before it by."""
    heads: dict[str, Rows] = {}
    for layer, rows_of_heads in enumerate(layers):
        for head, rows in enumerate(rows_of_heads):
            visible = [row[: prompt + k] for k, row in enumerate(rows)]
            weights = [_softmax(row) if softmax else row for row in visible]
            heads[f"{layer}.{head}"] = [[round(1000 * value) for value in row] for row in weights]
    answers = zip(*heads.values(), strict=True)
    strongest = [[max(values) for values in zip_longest(*rows, fillvalue=0)] for rows in answers]
    return {"all": strongest, **heads}


def _softmax(row: Sequence[float]) -> list[float]:
    top = max(row)
    powers = [math.exp(value - top) for value in row]
    return [power / sum(powers) for power in powers]


def _anchor_marks(text: str, anchor: Mapping[str, Any], above: float) -> list[Mark]:
    """A box around each token, an arc from each position to its anchor, and the distance below."""
    at, colors = anchor["at"], anchor["colors"]
    reach = max(*(j - a for j, a in enumerate(at)), 1)
    marks: list[Mark] = [
        Box(index, 0.0, 0.9, 1.1, colors.get(index, "#bfbfbf"), line_width=1.8 if index in colors else 0.8)
        for index in range(len(text))
    ]
    for j, a in enumerate(at):
        marks.append(Text(j, -1.2, str(j - a), 7, colors[a]))
        if j != a:
            top = 0.6 + 1.25 * above * (0.3 + 0.7 * (j - a) / reach)
            marks.append(Arc(j, a, 0.6, top, colors[a], 0.25 + 0.00075 * min(1000, anchor["weights"][j])))
    return [*marks, Text(-0.8, -1.2, "distance", 7, "#666666", "right")]


def _answer_marks(picture: Picture, k: int, y: float) -> list[Mark]:
    """One answer token: what it should be, what was written, the strongest head's attention, and what it needs."""
    right, written = picture["text"][picture["prompt"] + k], picture["output"][k : k + 1]
    label, color = (right, "#000000") if written == right else (f"{right} not {written or 'nothing'}", "#A33F00")
    marks: list[Mark] = [Text(-0.8, y, label, 8, color, "right", monospace=True)]
    for index, weight in enumerate(picture["views"]["attention"]["all"][k]):
        if weight >= FAINT:
            marks.append(Box(index, y, 0.84, 0.8, COLORS[0], filled=True, opacity=min(1.0, weight / 1000)))
    needed = [index for index in picture["needs"][k].values() if index is not None]
    return marks + [Box(index, y, 0.84, 0.8, "#000000", line_width=1.2) for index in needed]

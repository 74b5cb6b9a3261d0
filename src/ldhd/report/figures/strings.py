"""One string with its anchors, and where each answer token attends while it is written.

`string_picture` prepares what the page lets a reader choose from; `string_figure` is its first choice, for print.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from scipy.special import softmax

from ldhd.experiments.groups import Group
from ldhd.report.figures.learning_curves import seed_outcome
from ldhd.report.figures.marks import Axis, Figure, HeatMap, Line, Mark, Panel, Style, Text
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

    `anchors` has for each anchor the token that each position measures its distance from; `views` has the weights by
    head, `all` for the strongest, of the attention and of the position term alone.
    """
    kept = {name: trace.get(name) for name in ("text", "prompt", "output", "first_error", "needs")}
    views = {"attention": _by_head(trace["attention"], trace["prompt"])}
    if trace.get("terms"):
        views["terms"] = _by_head(trace["terms"], trace["prompt"], logits=True)
    return {"label": label, **kept, "anchors": _anchors(trace.get("anchors") or []), "views": views}


def string_figure(picture: Picture, title: str) -> Figure:
    """Draw the first anchor of a picture, if it has any, as arcs, and below the attention of the strongest head."""
    text, rows = picture["text"], picture["views"]["attention"]["all"]
    anchor = next(iter(picture["anchors"]), None)
    top = -3.5 - (3.8 if anchor else 0.4)
    weights = [[w / 1000 if w >= FAINT else None for w in row] + [None] * (len(text) - len(row)) for row in rows]
    marks: list[Mark] = [HeatMap(weights, ("#ffffff", COLORS[0]))]
    marks += [Text(index, -3.0, token, 11) for index, token in enumerate(text)]
    marks += _anchor_marks(text, anchor, top) if anchor else []
    for k in range(len(rows)):
        right, written = text[picture["prompt"] + k], picture["output"][k : k + 1]
        label, color = (right, "#000000") if written == right else (f"{right} not {written or 'nothing'}", "#A33F00")
        marks.append(Text(-0.8, k, label, 8, color, "right"))
        needed = [index for index in picture["needs"][k].values() if index is not None]
        marks += [_box(index, k, 0.8, Style(color="#000000", width=1.2)) for index in needed]
    panel = Panel(marks, Axis(range=(-3.2, len(text))), Axis(range=(len(rows), top)), bare=True)
    return Figure([panel], (1.2 + 0.3 * len(text), 0.7 + 0.26 * (len(rows) - top)), title=title)


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


def _by_head(layers: Sequence[Any], prompt: int, logits: bool = False) -> dict[str, Rows]:
    """Return for each head, and for the strongest of all, what each answer token weighs each token before it by."""
    heads: dict[str, Rows] = {}
    for layer, rows_of_heads in enumerate(layers):
        for head, rows in enumerate(rows_of_heads):
            visible = [row[: prompt + k] for k, row in enumerate(rows)]
            weights = [softmax(row) if logits else row for row in visible]
            heads[f"{layer}.{head}"] = [[round(1000 * value) for value in row] for row in weights]
    answers = zip(*heads.values(), strict=True)
    strongest = [[max(values) for values in zip_longest(*rows, fillvalue=0)] for rows in answers]
    return {"all": strongest, **heads}


def _anchor_marks(text: str, anchor: Mapping[str, Any], top: float) -> list[Mark]:
    """A box around each token, an arc from each position to its anchor, and the distance below."""
    at, colors = anchor["at"], anchor["colors"]
    reach = max(*(j - a for j, a in enumerate(at)), 1)
    marks: list[Mark] = [_box(j, -3.0, 1.1, Style(color=colors.get(j, "#bfbfbf"), width=1.2)) for j in range(len(text))]
    for j, a in enumerate(at):
        marks.append(Text(j, -1.8, str(j - a), 7, colors[a]))
        if j != a:
            turns = [math.pi * k / 24 for k in range(25)]
            high = (3.6 + top) * (0.3 + 0.7 * (j - a) / reach)
            x, y = [(a + j - (j - a) * math.cos(t)) / 2 for t in turns], [-3.6 + high * math.sin(t) for t in turns]
            opacity = 0.25 + 0.00075 * min(1000, anchor["weights"][j])
            marks.append(Line(x, y, Style(color=colors[a], width=1.2, opacity=opacity)))
    return [*marks, Text(-0.8, -1.8, "distance", 7, "#666666", "right")]


def _box(x: float, y: float, height: float, style: Style) -> Line:
    """The outline of a cell around a point."""
    left, right, low, high = x - 0.43, x + 0.43, y - height / 2, y + height / 2
    return Line([left, right, right, left, left], [low, low, high, high, low], style)

"""One string for papers: anchors as arcs above it, and below it where each answer token looks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
OTHER = "#7F7F7F"
FAINT = 0.02
"""Weights below this are not drawn."""


def anchored_at(weights: list[list[float]]) -> list[int]:
    """For each position the token its anchor weighs most."""
    return [max(range(len(row)), key=row.__getitem__) for row in weights]


def draw_string(trace: Mapping[str, Any], title: str) -> "Figure":
    """The first anchor of a trace, if it has any, and the attention of the strongest head."""
    from matplotlib.figure import Figure

    text, answers = trace["text"], len(trace["text"]) - trace["prompt"]
    weights = trace["anchors"][0]["weights"][0] if trace.get("anchors") else []
    above = 3.0 if weights else 0.4
    figure = Figure(figsize=(1.2 + 0.3 * len(text), 0.6 + 0.26 * (above + 3 + answers)), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set_xlim(-2.6, len(text))
    axes.set_ylim(-3.2 - answers, above + 0.8)
    _anchors(axes, text, weights, above)
    for index, token in enumerate(text):
        axes.text(index, 0.0, token, ha="center", va="center", family="monospace", fontsize=11)
    for k in range(answers):
        _row(axes, trace, k, -3.0 - k)
    axes.set_title(title, loc="left", fontsize=9)
    return figure


def _anchors(axes: "Axes", text: str, weights: list[list[float]], above: float) -> None:
    """A box around each token, an arc from each position to its anchor, and the distance below."""
    from matplotlib.patches import PathPatch, Rectangle
    from matplotlib.path import Path

    at = anchored_at(weights)
    order = sorted(set(at), key=lambda a: -at.count(a))
    colours = {a: COLOURS[k] if k < len(COLOURS) else OTHER for k, a in enumerate(order)}
    reach = max((j - a for j, a in enumerate(at)), default=1) or 1
    for index in range(len(text)):
        edge, width = colours.get(index, "0.75"), 1.8 if index in colours else 0.8
        axes.add_patch(Rectangle((index - 0.45, -0.55), 0.9, 1.1, fill=False, ec=edge, lw=width))
    for j, a in enumerate(at):
        axes.text(j, -1.2, str(j - a), ha="center", va="center", fontsize=7, color=colours[a])
        if j != a:
            top = 0.6 + 1.25 * above * (0.3 + 0.7 * (j - a) / reach)
            curve = Path([(j, 0.6), (j, top), (a, top), (a, 0.6)], [Path.MOVETO, *[Path.CURVE4] * 3])
            alpha = 0.25 + 0.75 * min(1.0, weights[j][a])
            axes.add_patch(PathPatch(curve, fill=False, ec=colours[a], alpha=alpha, lw=1.2))
    if at:
        axes.text(-0.8, -1.2, "distance", ha="right", va="center", fontsize=7, color="0.4")


def _row(axes: "Axes", trace: Mapping[str, Any], k: int, y: float) -> None:
    """One answer token: what it should be, what was written, the strongest head's attention, what it needs."""
    from matplotlib.patches import Rectangle

    right, written = trace["text"][trace["prompt"] + k], trace["output"][k : k + 1]
    label, colour = (right, "black") if written == right else (f"{right} not {written or 'nothing'}", "#A33F00")
    axes.text(-0.8, y, label, ha="right", va="center", family="monospace", fontsize=8, color=colour)
    heads = [head[k] for layer in trace["attention"] for head in layer]
    for index in range(trace["prompt"] + k):
        value = max((row[index] for row in heads if index < len(row)), default=0.0)
        if value >= FAINT:
            box = Rectangle((index - 0.42, y - 0.4), 0.84, 0.8, color=COLOURS[0], alpha=min(1.0, value), lw=0)
            axes.add_patch(box)
    for index in trace["needs"][k].values():
        if index is not None:
            axes.add_patch(Rectangle((index - 0.42, y - 0.4), 0.84, 0.8, fill=False, ec="black", lw=1.2))

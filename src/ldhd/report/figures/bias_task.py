"""Figures of `ldhd bias-task`: answer tokens over training, priming and width, and steps by scale."""

from collections.abc import Mapping, Sequence
from typing import Any

from ldhd.bias.task_summary import Group
from ldhd.report.figures.marks import Axis, Figure, Line, Mark, Panel, Style
from ldhd.report.figures.theory import COLORS
from ldhd.report.look import position_title

REFERENCES = {"concept": COLORS[0], "fourier": COLORS[1], "suffix": COLORS[2]}
"""The references that agreement is drawn with; where two agree, the later one lies on top."""
CASES = COLORS[3:]
"""The colours of embeddings and tasks."""
BLACK = "#222222"
SHARE = Axis("share of the unseen points", range=(-0.03, 1.03), percent=True)


def figures(found: Sequence[Group]) -> Mapping[str, Figure]:
    """Return the figure of these groups, if they allow one, by the name of its file."""
    words = [group for group in found if group.rows[0]["cube"] == "words"]
    steps = [group for group in found if group.rows[0]["cube"] == "steps"]
    usual = [group for group in words if group.width is None]
    plain = [group for group in usual if not group.rows[0]["priming"]]
    last: list[Panel] = []
    if len({group.rows[0]["priming"] for group in usual}) > 1:
        last.append(_priming(usual))
    if any(group.width is not None for group in words):
        last.append(_widths(words))
    if steps:
        last.append(_degrees(steps))
    columns = max(len(plain), len(last))
    rows = [[_tokens(group) for group in plain], [_training(group) for group in plain], last]
    panels = [panel for row in rows if row for panel in (*row, *[None] * (columns - len(row)))]
    size = 3.5 * columns, 2.9 * len(panels) / columns if columns else 0.0
    return {"tasks": Figure(panels, size, columns=columns)} if panels else {}


def _tokens(group: Group) -> Panel:
    """The agreement of each answer token with the references, and the weight beyond N0, at the end of training."""
    places = [float(place) for place in range(1, len(group.parts) + 1)]
    marks: list[Mark] = []
    for name, color in REFERENCES.items():
        for row in group.rows:
            values = [part["compared"][name]["agreement"] for part in row["path"][-1]["parts"]]
            marks.append(Line(places, values, Style(color=color, width=0.8, opacity=0.5)))
        mean = [part.agreement[name] for part in group.parts]
        marks.append(Line(places, mean, Style(color=color, marker="circle", size=4), f"as {name}"))
    leaks = [part.leakage or 0.0 for part in group.parts]
    marks.append(Line(places, leaks, Style(color=BLACK, dash="dash"), "weight beyond $N_0$"))
    row = group.rows[0]
    return Panel(marks, Axis("answer token", ticks=places), SHARE, _case(row))


def _training(group: Group) -> Panel:
    """The same over training for the answer token N0, of which the concept is the Fourier interpolator."""
    marks: list[Mark] = []
    row = group.rows[0]
    token = row["train_scale"] - 1
    for name in ("fourier", "suffix"):
        color = REFERENCES[name]
        for own in group.rows:
            values = [moment["parts"][token]["compared"][name]["agreement"] for moment in own["path"]]
            marks.append(Line(group.steps, values, Style(color=color, width=0.8, opacity=0.5)))
        mean = [group.at(place)[token].agreement[name] for place in range(len(group.steps))]
        marks.append(Line(group.steps, mean, Style(color=color, marker="circle", size=4)))
    leaks = [group.at(place)[token].leakage or 0.0 for place in range(len(group.steps))]
    marks.append(Line(group.steps, leaks, Style(color=BLACK, dash="dash")))
    title = f"token {token + 1} of {_case(row)}"
    return Panel(marks, Axis("steps", scale="log", ticks=group.steps), SHARE, title)


def _priming(words: Sequence[Group]) -> Panel:
    """The agreement with the concept beyond N0 against the number of primed words, with that of the interpolator."""
    marks: list[Mark] = []
    positions = dict.fromkeys(group.rows[0]["position"] for group in words)
    primed = [name for name in positions if sum(group.rows[0]["position"] == name for group in words) > 1]
    numbers: list[float] = []
    for position, color in zip(primed, CASES, strict=False):
        own = [group for group in words if group.rows[0]["position"] == position]
        own.sort(key=lambda group: int(group.rows[0]["priming"]))
        numbers = [float(group.rows[0]["priming"]) for group in own]
        for seed in range(min(group.seeds for group in own)):
            values = [_beyond(Group([group.rows[seed]])) for group in own]
            marks.append(Line(numbers, values, Style(color=color, width=0.8, opacity=0.5)))
        means = [_beyond(group) for group in own]
        marks.append(Line(numbers, means, Style(color=color, marker="circle", size=5), position_title(position)))
        label = "Fourier interpolator" if position == primed[0] else ""
        marks.append(Line(numbers, [_theory(group) for group in own], Style(color=COLORS[1], dash="dot"), label))
    x = Axis("primed words", scale="symlog", ticks=numbers, tick_labels=[f"{number:g}" for number in numbers])
    return Panel(marks, x, SHARE, "right at the answer tokens beyond $N_0$")


def _widths(words: Sequence[Group]) -> Panel:
    """The agreement of the answer token N0 with the references against the width, and the weight beyond N0."""
    marks: list[Mark] = []
    own = sorted((group for group in words if group.width is not None), key=lambda group: group.width or 0)
    widths = [float(group.width or 0) for group in own]
    row = own[0].rows[0]
    token = row["train_scale"] - 1
    for name in ("fourier", "suffix"):
        for seed in range(min(group.seeds for group in own)):
            runs = [group.rows[seed]["path"][-1]["parts"][token] for group in own]
            values = [run["compared"][name]["agreement"] for run in runs]
            marks.append(Line(widths, values, Style(color=REFERENCES[name], width=0.8, opacity=0.5)))
        means = [group.parts[token].agreement[name] for group in own]
        marks.append(Line(widths, means, Style(color=REFERENCES[name], marker="circle", size=5)))
    leaks = [group.parts[token].leakage or 0.0 for group in own]
    marks.append(Line(widths, leaks, Style(color=BLACK, dash="dash")))
    title = f"token {token + 1} of {_case(row)}"
    return Panel(marks, Axis("width", scale="log", ticks=widths), SHARE, title)


def _degrees(steps: Sequence[Group]) -> Panel:
    """The mean degree of the last answer token by scale; dotted the degree of the right function."""
    marks: list[Mark] = []
    for group, color in zip(steps, CASES, strict=False):
        scales = [float(place) for place in range(1, len(group.parts) + 1)]
        row = group.rows[0]
        for own in group.rows:
            runs = own["path"][-1]["parts"]
            values = [sum(degree * share for degree, share in enumerate(run["profile"])) for run in runs]
            marks.append(Line(scales, values, Style(color=color, width=0.8, opacity=0.5)))
        means = [part.mean_degree for part in group.parts]
        style = Style(color=color, marker="square", size=5)
        marks.append(Line(scales, means, style, _case(row)))
        right = [float(part.degrees["concept"]) for part in group.parts]
        marks.append(Line(scales, right, Style(color=color, dash="dot")))
    return Panel(marks, Axis("scale"), Axis("mean degree"), "degree of one step (dotted: of the rule)")


def _case(row: Mapping[str, Any]) -> str:
    return f"{row['task']}, {position_title(row['position'])}"


def _beyond(group: Group) -> float:
    """The mean agreement with the concept over the answer tokens beyond N0."""
    chosen = group.parts[group.rows[0]["train_scale"] :]
    return sum(part.agreement["concept"] for part in chosen) / len(chosen)


def _theory(group: Group) -> float:
    """The same of the Fourier interpolator of what was trained on."""
    parts = group.rows[0]["parts"][group.rows[0]["train_scale"] :]
    return sum(part["references"]["fourier"]["agreement"] for part in parts) / len(parts)

"""Figures of `ldhd bias-task`: answer tokens over training, priming and width, and steps by scale."""

from collections.abc import Callable, Mapping, Sequence

from ldhd.bias.task_summary import Group, PartMeans
from ldhd.report.figures.marks import Axis, Figure, Line, Mark, Panel, Style
from ldhd.report.figures.theory import COLORS, GREY

REFERENCES = {"concept": COLORS[0], "fourier": COLORS[1], "suffix": COLORS[2], "embedding": COLORS[3], "answer": GREY}
SHARE = Axis("share of the unseen points", range=(-0.03, 1.03), percent=True)


def figures(found: Sequence[Group]) -> Mapping[str, Figure]:
    """Return the figures that these groups allow, by the names of their files."""
    words = [group for group in found if group.rows[0]["cube"] == "words"]
    steps = [group for group in found if group.rows[0]["cube"] == "steps"]
    plain = [group for group in words if not group.rows[0]["priming"] and group.width is None]
    panels: list[Panel | None] = []
    if plain:
        panels += [_training(group) for group in plain]
    if len({group.rows[0]["priming"] for group in words}) > 1:
        panels.append(_priming([group for group in words if group.width is None]))
    if any(group.width is not None for group in words):
        panels.append(_widths(words))
    if steps:
        panels.append(_degrees(steps))
    if not panels:
        return {}
    columns = min(len(panels), 4)
    rows = -(-len(panels) // columns)
    return {"tasks": Figure(panels, (4.2 * columns, 3.6 * rows), columns=columns)}


def _training(group: Group) -> Panel:
    """The agreement of the first answer token with the references, over training; a thin line for each seed."""
    marks: list[Mark] = []
    for name in ("concept", "fourier", "suffix"):
        color = REFERENCES[name]
        for row in group.rows:
            values = [moment["parts"][0]["compared"][name]["agreement"] for moment in row["path"]]
            marks.append(Line(group.steps, values, Style(color=color, width=0.8, opacity=0.5)))
        mean = [group.at(place)[0].agreement[name] for place in range(len(group.steps))]
        marks.append(Line(group.steps, mean, Style(color=color, marker="circle", size=4), f"as {name}"))
    leaks = [group.at(place)[0].leakage or 0.0 for place in range(len(group.steps))]
    marks.append(Line(group.steps, leaks, Style(color="#222222", dash="dash"), "weight beyond $N_0$"))
    row = group.rows[0]
    return Panel(marks, Axis("steps", scale="log", ticks=group.steps), SHARE, f"{row['task']}, {row['position']}")


def _priming(words: Sequence[Group]) -> Panel:
    """The agreement with the concept beyond N0 against the number of primed words, with that of the interpolator."""
    marks: list[Mark] = []
    positions = dict.fromkeys(group.rows[0]["position"] for group in words)
    for position, color in zip(positions, COLORS, strict=False):
        own = sorted(
            (group for group in words if group.rows[0]["position"] == position),
            key=lambda group: int(group.rows[0]["priming"]),
        )
        if len(own) > 1:
            numbers = [float(group.rows[0]["priming"]) for group in own]
            values = [_beyond(group, lambda part: part.agreement["concept"]) for group in own]
            marks.append(Line(numbers, values, Style(color=color, marker="circle", size=5), position))
            theory = [_theory(group) for group in own]
            label = "Fourier interpolator" if position == next(iter(positions)) else ""
            marks.append(Line(numbers, theory, Style(color="#222222", dash="dash"), label))
    title = "right at the answer tokens beyond $N_0$"
    return Panel(marks, Axis("primed words", scale="symlog"), SHARE, title)


def _widths(words: Sequence[Group]) -> Panel:
    """The leakage and the agreement of the first answer token against the width of the model."""
    marks: list[Mark] = []
    own = sorted((group for group in words if group.width is not None), key=lambda group: group.width or 0)
    widths = [float(group.width or 0) for group in own]
    for name in ("concept", "suffix"):
        values = [group.parts[0].agreement[name] for group in own]
        marks.append(Line(widths, values, Style(color=REFERENCES[name], marker="circle", size=5), f"as {name}"))
    leaks = [group.parts[0].leakage or 0.0 for group in own]
    marks.append(Line(widths, leaks, Style(color="#222222", dash="dash"), "weight beyond $N_0$"))
    title = f"{own[0].rows[0]['task']}, {own[0].rows[0]['position']}"
    return Panel(marks, Axis("width", scale="log", ticks=widths), SHARE, title)


def _degrees(steps: Sequence[Group]) -> Panel:
    """The mean degree of the last answer token by scale; dashed the degree of the right function."""
    marks: list[Mark] = []
    for group, color in zip(steps, COLORS, strict=False):
        scales = [float(place) for place in range(1, len(group.parts) + 1)]
        row = group.rows[0]
        for own in group.rows:
            runs = own["path"][-1]["parts"]
            values = [sum(degree * share for degree, share in enumerate(run["profile"])) for run in runs]
            marks.append(Line(scales, values, Style(color=color, width=0.8, opacity=0.5)))
        means = [part.mean_degree for part in group.parts]
        style = Style(color=color, marker="circle", size=5)
        marks.append(Line(scales, means, style, f"{row['task']}, {row['position']}"))
        right = [float(part.degrees["concept"]) for part in group.parts]
        marks.append(Line(scales, right, Style(color=color, dash="dash", width=1.2)))
    return Panel(marks, Axis("scale"), Axis("mean degree"), "degree of one step (dashed: the right one)")


def _beyond(group: Group, value: Callable[[PartMeans], float]) -> float:
    """The mean over the answer tokens beyond N0."""
    chosen = group.parts[group.rows[0]["train_scale"] :]
    return sum(map(value, chosen)) / len(chosen)


def _theory(group: Group) -> float:
    parts = group.rows[0]["parts"][group.rows[0]["train_scale"] :]
    return sum(part["references"]["fourier"]["agreement"] for part in parts) / len(parts)

"""Budget curves: how far each embedding holds, against the steps or the minutes of training."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from ldhd.experiments.groups import Group
from ldhd.report.figures.marks import Axis, Figure, Line, Mark, Panel
from ldhd.report.look import entitled, look

COLUMNS = 3


def budget_figure(groups: Sequence[Group], minutes: bool = False) -> Figure:
    """The extrapolation factor against training steps, or minutes on one core; a panel for each task.

    Groups of one task and label that differ in their budget make one line; a budget with which most seeds do not fit
    is a cross.
    """
    tasks = list(dict.fromkeys(group.task for group in groups))
    panels = [_panel([group for group in groups if group.task == task], task, minutes) for task in tasks]
    columns = min(COLUMNS, len(panels))
    size = 3.6 * columns + 0.6, 2.6 * -(-len(panels) // columns) + 0.8
    title = f"Extrapolation factor against {'minutes of training on one core' if minutes else 'training steps'}"
    return Figure(panels, size, columns, title, share="y")


def _panel(groups: Sequence[Group], task: str, minutes: bool) -> Panel:
    lines: list[Mark] = []
    for label in dict.fromkeys(group.label for group in groups):
        own = sorted((group for group in groups if group.label == label), key=_steps)
        position = label.split(",")[0]
        style = replace(look(position), marker="")
        spent = _minutes if minutes else _steps
        lines.append(
            Line(
                list(map(spent, own)), [group.factor() for group in own], style, entitled(label, position), group=label
            )
        )
        for fits, marker in ((True, "circle"), (False, "x")):
            some = [group for group in own if group.fits == fits]
            texts = [f"{group.fitted} of {len(group.records)} seeds fit" for group in some]
            dots = replace(style, dash="", marker=marker)
            x, y = list(map(spent, some)), [group.factor() for group in some]
            lines += [Line(x, y, dots, group=label, texts=texts)] if some else []
    label = "minutes on one core" if minutes else "training steps"
    return Panel(lines, Axis(label), Axis("extrapolation factor"), title=task)


def _steps(group: Group) -> float:
    return fmean(record.steps for record in group.records)


def _minutes(group: Group) -> float:
    return fmean(record.seconds for record in group.records) / 60

"""Every figure of the report, by the name of its file."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ldhd.experiments.groups import Group
from ldhd.report.figures.accuracy import accuracy_figure, accuracy_matrix, digit_figure, final_accuracy, scales_beyond
from ldhd.report.figures.errors import carry_panel, error_figure, error_panel
from ldhd.report.figures.growth import case_of, growth_figure
from ldhd.report.figures.learning_curves import learning_curve, learning_curve_figure
from ldhd.report.figures.marks import Figure
from ldhd.report.figures.strings import chosen_traces, string_figure, string_picture
from ldhd.report.look import group_title
from ldhd.report.runs import Runs


def every_figure(
    groups: Sequence[Group], runs: Runs, benchmarks: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, Figure | None]]:
    """Yield the name and the data of each figure, None where there is nothing to show."""
    if len(groups) > 1:
        yield "matrix", accuracy_matrix(groups)
        yield "final", final_accuracy(groups)
    for task in dict.fromkeys(group.task for group in groups):
        own = [group for group in groups if group.task == task]
        name = file_name(task)
        yield f"{name}-accuracy", accuracy_figure(own)
        yield f"{name}-digits", digit_figure(own) if scales_beyond(own[:1]) else None
        yield f"{name}-errors", error_figure(own, error_panel)
        yield f"{name}-carries", error_figure(own, carry_panel)
        for group in own:
            curves = [learning_curve(record, group, runs.metrics(record.hash)) for record in group.records]
            figure = learning_curve_figure(curves, f"{task}, {group_title(group)}")
            yield f"{name}-{file_name(group.label)}-training", figure
        for label, trace in chosen_traces(own, runs):
            figure = string_figure(string_picture(label, trace), f"{task}, {label}")
            yield f"{name}-{file_name(label)}-string", figure
    yield "growth", growth_figure([case_of(case) for benchmark in benchmarks for case in benchmark["cases"]])


def file_name(label: str) -> str:
    """Keep letters, digits and a few signs of a label; dashes stand for the rest."""
    return "-".join("".join(c if c.isalnum() or c in "-+." else " " for c in label).split())

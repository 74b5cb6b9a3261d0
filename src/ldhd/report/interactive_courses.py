"""What seeds did while they trained, and how time grows with length, as plotly's JSON."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ldhd.report.interactive import Figure
from ldhd.report.look import look
from ldhd.report.training import FATES, Course


def training_figure(courses: Sequence[Course]) -> Figure | None:
    """Accuracy, anchor entropy and attention on the weakest needed slot over steps, a line a seed."""
    panels = [
        ("fit", [course.accuracy for course in courses]),
        ("anchor entropy", [course.entropy for course in courses]),
        ("weakest slot", [course.weakest for course in courses]),
    ]
    shown = [panel for panel in panels if any(panel[1])]
    if not shown:
        return None
    data = []
    axis: dict[str, Any] = {"title": {"text": "step"}, "anchor": "y" if len(shown) == 1 else f"y{len(shown)}"}
    layout: Figure = {"xaxis": axis, "height": 70 + 110 * len(shown), "showlegend": False, "margin": {"l": 62, "t": 8}}
    for index, (title, lines) in enumerate(shown):
        number = "" if index == 0 else str(index + 1)
        top = 1 - index / len(shown)
        y_axis = {"title": {"text": title, "font": {"size": 11}}, "domain": [top - 0.86 / len(shown), top], "nticks": 4}
        layout[f"yaxis{number}"] = y_axis | ({"range": [-0.05, 1.05]} if title != "anchor entropy" else {})
        for course, values in zip(courses, lines, strict=True):
            data.append(_course_line(course, values, f"y{number}"))
            if title == "weakest slot":
                data[-1] |= {
                    "text": [escape(slot) for slot in course.weakest_slots],
                    "hovertemplate": "%{text} %{y:.2f}",
                }
    return {"data": data, "layout": layout}


def _course_line(course: Course, values: Sequence[float], axis: str) -> Figure:
    """One quantity of one seed over steps; a click leads to its run."""
    colour, dash = FATES[course.fate]
    return {
        "x": course.steps[: len(values)],
        "y": [round(value, 4) for value in values],
        "yaxis": axis,
        "mode": "lines",
        "name": f"seed {course.record.seed}, {course.fate}",
        "meta": f"run-{course.record.hash}",
        "line": {"color": colour, "dash": dash, "width": 1.4 if course.fate == "right" else 2.2},
    }


def growth_figure(cases: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Time against length from the benchmarks of attention, on logarithmic axes; None without."""
    grown = [case for case in cases if case.get("measure") == "growth" and case.get("n")]
    if not grown:
        return None
    names = list(dict.fromkeys(str(case["case"]).split(", forward")[0] for case in grown))
    data = []
    for name in names:
        points = [case for case in grown if case["case"].split(", forward")[0] == name]
        embedding = name.split()[0]
        variant = [other for other in names if other.split()[0] == embedding].index(name)
        style = look(embedding, variant)
        line = {"width": 1.8, "color": style.colour, "dash": style.dash[1]}
        marker = {"symbol": style.marker[1], "color": style.colour}
        xs, ys = [case["n"] for case in points], [round(case["ratio"], 3) for case in points]
        data.append({"x": xs, "y": ys, "name": escape(name), "mode": "lines+markers", "line": line, "marker": marker})
    lengths = sorted({case["n"] for case in grown})
    x_axis = {"type": "log", "title": {"text": "length n"}, "tickvals": lengths, "ticktext": [str(n) for n in lengths]}
    y_axis = {"type": "log", "title": {"text": f"time for one string, rpe at n = {lengths[0]} as 1"}, "dtick": "D2"}
    return {"data": data, "layout": {"xaxis": x_axis, "yaxis": y_axis, "height": 430}}

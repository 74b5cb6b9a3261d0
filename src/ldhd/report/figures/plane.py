"""Figure 1 of the paper, drawn from samples and fits."""

from ldhd.report.figures.marks import Axis, Figure, Line, Mark, Panel, Style
from ldhd.theory.linear import PLANE_CONCEPT, LinearClassifier, PlaneSetting, plane_settings

ORANGE, BLUE, GREEN, BLACK = "#D55E00", "#0072B2", "#009E73", "#222222"
EDGE = 3.6
MOST_POINTS = 250
"""Test points drawn; errors are over all."""


def plane_figure() -> Figure:
    """Training points (filled) and test points (faint) by label, the concept's boundary and the learned ones."""
    return Figure([_panel(setting) for setting in plane_settings()], (10.2, 4.0), columns=3)


def _panel(setting: PlaneSetting) -> Panel:
    marks: list[Mark] = []
    for kind, points, opacity, size in (
        ("test", setting.test[:MOST_POINTS], 0.22, 3.7),
        ("training", setting.train, 0.9, 3.0),
    ):
        for sign, color, marker in ((1.0, BLUE, "circle"), (-1.0, ORANGE, "triangle-up")):
            x, y = points[PLANE_CONCEPT(points) == sign].T
            label = f"{kind} point" if sign > 0 else ""
            marks.append(Line(x, y, Style(color=color, dash="", marker=marker, size=size, opacity=opacity), label))
    marks.append(_boundary(PLANE_CONCEPT, BLACK, "concept", "solid", 1.6))
    errors = []
    for (name, classifier), color in zip(setting.learned.items(), (ORANGE, GREEN), strict=False):
        marks.append(_boundary(classifier, color, name, "dash", 2.2))
        errors.append(f"{name} {100 * setting.test_error(classifier):.0f} %")
    axis = Axis(range=(-EDGE, EDGE), ticks=[])
    return Panel(marks, axis, axis, f"{setting.title}\ntest error: {', '.join(errors)}")


def _boundary(classifier: LinearClassifier, color: str, label: str, dash: str, width: float) -> Line:
    """The line where w.x + b = 0."""
    (a, b), c = classifier.weights, classifier.offset
    ends, style = (-EDGE, EDGE), Style(color=color, dash=dash, width=width)
    if abs(b) >= abs(a):
        return Line(ends, [-(a * x + c) / b for x in ends], style, label)
    return Line([-(b * y + c) / a for y in ends], ends, style, label)

"""Figure 1, drawn from samples and fits."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ldhd.theory.linear import LinearClassifier
from ldhd.theory.plane import CONCEPT, Setting, settings

ORANGE, BLUE, GREEN, BLACK = "#D55E00", "#0072B2", "#009E73", "#222222"
EDGE = 3.6
SHOWN = 250
"""Test points drawn; errors are over all."""


def plane_figure() -> Figure:
    """Training points (filled) and test points (faint) by label, the concept's boundary and the learned ones."""
    figure = Figure(figsize=(10.2, 4.6), layout="constrained")
    for axes, setting in zip(figure.subplots(1, 3), settings(), strict=True):
        _draw(axes, setting)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, loc="outside lower center", ncols=5, fontsize=9)
    return figure


def _draw(axes: Axes, setting: Setting) -> None:
    for kind, points, alpha, size in (("test", setting.test[:SHOWN], 0.22, 14), ("training", setting.train, 0.9, 9)):
        for label, colour, marker in ((1.0, BLUE, "o"), (-1.0, ORANGE, "^")):
            chosen = points[CONCEPT(points) == label]
            name = f"{kind} point" if label > 0 else None
            axes.scatter(chosen[:, 0], chosen[:, 1], color=colour, marker=marker, lw=0, label=name, alpha=alpha, s=size)
    _line(axes, CONCEPT, color=BLACK, lw=1.6, label="concept")
    errors = []
    for (name, classifier), colour in zip(setting.learned.items(), (ORANGE, GREEN), strict=False):
        _line(axes, classifier, color=colour, lw=2.2, ls="--", label=name)
        errors.append(f"{name} {100 * setting.test_error(classifier):.0f} %")
    axes.set_title(f"{setting.title}\ntest error: {', '.join(errors)}", loc="left", fontsize=10)
    axes.set_xlim(-EDGE, EDGE)
    axes.set_ylim(-EDGE, EDGE)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])


def _line(axes: Axes, classifier: LinearClassifier, **style: Any) -> None:
    """Where w.x + b = 0."""
    (a, b), c = classifier.weights, classifier.offset
    if abs(b) >= abs(a):
        x = np.array([-EDGE, EDGE])
        axes.plot(x, -(a * x + c) / b, **style)
    else:
        y = np.array([-EDGE, EDGE])
        axes.plot(-(b * y + c) / a, y, **style)

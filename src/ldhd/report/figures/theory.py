"""Figures of the theory; each computes what it shows."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ldhd.boolean.basis import FourierBasis
from ldhd.boolean.cube import cube_points, subcube_points
from ldhd.boolean.function import BooleanFunction
from ldhd.boolean.interpolator import degree_profile, min_degree_interpolator
from ldhd.boolean.plaa import GrpeBasis, rpe_matrices
from ldhd.report.figures.marks import Axis, Bars, Figure, HeatMap, Line, Mark, Panel, Style
from ldhd.report.render_matplotlib import save_figure
from ldhd.theory.ape import ape_error, train_ape
from ldhd.theory.feature_kernel import RELU, SHIFTED_SINE
from ldhd.theory.feature_spectrum import retained_share
from ldhd.theory.grpe import grpe_flow, train_grpe
from ldhd.theory.linear import PLANE_CONCEPT, LinearClassifier, PlaneSetting, plane_settings
from ldhd.theory.plaa import low_dimensional_part, q_matrix
from ldhd.theory.priming import PrimingProblem

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#7f7f7f"
COLORS = (BLUE, ORANGE, GREEN, "#CC79A7", "#E69F00", "#56B4E9")
EDGE = 3.6
"""Largest coordinate of the plane of Figure 1."""
MOST_POINTS = 250
"""Test points drawn in the plane; errors are over all."""
DIVERGING = ("#053061", "#4393c3", "#f7f7f7", "#d6604d", "#67001f")


def degree_profiles() -> Figure:
    """The target and the min-degree interpolator on X_3 by degree: the weight of unseen variables moves down."""
    target = BooleanFunction.from_fourier({(1,): 1.0, (2, 3): 0.8, (1, 4): 0.9, (2, 3, 5): 0.7}, dimension=5)
    points = subcube_points(5, 3)
    basis = FourierBasis(5)
    profiles = {
        "target x1 + 0.8 x2x3 + 0.9 x1x4 + 0.7 x2x3x5": degree_profile(target, basis),
        "min-degree interpolator on $X_3$": min_degree_interpolator(points, target(points), basis).degree_profile,
    }
    marks: list[Mark] = []
    for (label, profile), color, shift in zip(profiles.items(), (ORANGE, BLUE), (-0.2, 0.2), strict=True):
        weights = [*reversed(profile)] + [0.0] * (6 - len(profile))
        marks.append(Bars([degree + shift for degree in range(6)], weights, color, label, 0.38))
    return _figure(marks, Axis("degree"), Axis("sum of squared coefficients"), "Degree profiles (Definition 2)")


def leakage() -> Figure:
    """How much of a degree-1 coefficient the infinite-width RFM keeps in place, at fixed N0 and at fixed N - N0."""
    dimensions = np.unique(np.round(np.geomspace(4, 256, 13)).astype(int)).tolist()
    marks: list[Mark] = []
    for activation, color in ((RELU, ORANGE), (SHIFTED_SINE, BLUE)):
        fixed = [retained_share(activation, 1, n, 2) for n in dimensions]
        growing = [retained_share(activation, 1, n, n - 2) for n in dimensions]
        fixed_label, growing_label = f"{activation.name}, $N_0 = 2$", f"{activation.name}, $N_0 = N - 2$"
        marks.append(Line(dimensions, fixed, Style(color=color, marker="circle", size=4), fixed_label))
        marks.append(Line(dimensions, growing, Style(color=color, dash="dash", marker="square", size=4), growing_label))
    x = Axis("$N$", scale="log", ticks=[4, 8, 16, 32, 64, 128, 256])
    return _figure(marks, x, Axis("share kept"), "Leakage of a coefficient of degree 1 (Theorem 2)")


def grpe_dynamics() -> Figure:
    """p_k of gradient descent on the points against the closed form; the diagonals X_N0 does not see stay at 0."""
    U, target, scale, rate, steps = rpe_matrices(6), np.array([1.0, -0.8, 0.6, 0.5, -0.4, 0.3]), 4, 0.05, 1200
    trained = train_grpe(U, target, scale, rate, steps)
    times = rate * np.arange(steps + 1)
    flow = grpe_flow(U, target, scale, times)
    every = steps // 15
    marks: list[Mark] = []
    for k, color in zip(range(GrpeBasis(U).size), COLORS, strict=True):
        dots = Style(color=color, dash="", marker="circle", size=4)
        marks.append(Line(times.tolist(), flow[:, k].tolist(), Style(color=color, width=1.2), f"$p_{k + 1}$"))
        marks.append(Line(times[::every].tolist(), trained[::every, k].tolist(), dots))
    title = "GRPE: closed form (lines), descent (dots), $N = 6$, $N_0 = 4$"
    return _figure(marks, Axis("time (steps times rate)"), Axis("$p_k$"), title)


def ape_errors() -> Figure:
    """The distance to the min-degree interpolator at the end of training, against alpha, and sqrt(N - N0) alpha."""
    N, scale = 5, 3
    factor = np.triu(np.random.default_rng(0).normal(size=(N, N))) + 2 * np.eye(N)
    target = np.triu(factor.T @ factor)
    alphas = np.geomspace(1e-4, 1, 9).tolist()
    measured = [ape_error(train_ape(target, scale, alpha).attention, target, scale) for alpha in alphas]
    marks: list[Mark] = [
        Line(alphas, [np.sqrt(N - scale) * alpha for alpha in alphas], Style(color=GREY), r"$\sqrt{N - N_0}\,\alpha$"),
        Line(alphas, measured, Style(color=BLUE, dash="", marker="circle"), "trained by gradient descent"),
    ]
    x, y = Axis(r"$\alpha$ of the initialisation", scale="log"), Axis("distance in the coefficients", scale="log")
    return _figure(marks, x, y, "APE: error at finite initialisation (Theorem 3)")


def matrices() -> Figure:
    """What the training points weigh (Q), a target A*, and what PLAA with APE learns of it."""
    N, scale = 6, 4
    factor = np.random.default_rng(1).normal(size=(N, N)) + 2 * np.eye(N)
    target = np.triu(factor.T @ factor)
    limit = float(np.abs(target).max())
    shown = [
        (f"$Q$, $N_0 = {scale}$", q_matrix(N, scale), 1.0),
        ("target $A^*$", target, limit),
        ("learned $A$", train_ape(target, scale, 1e-3).attention, limit),
        ("min-degree", low_dimensional_part(target, scale), limit),
    ]
    bare = Axis(ticks=[])
    panels = [Panel([HeatMap(m.tolist(), DIVERGING, -most, most)], bare, bare, title) for title, m, most in shown]
    return Figure(panels, (9.6, 2.8), columns=4)


def priming() -> Figure:
    """The error over X_N of the min-degree interpolator on X_N0 and a few points of X_N, added greedily."""
    linear = BooleanFunction.from_fourier({(1,): 4.0, (2,): 3.0, (3,): 2.0, (4,): 1.0}, dimension=4)
    basis = GrpeBasis(rpe_matrices(4))
    relative = BooleanFunction(basis.combine({1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}, cube_points(4)))
    parity = BooleanFunction.from_fourier({(1, 2, 3): 1.0}, dimension=3)
    cases = {
        "4x1 + 3x2 + 2x3 + x4, Fourier, $N_0 = 1$": (linear, FourierBasis(4), 1, BLUE),
        "all diagonals, RPE, $N_0 = 2$": (relative, basis, 2, GREEN),
        "parity of 3, Fourier, $N_0 = 1$": (parity, FourierBasis(3), 1, ORANGE),
    }
    marks: list[Mark] = []
    for label, (concept, in_basis, scale, color) in cases.items():
        problem = PrimingProblem(concept, in_basis, scale)
        errors = np.array(problem.errors(problem.greedy())) / np.mean(concept.values**2)
        marks.append(Line(range(len(errors)), errors, Style(color=color, marker="circle"), label))
    y = Axis("squared error on $X_N$ over the mean square")
    return _figure(marks, Axis("points of $X_N$ added"), y, "Priming (remark closing Section 3)")


def plane_figure() -> Figure:
    """Figure 1 of the paper: training points (filled), test points (faint), the concept's boundary and learned ones."""
    return Figure([_plane(setting) for setting in plane_settings()], (10.2, 4.0), columns=3)


FIGURES: dict[str, Callable[[], Figure]] = {
    "degree-profiles": degree_profiles,
    "leakage": leakage,
    "grpe-dynamics": grpe_dynamics,
    "ape-error": ape_errors,
    "matrices": matrices,
    "priming": priming,
}
"""By the name of the file that `ldhd verify --figures` writes."""


def draw_theory(folder: Path) -> list[Path]:
    """Draw every figure of the theory as PNG in a folder."""
    return [save_figure(figure(), folder / f"{name}.png", dpi=150) for name, figure in FIGURES.items()]


def _figure(marks: Sequence[Mark], x: Axis, y: Axis, title: str) -> Figure:
    return Figure([Panel(marks, x, y)], (8.0, 4.0), title=title)


def _plane(setting: PlaneSetting) -> Panel:
    marks: list[Mark] = []
    shown = ("test", setting.test[:MOST_POINTS], 0.22, 3.7), ("training", setting.train, 0.9, 3.0)
    for kind, points, opacity, size in shown:
        for sign, color, marker in ((1.0, BLUE, "circle"), (-1.0, ORANGE, "triangle-up")):
            x, y = points[PLANE_CONCEPT(points) == sign].T
            label = f"{kind} point" if sign > 0 else ""
            marks.append(Line(x, y, Style(color=color, dash="", marker=marker, size=size, opacity=opacity), label))
    marks.append(_boundary(PLANE_CONCEPT, "#222222", "concept", "solid", 1.6))
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

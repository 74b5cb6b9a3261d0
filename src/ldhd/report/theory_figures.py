"""Pictures of the theory: each computes what it shows."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ldhd.boolean import (
    BooleanFunction,
    FourierBasis,
    GrpeBasis,
    cube_points,
    degree_profile,
    min_degree_interpolator,
    rpe_matrices,
    subcube_points,
)
from ldhd.report.plot import save_figure
from ldhd.theory.activations import ACTIVATIONS
from ldhd.theory.ape import ape_error, train_ape
from ldhd.theory.feature_spectrum import retained_share
from ldhd.theory.grpe import grpe_flow, train_grpe
from ldhd.theory.plaa import low_dimensional_part, q_matrix
from ldhd.theory.priming import greedy_priming

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"


def degree_profiles(figure: Figure) -> None:
    """The target and the min-degree interpolator on X_3, by degree: what the extra variables carried is moved down."""
    target = BooleanFunction.from_fourier({(1,): 1.0, (2, 3): 0.8, (1, 4): 0.9, (2, 3, 5): 0.7}, dimension=5)
    points = subcube_points(5, 3)
    basis = FourierBasis(5)
    interpolator = min_degree_interpolator(points, target(points), basis)
    axes = figure.subplots()
    degrees = np.arange(6)
    for offset, (label, profile, colour) in enumerate(
        [
            ("target x1 + 0.8 x2x3 + 0.9 x1x4 + 0.7 x2x3x5", degree_profile(target, basis), ORANGE),
            ("min-degree interpolator on $X_3$", interpolator.degree_profile, BLUE),
        ]
    ):
        weights = [*reversed(profile)] + [0.0] * (6 - len(profile))
        axes.bar(degrees + 0.4 * offset - 0.2, weights, width=0.38, color=colour, label=label)
    _label(axes, "degree", "sum of squared coefficients", "Degree profiles (Definition 2)")


def leakage(figure: Figure) -> None:
    """How much of a degree-1 coefficient the infinite-width RFM keeps in place, at fixed N0 and at fixed N - N0."""
    axes = figure.subplots()
    dimensions = np.unique(np.round(np.geomspace(4, 256, 13)).astype(int))
    for name, colour in (("relu", ORANGE), ("sin(1+x)", BLUE)):
        activation = ACTIVATIONS[name]
        fixed = [retained_share(activation, 1, int(n), 2) for n in dimensions]
        growing = [retained_share(activation, 1, int(n), int(n) - 2) for n in dimensions]
        axes.plot(dimensions, fixed, color=colour, marker="o", ms=4, label=f"{activation.name}, $N_0 = 2$")
        label = f"{activation.name}, $N_0 = N - 2$"
        axes.plot(dimensions, growing, color=colour, ls="--", marker="s", ms=4, label=label)
    axes.set_xscale("log", base=2)
    _label(axes, "$N$", "share kept", "Leakage of a coefficient of degree 1 (Theorem 2)")


def grpe_dynamics(figure: Figure) -> None:
    """p_k of gradient descent on the points against the closed form; the diagonals X_N0 does not see stay at 0."""
    U, target, scale, rate, steps = rpe_matrices(6), np.array([1.0, -0.8, 0.6, 0.5, -0.4, 0.3]), 4, 0.05, 1200
    trained = train_grpe(U, target, scale, rate, steps)
    times = rate * np.arange(steps + 1)
    flow = grpe_flow(U, target, scale, times)
    axes = figure.subplots()
    for k in range(GrpeBasis(U).size):
        (line,) = axes.plot(times, flow[:, k], lw=1.2, label=f"$p_{k + 1}$")
        axes.plot(times[:: steps // 15], trained[:: steps // 15, k], "o", ms=4, color=line.get_color())
    _label(axes, "time (steps times rate)", "$p_k$", "GRPE: closed form (lines), descent (dots), $N = 6$, $N_0 = 4$")


def ape_errors(figure: Figure) -> None:
    """The distance to the min-degree interpolator at the end of training, against alpha, and sqrt(N - N0) alpha."""
    N, scale = 5, 3
    factor = np.triu(np.random.default_rng(0).normal(size=(N, N))) + 2 * np.eye(N)
    target = np.triu(factor.T @ factor)
    alphas = np.geomspace(1e-4, 1, 9)
    measured = [ape_error(train_ape(target, scale, float(alpha)).attention, target, scale) for alpha in alphas]
    axes = figure.subplots()
    axes.loglog(alphas, np.sqrt(N - scale) * alphas, color="0.5", label=r"$\sqrt{N - N_0}\,\alpha$")
    axes.loglog(alphas, measured, "o", color=BLUE, label="trained by gradient descent")
    title = "APE: error at finite initialisation (Theorem 3)"
    _label(axes, r"$\alpha$ of the initialisation", "distance in the coefficients", title)


def matrices(figure: Figure) -> None:
    """What the training points weigh (Q), a target A*, and what PLAA with APE learns of it."""
    N, scale = 6, 4
    factor = np.random.default_rng(1).normal(size=(N, N)) + 2 * np.eye(N)
    target = np.triu(factor.T @ factor)
    learned = train_ape(target, scale, 1e-3).attention
    panels = {
        f"$Q$, $N_0 = {scale}$": q_matrix(N, scale),
        "target $A^*$": target,
        "learned $A$": learned,
        "min-degree": low_dimensional_part(target, scale),
    }
    limit = float(np.abs(target).max())
    for axes, (title, matrix) in zip(figure.subplots(1, 4), panels.items(), strict=True):
        bound = limit if matrix.shape == target.shape and not title.startswith("$Q$") else 1.0
        axes.imshow(matrix, cmap="RdBu_r", vmin=-bound, vmax=bound)
        axes.set_title(title, fontsize=10)
        axes.set_xticks([])
        axes.set_yticks([])


def priming(figure: Figure) -> None:
    """The error over X_N of the min-degree interpolator on X_N0 and a few points of X_N, added greedily."""
    axes = figure.subplots()
    linear = BooleanFunction.from_fourier({(1,): 4.0, (2,): 3.0, (3,): 2.0, (4,): 1.0}, dimension=4)
    basis = GrpeBasis(rpe_matrices(4))
    relative = BooleanFunction(basis.combine({1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0}, cube_points(4)))
    parity = BooleanFunction.from_fourier({(1, 2, 3): 1.0}, dimension=3)
    cases = {
        "4x1 + 3x2 + 2x3 + x4, Fourier, $N_0 = 1$": (linear, FourierBasis(4), 1, BLUE),
        "all diagonals, RPE, $N_0 = 2$": (relative, basis, 2, GREEN),
        "parity of 3, Fourier, $N_0 = 1$": (parity, FourierBasis(3), 1, ORANGE),
    }
    for label, (concept, in_basis, scale, colour) in cases.items():
        errors = np.array(greedy_priming(concept, in_basis, scale).errors) / np.mean(concept.values**2)
        axes.plot(range(len(errors)), errors, marker="o", color=colour, label=label)
    y = "squared error on $X_N$ over the mean square"
    _label(axes, "points of $X_N$ added", y, "Priming (remark closing Section 3)")


FIGURES: dict[str, Callable[[Figure], None]] = {
    "degree-profiles": degree_profiles,
    "leakage": leakage,
    "grpe-dynamics": grpe_dynamics,
    "ape-error": ape_errors,
    "matrices": matrices,
    "priming": priming,
}


def draw_theory(folder: Path) -> list[Path]:
    """All pictures of the theory, as PNG in a folder."""
    paths = []
    for name, draw in FIGURES.items():
        figure = Figure(figsize=(9.6, 2.8) if name == "matrices" else (6.4, 4.0), layout="constrained")
        draw(figure)
        paths.append(save_figure(figure, folder / f"{name}.png", dpi=150))
    return paths


def _label(axes: Axes, x: str, y: str, title: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.figure.legend(frameon=False, fontsize=8.5, loc="outside lower center", ncols=2)

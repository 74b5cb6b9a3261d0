"""Theorem 2 checked: where random feature models with projection converge to."""

from math import sqrt
from typing import Any

import numpy as np

from ldhd.boolean import FourierBasis, ProjectionBasis, cube_points, min_degree_interpolator, subcube_points
from ldhd.theory.activations import RELU, SHIFTED_SINE
from ldhd.theory.feature_kernel import feature_kernel, kernel_interpolator
from ldhd.theory.feature_spectrum import closed_form, decay_slope, retained_share
from ldhd.theory.finding import ROUNDING, Finding, fourier_table, judge, largest
from ldhd.theory.random_features import minimum_norm, sample_features
from ldhd.theory.sampling_error import sampling_error

SQUARE_V = np.array([[2, -1, 2], [2, 2, -1], [-1, 2, 2]]) / 3
"""Orthogonal; its three products of two projections are independent on the cube."""


def theorem_2() -> Finding:
    """RFMP -> the min-degree interpolator with respect to B(V): compared with the infinite-width solution."""
    square, leak, sampled = _square_projection(), _leakage(), _sampled_features()
    hadamard = np.array([[1, 1], [1, -1]]) / sqrt(2)
    product = float(np.max(np.abs(np.prod(cube_points(2) @ hadamard, axis=1))))
    reached = max(square["RFMP_to_B(V)_interpolator"], leak["RFM_to_Fourier_interpolator_N=6_N0=3"]) < ROUNDING
    corrected = (
        square["kernel_of_V_minus_kernel_of_I"] < ROUNDING
        and leak["closed_form_minus_kernel_solution"] < ROUNDING
        and leak["share_kept_N-N0=2"]["N=512"] > 0.99
        and sampled["largest_over_bound"] < 1
    )
    return Finding(
        claim="As K, t -> infinity the RFMP converges to the min-degree interpolator with respect to B(V), "
        "which is independent for every V with orthonormal columns.",
        verdict=judge(reached and product > ROUNDING, corrected, amends=False),
        correction="The limit depends on V only through V V^T, so every square V gives the plain RFM, whose limit is "
        "f^(S+U) = g^(S) J_{|S|+|U|} / sum_u C(N-N0,u) J_{|S|+u}; it tends to the Fourier min-degree interpolator as "
        "N -> infinity with N - N0 fixed, not at fixed N0. B(V) can be dependent.",
        evidence={
            "square_V": square,
            "dependent_V": {"V": hadamard.tolist(), "largest_product_of_both_projections_on_the_cube": product},
            "leakage": leak,
            "sampled_features": sampled,
            "decay_slopes_of_J_k": _slopes(),
            "tolerance": ROUNDING,
        },
    )


def _square_projection() -> dict[str, Any]:
    """x_1 x_2 from X_2 to X_3 with a square V that mixes all three variables."""
    points, cube = subcube_points(3, 2), cube_points(3)
    values = points[:, 0] * points[:, 1]
    solution = kernel_interpolator(SHIFTED_SINE, SQUARE_V, points, values)(cube)
    projected = min_degree_interpolator(points, values, ProjectionBasis(SQUARE_V))(cube)
    plain = min_degree_interpolator(points, values, FourierBasis(3))(cube)
    kernels = [feature_kernel(SHIFTED_SINE, V, cube, cube) for V in (SQUARE_V, np.eye(3))]
    return {
        "V": SQUARE_V.tolist(),
        "target": "x1 x2",
        "N": 3,
        "N0": 2,
        "activation": SHIFTED_SINE.name,
        "kernel_of_V_minus_kernel_of_I": largest(kernels[0] - kernels[1]),
        "B(V)_interpolator": fourier_table(projected),
        "Fourier_interpolator": fourier_table(plain),
        "RFMP_limit": fourier_table(solution),
        "RFMP_to_B(V)_interpolator": largest(solution - projected),
        "B(V)_to_Fourier_interpolator_N0=N-1": {f"N={n}": _interpolator_gap(n) for n in (3, 4, 5)},
    }


def _interpolator_gap(dimension: int) -> float:
    """The same with V the identity on variables 3 .. N - 1: the gap between both interpolators does not close."""
    V = np.eye(dimension)
    V[np.ix_([0, 1, -1], [0, 1, -1])] = SQUARE_V
    points = subcube_points(dimension, dimension - 1)
    values = points[:, 0] * points[:, 1]
    bases = (ProjectionBasis(V), FourierBasis(dimension))
    first, second = (min_degree_interpolator(points, values, basis)(cube_points(dimension)) for basis in bases)
    return largest(first - second)


def _leakage() -> dict[str, Any]:
    """What stays of a coefficient of degree 1, and the closed form against the kernel solution."""
    dimension, scale = 6, 3
    values = np.random.default_rng(2).normal(size=2**scale)
    points, cube = subcube_points(dimension, scale), cube_points(dimension)
    solution = kernel_interpolator(SHIFTED_SINE, np.eye(dimension), points, values)(cube)
    interpolator = min_degree_interpolator(points, values, FourierBasis(dimension))(cube)
    sizes = (8, 32, 128, 512)
    return {
        "activation": SHIFTED_SINE.name,
        "closed_form_minus_kernel_solution": largest(closed_form(SHIFTED_SINE, values, dimension).values - solution),
        "RFM_to_Fourier_interpolator_N=6_N0=3": largest(interpolator - solution),
        "share_kept_N0=2": {f"N={n}": retained_share(SHIFTED_SINE, 1, n, 2) for n in sizes},
        "share_kept_N-N0=2": {f"N={n}": retained_share(SHIFTED_SINE, 1, n, n - 2) for n in sizes},
    }


def _sampled_features() -> dict[str, Any]:
    """Root mean square distance on X_N of K-feature models from the kernel solution, against its bound."""
    dimension, scale, repeats = 4, 2, 20
    points, cube, values = subcube_points(dimension, scale), cube_points(dimension), np.array([1.0, -0.5, 2.0, 0.7])
    V, generator = np.eye(dimension), np.random.default_rng(3)
    limit = kernel_interpolator(SHIFTED_SINE, V, points, values)(cube)
    stated = sampling_error(SHIFTED_SINE, V, points, values, cube, generator)
    measured: dict[int, list[float]] = {}
    for count in (2**11, 2**13, 2**15):
        sampled = (sample_features(SHIFTED_SINE, V, count, generator) for _ in range(repeats))
        found = (features(cube) @ minimum_norm(features, points, values) for features in sampled)
        measured[count] = [float(np.sqrt(np.mean((one - limit) ** 2))) for one in found]
    typical = {count: float(np.sqrt(np.mean(np.square(sizes)))) for count, sizes in measured.items()}
    return {
        "measured": {f"K={count}": value for count, value in typical.items()},
        "expected": {f"K={count}": stated.typical(count) for count in measured},
        "bound_95_percent": {f"K={count}": stated.bound(count) for count in measured},
        "largest_over_bound": max(max(sizes) / stated.bound(count) for count, sizes in measured.items()),
        "slope_in_K": float(np.polyfit(np.log(list(typical)), np.log(list(typical.values())), 1)[0]),
    }


def _slopes() -> dict[str, Any]:
    """-k or more up to degree P is what strongly expressive up to P asks."""
    return {a.name: {f"k={k}": decay_slope(a, k, 128) for k in (1, 2, 3, 4)} for a in (RELU, SHIFTED_SINE)}

"""Random feature models checked beyond Theorem 2: Corollary 1, its Lemma, Example 3."""

from fractions import Fraction
from itertools import combinations

import numpy as np

from ldhd.boolean import (
    Basis,
    BooleanFunction,
    FourierBasis,
    ProjectionBasis,
    cube_points,
    min_degree_interpolator,
    subcube_points,
)
from ldhd.theory.activations import RELU, Activation, polynomial
from ldhd.theory.feature_kernel import kernel_interpolator
from ldhd.theory.feature_spectrum import closed_form
from ldhd.theory.finding import ROUNDING, Finding, fourier_table, judge, largest

SMALL_POINTS, SMALL_VALUES = [[1, 1], [-1, 1]], [7, -1]
"""X_1 within {-1, 1}^2 and 4 x_1 + 3 x_2 there."""


def corollary_1() -> Finding:
    """No f with I(f) beyond [N0] is learnt: by the min-degree interpolator, and by the RFM."""
    dimension, scale = 4, 2
    generator = np.random.default_rng(0)
    beyond = [S for size in (1, 2, 3) for S in combinations(range(1, 5), size) if max(S) > scale]
    functions = [BooleanFunction.from_fourier({S: 1.0}, dimension) for S in beyond]
    functions += [BooleanFunction(generator.normal(size=2**dimension)) for _ in range(50)]
    missed = [_interpolator_error(f, scale) for f in functions]
    rfm_missed = [_rfm_error(f, scale) for f in functions]
    leaked = closed_form(RELU, [1.0, -1.0], 2)
    leaked_error = _rfm_error(leaked, 1)
    interpolator_half = min(missed) > ROUNDING
    return Finding(
        claim="If I(f) is not within [N0], neither the min-degree interpolator on X_N0 nor the RFM achieves LDHD "
        "generalization to X_N.",
        verdict=judge(interpolator_half and leaked_error > ROUNDING, interpolator_half, amends=True),
        correction="True of the min-degree interpolator. Of the RFM only where its limit is that interpolator "
        "(N -> infinity with N - N0 fixed): at finite N it learns exactly the functions of its own closed form, "
        "which depend on variables beyond N0.",
        evidence={
            "functions_tried": len(functions),
            "least_error_of_interpolator": min(missed),
            "least_error_of_RFM_on_these": min(rfm_missed),
            "counterexample": {
                "N": 2,
                "N0": 1,
                "activation": RELU.name,
                "fourier": fourier_table(leaked.values),
                "influential": list(leaked.influential),
                "error_of_RFM": leaked_error,
            },
            "tolerance": ROUNDING,
        },
    )


def lemma_sparse_interpolator() -> Finding:
    """The Lemma in the proof of Corollary 1, on random functions."""
    generator = np.random.default_rng(1)
    cases = [(n, n0) for n in (3, 4, 5) for n0 in range(1, n) for _ in range(10)]
    outside = 0
    for dimension, scale in cases:
        points = subcube_points(dimension, scale)
        g = min_degree_interpolator(points, generator.normal(size=2**scale), FourierBasis(dimension))
        found = BooleanFunction(g(cube_points(dimension))).influential
        outside += any(variable > scale for variable in found)
    return Finding(
        claim="The min-degree interpolator on X_N0 depends on x_1 .. x_N0 only.",
        verdict=judge(outside == 0),
        evidence={"functions_tried": len(cases), "depending_on_more": outside},
    )


def example_3() -> Finding:
    """4 x_1 + 3 x_2, N0 = 1, N = 2, in rational arithmetic, and the RFMP itself."""
    long, short = Fraction(4, 5), Fraction(3, 5)
    printed_V, column_V = [[long, short], [short, -long]], [[long], [short]]
    plain = _example_interpolator(FourierBasis(2))
    square = _example_interpolator(ProjectionBasis(np.array(printed_V, object)))
    column = _example_interpolator(ProjectionBasis(np.array(column_V, object)))
    target, constant = {"x1": 4.0, "x2": 3.0}, {"1": 3.0, "x1": 4.0}
    return Finding(
        claim="For 4 x1 + 3 x2 and N0 = 1 the min-degree interpolator is 4 x1, and that with respect to "
        "B(V) for the printed 2 x 2 matrix V is 4 x1 + 3 x2.",
        verdict=judge(
            plain == {"x1": 4.0} and square == target,
            plain == constant and square == constant and column == target,
            amends=False,
        ),
        correction="On X_1 the target is 4 x1 + 3, and that is the min-degree interpolator, in the Fourier basis and "
        "with respect to B(V) for the printed V; with the single column V = (0.8, 0.6)^T it is 4 x1 + 3 x2.",
        evidence={
            "interpolator": plain,
            "interpolator_printed_V": square,
            "interpolator_column_V": column,
            "error_of_4x1_on_X_1": largest(4.0 * np.array(SMALL_POINTS)[:, 0] - SMALL_VALUES),
            "RFMP_limit_relu_printed_V": _example_rfmp(RELU, printed_V),
            "RFMP_limit_relu_column_V": _example_rfmp(RELU, column_V),
            "RFMP_limit_linear_column_V": _example_rfmp(polynomial(1), column_V),
        },
    )


def _interpolator_error(f: BooleanFunction, scale: int) -> float:
    points = subcube_points(f.dimension, scale)
    g = min_degree_interpolator(points, f(points), FourierBasis(f.dimension))
    return largest(g(cube_points(f.dimension)) - f.values)


def _rfm_error(f: BooleanFunction, scale: int) -> float:
    points = subcube_points(f.dimension, scale)
    g = kernel_interpolator(RELU, np.eye(f.dimension), points, f(points))
    return largest(g(cube_points(f.dimension)) - f.values)


def _example_interpolator(basis: Basis) -> dict[str, float]:
    g = min_degree_interpolator(SMALL_POINTS, SMALL_VALUES, basis, exact=True)
    return fourier_table(g(cube_points(2)))


def _example_rfmp(activation: Activation, V: list[list[Fraction]]) -> dict[str, float]:
    solution = kernel_interpolator(activation, np.array(V, float), SMALL_POINTS, SMALL_VALUES)
    return fourier_table(solution(cube_points(2)))

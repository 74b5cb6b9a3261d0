"""The claims about Fourier expansions, degree profiles and interpolators: Definitions 2 and 3, Appendix A."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldhd.boolean.basis import Basis, Expansion, FourierBasis
from ldhd.boolean.cube import Points, cube_points, subcube_points
from ldhd.boolean.function import BooleanFunction
from ldhd.boolean.interpolator import degree_profile, min_degree_interpolator
from ldhd.boolean.plaa import GrpeBasis, PlaaBasis, rpe_matrices
from ldhd.boolean.rational import identity, pivots, to_fractions
from ldhd.boolean.transform import fourier, inverse_fourier
from ldhd.theory.finding import Finding, judge, largest

DIMENSION, TRAINING_SCALE = 3, 2


def definition_2() -> Finding:
    """Profiles of random functions, and of the same functions plus 1, under the order of (D+1)- and of D-tuples."""
    generator = np.random.default_rng(0)
    basis = FourierBasis(DIMENSION)
    ties = differing = 0
    for _ in range(20):
        f = BooleanFunction(to_fractions(generator.integers(-3, 4, size=2**DIMENSION)))
        first, second = (degree_profile(BooleanFunction(f.values + shift), basis, exact=True) for shift in (0, 1))
        differing += first != second
        ties += first != second and first[:-1] == second[:-1]
    f = BooleanFunction.from_fourier({(1,): 1.0}, DIMENSION)
    length = len(degree_profile(f, basis))
    return Finding(
        "The degree profile w.r.t. B is a (D+1)-tuple of sums of squared coefficients, degree D first, and profiles "
        "are ordered as the corresponding D-tuples.",
        judge(ties == 0, length == basis.largest_degree + 1 and differing > 0, amends=True),
        "The order is on (D+1)-tuples: as D-tuples, functions that differ by a constant tie although their profiles "
        "differ.",
        {
            "largest_degree": basis.largest_degree,
            "profile_length": length,
            "pairs_with_different_profiles": differing,
            "of_these_equal_as_d_tuples": ties,
            "profile_of_x1": list(degree_profile(f, basis)),
            "profile_of_x1_plus_1": list(degree_profile(BooleanFunction(f.values + 1), basis)),
        },
    )


def definition_3() -> Finding:
    """Interpolators on X_2 of {-1, 1}^3 among all functions and within the span of three bases."""
    points = subcube_points(DIMENSION, TRAINING_SCALE)
    bases = {
        "fourier": FourierBasis(DIMENSION),
        "plaa": PlaaBasis(DIMENSION),
        "rpe": GrpeBasis(rpe_matrices(DIMENSION)),
    }
    evidence = {name: _interpolators(basis) for name, basis in bases.items()}
    printed = all(entry["interpolators_outside_the_span"] == 0 for entry in evidence.values())
    unique = all(entry["others_with_a_profile_not_larger"] == 0 for entry in evidence.values())
    return Finding(
        "The min-degree interpolator w.r.t. B is the interpolator of least profile among all functions that equal c on "
        "X'.",
        judge(printed, unique, amends=True),
        "The interpolators must be restricted to span(B), since other functions have no profile w.r.t. B. If c equals "
        "an element of the span on X' there is exactly one such interpolator, otherwise none.",
        {
            **evidence,
            "constant_1_has_an_interpolator_in_the_span_of_plaa": _has_interpolator(
                points, [1] * len(points), bases["plaa"]
            ),
        },
    )


def appendix_a_fourier() -> Finding:
    """Orthonormality, expansion and Parseval for random functions on {-1, 1}^n, n = 1 .. 8."""
    generator = np.random.default_rng(0)
    tolerance = 1e-12
    errors: dict[str, float] = {}
    for n in range(1, 9):
        values = generator.normal(size=2**n)
        characters = FourierBasis(n).evaluate(cube_points(n), list(FourierBasis(n).keys()))
        norm = float(np.mean(values**2))
        profile = degree_profile(BooleanFunction(values), FourierBasis(n))
        found = {
            "largest_error_of_the_gram_matrix": largest(characters.T @ characters / 2**n - np.eye(2**n)),
            "largest_error_of_the_expansion": largest(inverse_fourier(fourier(values)) - values),
            "largest_relative_error_of_parseval": abs(float(np.sum(fourier(values) ** 2)) / norm - 1),
            "largest_relative_error_of_the_profile_sum": abs(sum(profile) / norm - 1),
        }
        errors = {name: max(error, errors.get(name, 0.0)) for name, error in found.items()}
    return Finding(
        "Every f on {-1, 1}^n is the sum of f^(T) chi_T(x) over T within [n], and the chi_T are an orthonormal basis "
        "for <f, g> = E f(x) g(x), so that the entries of the degree profile add up to E f^2.",
        judge(max(errors.values()) <= tolerance),
        evidence={"tolerance": tolerance, **errors, "lower_profile_with_more_variables": _more_variables()},
    )


def _interpolators(basis: Basis) -> dict[str, Any]:
    """How many dimensions of interpolators there are, and whether the solver's is the least."""
    points = subcube_points(DIMENSION, TRAINING_SCALE)
    keys = list(basis.keys())
    matrix = basis.evaluate(points, keys, exact=True)
    null_vectors = pivots(matrix.T, identity(len(keys)))[2]
    generator = np.random.default_rng(0)
    values = matrix @ to_fractions(generator.integers(-3, 4, size=len(keys)))
    solved = min_degree_interpolator(points, values, basis, exact=True)
    solution = np.array([solved[key] for key in keys], object)
    others = solution + _combinations(null_vectors, generator)
    expansions = [Expansion(basis, dict(zip(keys, other, strict=True)), exact=True) for other in others]
    least, profiles = solved.degree_profile, [expansion.degree_profile for expansion in expansions]
    everything = 2**DIMENSION - len(points)
    # Interpolators with random values outside X'.
    extensions = [np.append(values, to_fractions(generator.integers(-3, 4, size=everything))) for _ in range(20)]
    return {
        "dimension_of_all_interpolators": everything,
        "dimension_within_the_span": len(null_vectors),
        "interpolators_outside_the_span": sum(
            not _has_interpolator(cube_points(DIMENSION), extension, basis) for extension in extensions
        ),
        "others_tried": len(others),
        "others_with_a_profile_not_larger": sum(profile <= least for profile in profiles),
        "others_not_larger_as_d_tuples": sum(profile[:-1] <= least[:-1] for profile in profiles),
    }


def _combinations(null_vectors: NDArray[Any], generator: np.random.Generator) -> NDArray[Any]:
    """Nonzero rational combinations of the null vectors, large and small: what other interpolators add."""
    if not len(null_vectors):
        return to_fractions(np.zeros((0, null_vectors.shape[1]), int))
    drawn = generator.integers(-3, 4, size=(50, len(null_vectors)))
    factors = to_fractions(drawn[np.any(drawn, axis=1)])
    return np.concatenate([factors @ null_vectors, factors @ null_vectors * Fraction(1, 1000)])


def _has_interpolator(points: Points, values: Any, basis: Basis) -> bool:
    try:
        min_degree_interpolator(points, values, basis, exact=True)
    except ValueError:
        return False
    return True


def _more_variables() -> dict[str, Any]:
    """A lower profile need not mean fewer variables: x_1 x_2 + x_3 x_4 against 2 x_1 x_2."""
    more = BooleanFunction.from_fourier({(1, 2): 1.0, (3, 4): 1.0}, 4)
    fewer = BooleanFunction.from_fourier({(1, 2): 2.0}, 4)
    profiles = [list(degree_profile(f, FourierBasis(4))) for f in (more, fewer)]
    return {
        "functions": ["x1 x2 + x3 x4", "2 x1 x2"],
        "profiles": profiles,
        "first_is_lower": profiles[0] < profiles[1],
        "variables": [len(more.influential), len(fewer.influential)],
    }

"""How few added points suffice: the search against exhaustive trial and against what theory says."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldhd.boolean import BooleanFunction, FourierBasis, GrpeBasis, rpe_matrices
from ldhd.theory.priming import PrimingProblem


def linear(coefficients):
    return BooleanFunction.of(lambda x: x @ np.array(coefficients, float), len(coefficients))


def combination(basis, coefficients):
    return BooleanFunction.of(lambda x: basis.evaluate(x, list(basis.keys())) @ coefficients, basis.dimension)


@given(st.lists(st.integers(-2, 2), min_size=8, max_size=8).filter(any), st.integers(0, 2))
@settings(max_examples=15)
def test_fewest_against_every_subset(values, training_scale):
    problem = PrimingProblem(BooleanFunction(np.array(values, float)), FourierBasis(3), training_scale)
    sizes = range(len(problem.candidates) + 1)
    exhaustive = next(k for k in sizes if any(problem.suffices(set_) for set_ in combinations(problem.candidates, k)))
    assert len(problem.fewest()) == exhaustive
    assert len(problem.greedy()) >= exhaustive


@given(st.integers(0, 2**12 - 1), st.integers(0, 2**12 - 1), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_more_points_still_suffice(some, more, seed):
    generator = np.random.default_rng(seed)
    concept = linear(generator.integers(-2, 3, size=4))
    problem = PrimingProblem(concept, FourierBasis(4), 2)
    small = [point for k, point in enumerate(problem.candidates) if some >> k & 1]
    large = [point for k, point in enumerate(problem.candidates) if (some | more) >> k & 1]
    assert not problem.suffices(small) or problem.suffices(large)


@given(st.lists(st.integers(-2, 2), min_size=4, max_size=4), st.integers(1, 3))
@settings(max_examples=12)
def test_rpe_needs_one_point_for_each_new_diagonal_in_use(coefficients, training_scale):
    basis = GrpeBasis(rpe_matrices(4))
    weights = dict(enumerate(coefficients, start=1))
    concept = combination(basis, np.array([weights[key] for key in basis.keys()], float))  # noqa: SIM118
    expected = sum(weights[k] != 0 for k in range(training_scale + 1, 5))
    assert len(PrimingProblem(concept, basis, training_scale).fewest()) == expected


@pytest.mark.parametrize(
    ("coefficients", "needed"),
    [
        ([4, 0, 0, 0], 0),
        ([4, 3, 3, 3], 1),
        ([4, 3, 0, 3], 1),
        ([4, 3, 5, 8], 2),
        ([4, 3, 5, 7], 3),
    ],
)
def test_linear_concepts_in_the_fourier_basis(coefficients, needed):
    """As many 0/1 vectors as it takes to combine the new coefficients: 3, 5, 8 is two, 3, 5, 7 is three."""
    problem = PrimingProblem(linear(coefficients), FourierBasis(4), 1)
    found = problem.fewest()
    assert len(found) == needed
    *errors, last = problem.errors(found)
    assert last == 0.0
    assert all(error > 0 for error in errors)


def test_a_sum_of_numbers_needs_one_point_for_each_new_digit():
    """x + y in binary, two bits a digit: from one digit to three."""
    concept = BooleanFunction.of(lambda x: ((1 - x) / 2) @ np.array([1.0, 1, 2, 2, 4, 4]), 6)
    problem = PrimingProblem(concept, FourierBasis(6), 2)
    first, second, third = problem.errors(problem.fewest())
    assert first > second > third == 0.0


def test_parity_needs_every_point():
    concept = BooleanFunction.from_fourier({(1, 2, 3, 4): 1.0}, 4)
    problem = PrimingProblem(concept, FourierBasis(4), 2)
    errors = problem.errors(problem.fewest())
    assert len(errors) == 13
    assert errors[0] == pytest.approx(2.0)
    assert min(errors[:-1]) >= 2.0 - 1e-9


def test_errors_along_a_given_order():
    """4 x_1 + 3 x_2 from X_1: the missing term is 3 (1 - x_2), squared 36 on half of the cube."""
    problem = PrimingProblem(linear([4, 3]), FourierBasis(2), 1)
    assert problem.errors([3]) == [pytest.approx(18.0), 0.0]
    assert problem.errors([]) == [pytest.approx(18.0)]


def test_priming_points_lie_outside_what_is_known():
    found = PrimingProblem(linear([4, 3, 5]), FourierBasis(3), 1).fewest()
    assert found
    assert min(found) >= 2

"""Theorem 1 by enumeration: against the closed form, and against the condition it needs."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldhd.boolean import cube_points
from ldhd.theory import no_free_lunch
from ldhd.theory.error import squared_loss, zero_one_loss
from ldhd.theory.no_free_lunch import (
    FiniteProblem,
    check_all_pairs,
    enumerated_sum,
    has_constant_row_sums,
    uniform_problem,
)


@st.composite
def problems(draw):
    size = draw(st.integers(1, 3))
    known = draw(st.integers(0, size - 1))
    labels = tuple(range(draw(st.integers(2, 3))))
    table = {(y, other): draw(st.integers(-2, 2)) for y in labels for other in labels}
    parts = [draw(st.integers(1, 5)) for _ in range(size)]
    weights = tuple(Fraction(part, sum(parts)) for part in parts)
    return FiniteProblem(tuple(range(size)), frozenset(range(known)), labels, lambda y, z: table[y, z], weights)


@given(problems())
@settings(max_examples=60)
def test_the_theorem_holds_exactly_where_the_row_sums_are_constant(problem):
    check = check_all_pairs(problem)
    assert check.holds == has_constant_row_sums(problem)
    assert (check.counterexample is None) == check.holds


def closed_form_sum(problem, concept):
    """S(c) by the formula of the proof."""
    weight = dict(zip(problem.points, problem.weights, strict=True))
    inside = sum(weight[x] * problem.losses[concept[x], concept[x]] for x in problem.known)
    outside = sum(weight[x] * problem.row_sums[concept[x]] for x in problem.unknown)
    count = len(problem.labels)
    return count ** len(problem.unknown) * inside + count ** (len(problem.unknown) - 1) * outside


@given(problems(), st.data())
def test_enumeration_agrees_with_the_closed_form(problem, data):
    concept = {x: data.draw(st.sampled_from(problem.labels)) for x in problem.points}
    assert enumerated_sum(problem, concept) == closed_form_sum(problem, concept)


def test_enumeration_agrees_with_the_definition():
    """Every f written out, for one unknown point."""
    problem = FiniteProblem(("a", "b"), frozenset({"a"}), (0, 1, 2), squared_loss, (Fraction(1, 3), Fraction(2, 3)))
    expected = sum(Fraction(1, 3) * 0 + Fraction(2, 3) * (2 - y) ** 2 for y in (0, 1, 2))
    assert enumerated_sum(problem, {"a": 1, "b": 2}) == expected


@pytest.mark.parametrize("labels", [(-1, 1), (0, 1, 2)])
def test_zero_one_loss_on_the_cube(labels):
    points = [tuple(row) for row in cube_points(2).tolist()]
    check = check_all_pairs(uniform_problem(points, points[:2], labels, zero_one_loss))
    k = len(labels)
    # k^2 restrictions to the two known points, and pairs among k^2 concepts for each.
    assert check.holds
    assert check.pairs == k**2 * (k**2 * (k**2 - 1) // 2)


def test_squared_loss_on_three_labels_fails_with_a_counterexample():
    points = [tuple(row) for row in cube_points(2).tolist()]
    problem = uniform_problem(points, points[:2], (-1, 0, 1), squared_loss)
    assert problem.row_sums == {-1: 5, 0: 2, 1: 5}
    first, second, first_sum, second_sum = check_all_pairs(problem).counterexample
    assert first_sum != second_sum
    assert (enumerated_sum(problem, first), enumerated_sum(problem, second)) == (first_sum, second_sum)
    assert all(first[x] == second[x] for x in points[:2])


@pytest.mark.parametrize(
    ("known", "labels", "weights", "message"),
    [
        ({"c"}, (0, 1), (Fraction(1, 2), Fraction(1, 2)), "'c' is no point of X_N"),
        ({"a", "b"}, (0, 1), (Fraction(1, 2), Fraction(1, 2)), "proper subset"),
        ({"a"}, (0, 0), (Fraction(1, 2), Fraction(1, 2)), "0 is given twice"),
        ({"a"}, (), (Fraction(1, 2), Fraction(1, 2)), "no labels"),
        ({"a"}, (0, 1), (Fraction(1, 2),), "got 1 for 2 points"),
        ({"a"}, (0, 1), (Fraction(1), Fraction(0)), "positive.*got 0"),
        ({"a"}, (0, 1), (Fraction(1, 2), Fraction(1, 3)), "add up to 1, got 0.83"),
    ],
)
def test_bad_problems_are_refused(known, labels, weights, message):
    with pytest.raises(ValueError, match=message):
        FiniteProblem(("a", "b"), frozenset(known), labels, zero_one_loss, weights)


def test_large_enumerations_are_refused_before_they_start():
    problem = uniform_problem(range(30), range(3), (0, 1), zero_one_loss)
    with pytest.raises(ValueError, match=f"more than {no_free_lunch.LARGEST_ENUMERATION}"):
        check_all_pairs(problem)

"""Theorem 1 by enumeration: against the closed form, and against the condition it needs."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldhd.boolean import cube_points
from ldhd.theory.no_free_lunch import FiniteProblem, compare_all_pairs

CUBE = [tuple(row) for row in cube_points(2).tolist()]


def squared_loss(label, prediction):
    return (label - prediction) ** 2


def on_the_cube(labels, loss):
    return FiniteProblem(dict.fromkeys(CUBE, Fraction(1, 4)), frozenset(CUBE[:2]), labels, loss)


@st.composite
def problems(draw):
    size = draw(st.integers(1, 3))
    known = draw(st.integers(0, size - 1))
    labels = tuple(range(draw(st.integers(2, 3))))
    table = {(y, other): draw(st.integers(-2, 2)) for y in labels for other in labels}
    parts = [draw(st.integers(1, 5)) for _ in range(size)]
    weights = {x: Fraction(part, sum(parts)) for x, part in enumerate(parts)}
    return FiniteProblem(weights, frozenset(range(known)), labels, lambda y, z: table[y, z])


@given(problems())
@settings(max_examples=60)
def test_the_theorem_holds_exactly_where_the_row_sums_are_constant(problem):
    holds = all(one_sum == other_sum for _, _, one_sum, other_sum in compare_all_pairs(problem))
    assert holds == (len(set(problem.row_sums.values())) == 1)


def closed_form_sum(problem, concept):
    """S(c) by the formula of the proof."""
    unknown = problem.weights.keys() - problem.known
    inside = sum(problem.weights[x] * problem.loss(concept[x], concept[x]) for x in problem.known)
    outside = sum(problem.weights[x] * problem.row_sums[concept[x]] for x in unknown)
    count = len(problem.labels)
    return count ** len(unknown) * inside + count ** (len(unknown) - 1) * outside


@given(problems(), st.data())
def test_enumeration_agrees_with_the_closed_form(problem, data):
    concept = {x: data.draw(st.sampled_from(problem.labels)) for x in problem.weights}
    assert problem.summed_loss(concept) == closed_form_sum(problem, concept)


def test_enumeration_agrees_with_the_definition():
    """Every f written out, for one unknown point."""
    problem = FiniteProblem({"a": Fraction(1, 3), "b": Fraction(2, 3)}, frozenset({"a"}), (0, 1, 2), squared_loss)
    expected = sum(Fraction(1, 3) * 0 + Fraction(2, 3) * (2 - y) ** 2 for y in (0, 1, 2))
    assert problem.summed_loss({"a": 1, "b": 2}) == expected


@pytest.mark.parametrize("labels", [(-1, 1), (0, 1, 2)])
def test_zero_one_loss_on_the_cube(labels):
    pairs = compare_all_pairs(on_the_cube(labels, lambda y, z: y != z))
    k = len(labels)
    # k^2 restrictions to the two known points, and pairs among k^2 concepts for each.
    assert len(pairs) == k**2 * (k**2 * (k**2 - 1) // 2)
    assert all(one_sum == other_sum for _, _, one_sum, other_sum in pairs)


def test_squared_loss_on_three_labels_fails_with_a_counterexample():
    problem = on_the_cube((-1, 0, 1), squared_loss)
    assert problem.row_sums == {-1: 5, 0: 2, 1: 5}
    first, second, first_sum, second_sum = next(pair for pair in compare_all_pairs(problem) if pair[2] != pair[3])
    assert (problem.summed_loss(first), problem.summed_loss(second)) == (first_sum, second_sum)
    assert all(first[x] == second[x] for x in CUBE[:2])

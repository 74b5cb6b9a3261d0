"""Recurrences with and without their state in the latent space."""

import numpy as np
import pytest

from ldhd.boolean import cube_points
from ldhd.theory.chain_of_thought import (
    CARRY,
    PARITY,
    final_state_error,
    learn_final_state,
    shared_step_error,
    sum_digit_degrees,
)


def bits(points):
    return (1 - points.astype(int)) // 2


@pytest.mark.parametrize("scale", [1, 2, 5, 8])
def test_parity_has_degree_n_against_2(scale):
    assert PARITY.degrees(scale) == (scale, 2)


@pytest.mark.parametrize("scale", [1, 2, 4])
def test_the_carry_has_degree_2n_against_3(scale):
    assert CARRY.degrees(scale) == (2 * scale, 3)


@pytest.mark.parametrize("scale", [2, 3, 5])
def test_a_digit_of_a_sum_has_degree_2n_against_5(scale):
    assert sum_digit_degrees(scale) == (2 * scale, 5)


def test_the_carry_is_that_of_binary_addition():
    points = cube_points(6)
    x, y = (bits(points[:, side::2]) @ [1, 2, 4] for side in (0, 1))
    assert np.array_equal(bits(CARRY.states(points))[:, -1], (x + y) // 8)
    assert np.array_equal(bits(CARRY.states(points))[:, 0], (x % 2 + y % 2) // 2)


@pytest.mark.parametrize("recurrence", [PARITY, CARRY], ids=["parity", "carry"])
def test_no_shortcut_through_other_variables_is_simpler(recurrence):
    """Of the functions of x_1 .. x_n, s_1 .. s_{n-1} that are right on what occurs, the step has the least degree."""
    degree = recurrence.degrees(4)[1]
    lowest = tuple(reversed(learn_final_state(recurrence, 4, 4, with_chain=True).degree_profile))
    assert sum(lowest[: degree + 1]) == pytest.approx(1.0)
    assert lowest[degree] > 0.2


@pytest.mark.parametrize("recurrence", [PARITY, CARRY], ids=["parity", "carry"])
def test_a_shared_step_extrapolates_and_nothing_else_does(recurrence):
    assert shared_step_error(recurrence, 2, 4) == 0.0
    assert final_state_error(recurrence, 2, 4, with_chain=False) > 0.3
    assert final_state_error(recurrence, 2, 4, with_chain=True) > 0.3


@pytest.mark.parametrize("recurrence", [PARITY, CARRY], ids=["parity", "carry"])
def test_all_learners_are_right_where_they_were_trained(recurrence):
    assert shared_step_error(recurrence, 3, 3) == 0.0
    assert final_state_error(recurrence, 3, 3, with_chain=False) == 0.0
    assert final_state_error(recurrence, 3, 3, with_chain=True) == 0.0


def test_one_step_shows_only_half_of_the_step_function():
    """At scale 1 the state before the step is always 1."""
    assert shared_step_error(PARITY, 1, 3) > 0

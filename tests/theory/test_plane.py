"""Figure 1: what the three settings must show."""

import numpy as np

from ldhd.theory.plane import CONCEPT, settings


def test_the_learner_is_least_squares_on_the_sample():
    for setting in settings():
        learned = setting.learned["learned"]
        columns = np.column_stack([setting.train, np.ones(len(setting.train))])
        solution = np.append(learned.weights, learned.offset)
        # the normal equations of the sample
        assert np.allclose(columns.T @ columns @ solution, columns.T @ CONCEPT(setting.train), atol=1e-9)


def test_a_dimension_without_data_gets_no_weight_and_costs_accuracy():
    same, shifted, lifted = settings()
    assert np.all(lifted.train[:, 1] == 0)
    assert lifted.learned["learned"].weights[1] == 0
    errors = [setting.test_error(setting.learned["learned"]) for setting in (same, shifted, lifted)]
    assert errors[0] < 0.05
    assert errors[2] > 4 * max(errors[:2])


def test_who_knows_the_direction_finds_the_concept_from_the_line_alone():
    lifted = settings()[2]
    known = lifted.learned["with $w_0$ known"]
    assert np.array_equal(known.weights, CONCEPT.weights)
    assert lifted.test_error(known) < 0.02

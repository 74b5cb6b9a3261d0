"""The linear class of Section 3: knowing w_0 carries over to more dimensions, not knowing it does not."""

import numpy as np
import pytest

from ldhd.theory.linear import (
    PLANE_CONCEPT,
    LinearClassifier,
    fixed_direction_learner,
    free_direction_learner,
    linear_error,
    plane_settings,
)

CONCEPT = LinearClassifier(np.array([0.5, 0.5, 0.5, 0.5]), 0.3)


def test_knowing_w0_is_enough():
    few, many = (linear_error(fixed_direction_learner(CONCEPT.weights), CONCEPT, 2, m) for m in (4, 200))
    assert many.high < few.low
    assert many.high <= 0.02


def test_not_knowing_w0_leaves_an_error_however_many_samples():
    few, many = (linear_error(free_direction_learner, CONCEPT, 2, m) for m in (50, 400))
    assert few.low > 0.15
    assert many.low > 0.15


def test_the_error_floor_is_the_angle():
    """Half spaces at angle t differ with probability t / pi; w_0 and its visible half are at 45 degrees."""
    concept = LinearClassifier(CONCEPT.weights, 0.0)
    result = linear_error(free_direction_learner, concept, 2, 400, draws=4000)
    assert result.low - 0.01 < 0.25 < result.high + 0.01


def test_nothing_beyond_the_training_space_gets_weight():
    points = np.pad(np.random.default_rng(0).normal(size=(30, 2)), ((0, 0), (0, 3)))
    learned = free_direction_learner(points, np.sign(points[:, 0]))
    assert np.allclose(learned.weights[2:], 0)
    assert not np.any(points[:, 2:])


def test_two_concepts_alike_in_training_cannot_both_be_learned():
    """Whatever is learned, the errors on both add up to the probability that they differ."""
    mirrored = LinearClassifier(CONCEPT.weights * [1, 1, -1, -1], 0.3)
    points = np.pad(np.random.default_rng(0).normal(size=(100, 2)), ((0, 0), (0, 2)))
    assert np.array_equal(CONCEPT(points), mirrored(points))
    difference = linear_error(lambda points, labels: mirrored, CONCEPT, 2, 0)
    both = [linear_error(free_direction_learner, concept, 2, 100) for concept in (CONCEPT, mirrored)]
    assert difference.low > 0.4
    assert sum(result.high for result in both) >= difference.low


def test_a_direction_that_vanishes_in_training_shows_no_offset():
    concept = LinearClassifier(np.array([0.0, 0.0, 0.6, 0.8]), 0.3)
    assert linear_error(fixed_direction_learner(concept.weights), concept, 2, 200).low > 0.05


@pytest.mark.parametrize(
    ("points", "labels", "offset"),
    [
        ([[1.0], [3.0]], [-1.0, 1.0], -2.0),
        ([[1.0], [3.0]], [1.0, 1.0], -1.0),
        ([[1.0], [3.0]], [-1.0, -1.0], -3.0),
        (np.zeros((0, 1)), [], 0.0),
    ],
)
def test_the_offset_lies_between_the_labels(points, labels, offset):
    learned = fixed_direction_learner(np.ones(1))(np.array(points), np.array(labels))
    assert learned.offset == offset


class TestPlane:
    """Figure 1: what the three settings must show."""

    def test_the_learner_is_least_squares_on_the_sample(self):
        for setting in plane_settings():
            learned = setting.learned["learned"]
            columns = np.column_stack([setting.train, np.ones(len(setting.train))])
            solution = np.append(learned.weights, learned.offset)
            # the normal equations of the sample
            assert np.allclose(columns.T @ columns @ solution, columns.T @ PLANE_CONCEPT(setting.train), atol=1e-9)

    def test_a_dimension_without_data_gets_no_weight_and_costs_accuracy(self):
        same, shifted, lifted = plane_settings()
        assert np.all(lifted.train[:, 1] == 0)
        assert lifted.learned["learned"].weights[1] == 0
        errors = [setting.test_error(setting.learned["learned"]) for setting in (same, shifted, lifted)]
        assert errors[0] < 0.05
        assert errors[2] > 4 * max(errors[:2])

    def test_who_knows_the_direction_finds_the_concept_from_the_line_alone(self):
        lifted = plane_settings()[2]
        known = lifted.learned["with $w_0$ known"]
        assert np.array_equal(known.weights, PLANE_CONCEPT.weights)
        assert lifted.test_error(known) < 0.02

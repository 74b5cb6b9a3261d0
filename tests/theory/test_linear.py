"""The linear class of Section 3: knowing w_0 carries over to more dimensions, not knowing it does not."""

import numpy as np
import pytest

from ldhd.theory.linear import (
    GaussianSubspace,
    LinearClassifier,
    fixed_direction_learner,
    free_direction_learner,
    linear_error,
)

CONCEPT = LinearClassifier(np.array([0.5, 0.5, 0.5, 0.5]), 0.3)


def test_knowing_w0_is_enough():
    few, many = (linear_error(fixed_direction_learner(CONCEPT.weights), CONCEPT, 2, m) for m in (4, 200))
    assert many.high < few.low
    assert many.achieves(0.02)


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
    points = GaussianSubspace(5, 2).sample(np.random.default_rng(0), 30)
    learned = free_direction_learner(points, np.sign(points[:, 0]))
    assert np.allclose(learned.weights[2:], 0)
    assert not np.any(points[:, 2:])


def test_two_concepts_alike_in_training_cannot_both_be_learned():
    """Whatever is learned, the errors on both add up to the probability that they differ."""
    mirrored = LinearClassifier(CONCEPT.weights * [1, 1, -1, -1], 0.3)
    points = GaussianSubspace(4, 2).sample(np.random.default_rng(0), 100)
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
    learned = fixed_direction_learner([1.0])(np.array(points), np.array(labels))
    assert learned.offset == offset


@pytest.mark.parametrize("weights", [[0.0, 0.0], [[1.0]], [np.nan, 1.0]])
def test_bad_directions_are_refused(weights):
    with pytest.raises(ValueError, match="w_0 is a vector of finite numbers"):
        fixed_direction_learner(weights)


@pytest.mark.parametrize("free", [0, 4])
def test_bad_subspaces_are_refused(free):
    with pytest.raises(ValueError, match=f"got {free}"):
        GaussianSubspace(3, free)

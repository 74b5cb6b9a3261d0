"""The error of Definition 1: exact values worked out by hand, estimates against them."""

import numpy as np
import pytest

from ldhd.boolean import BooleanFunction, FourierBasis, cube_points, min_degree_interpolator, subcube_points
from ldhd.theory.error import estimate_error, exact_error

TRAINING, TEST = subcube_points(2, 1), cube_points(2)


def learner(points, labels):
    return min_degree_interpolator(points, labels, FourierBasis(2))


def always_one(points, labels):
    return lambda test: np.ones(len(test))


def draw(points, count):
    return lambda generator: generator.choice(points, count)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_exact_error_by_hand(m):
    """x_1 is found unless all m points are the same; then the interpolator is a constant, wrong on half of X_2."""
    concept = BooleanFunction.from_fourier({(1,): 1.0}, 2)
    assert exact_error(learner, concept, TRAINING, TEST, m) == pytest.approx(2 * 0.5**m * 0.5)


def test_what_was_not_seen_is_not_learned():
    """On X_1 the target 4 x_1 + 3 x_2 is 4 x_1 + 3: wrong where x_2 = -1.

    If all points of the sample are the same, the constant 7 or -1 is learned, which is right at one point of four.
    """
    concept = BooleanFunction.from_fourier({(1,): 4.0, (2,): 3.0}, 2)
    assert exact_error(learner, concept, TRAINING, TEST, 4) == pytest.approx(7 / 8 * 1 / 2 + 1 / 8 * 3 / 4)


@pytest.mark.parametrize("test", [lambda generator: TEST, draw(TEST, 1)], ids=["all of D_2", "one point"])
def test_estimates_cover_the_exact_error(test):
    concept = BooleanFunction.from_fourier({(1,): 1.0, (2,): 1.0}, 2)
    exact = exact_error(learner, concept, TRAINING, TEST, 2)
    covered = 0
    for seed in range(10):
        estimate = estimate_error(learner, concept, draw(TRAINING, 2), test, draws=200, confidence=0.99, seed=seed)
        assert estimate.low <= estimate.value <= estimate.high
        covered += estimate.low <= exact <= estimate.high
    assert covered >= 9


def test_estimates_repeat_with_their_seed():
    concept = BooleanFunction.from_fourier({(1,): 1.0}, 2)
    first, again, other = (
        estimate_error(learner, concept, draw(TRAINING, 2), draw(TEST, 1), draws=50, seed=seed) for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


def test_no_error_seen_is_not_no_error():
    """All draws are zero: the interval still has the width that so few draws deserve."""
    result = estimate_error(always_one, lambda points: np.ones(len(points)), draw(TRAINING, 1), draw(TEST, 1), draws=10)
    assert (result.value, result.low) == (0.0, 0.0)
    assert 0.2 < result.high < 0.4


def test_no_sample_at_all():
    """(X x Y)^* contains the empty word."""
    assert exact_error(always_one, lambda points: points[:, 0], TRAINING, TEST, 0) == 0.5

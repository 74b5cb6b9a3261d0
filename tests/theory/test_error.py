"""The error of Definition 1: exact values worked out by hand, estimates against them."""

from dataclasses import dataclass

import numpy as np
import pytest

from ldhd.boolean import BooleanFunction, FourierBasis, cube_points, subcube_points
from ldhd.theory.error import (
    FiniteDistribution,
    LdhdError,
    ldhd_error,
    min_degree_learner,
    squared_loss,
    uniform,
)


@dataclass(frozen=True)
class OnlySampled:
    source: FiniteDistribution

    def sample(self, generator, count):
        return self.source.sample(generator, count)


TRAINING, TEST = uniform(subcube_points(2, 1)), uniform(cube_points(2))
LEARNER = min_degree_learner(FourierBasis(2))


def constant(value):
    return lambda points, labels: lambda test: np.full(len(test), value)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_exact_error_by_hand(m):
    """x_1 is found unless all m points are the same; then the interpolator is a constant, wrong on half of X_2."""
    result = ldhd_error(LEARNER, BooleanFunction.from_fourier({(1,): 1.0}, 2), TRAINING, TEST, m)
    assert result.exact
    assert result.value == result.low == result.high == pytest.approx(2 * 0.5**m * 0.5)


def test_what_was_not_seen_is_not_learned():
    """On X_1 the target 4 x_1 + 3 x_2 is 4 x_1 + 3, so the difference is 3 (1 - x_2), squared 36 on half of X_2.

    If all points of the sample are the same, the constant 7 or -1 is learned: squared error 74 or 26 on average.
    """
    concept = BooleanFunction.from_fourier({(1,): 4.0, (2,): 3.0}, 2)
    result = ldhd_error(LEARNER, concept, TRAINING, TEST, 4, squared_loss, bound=200.0)
    assert result.exact
    assert result.value == pytest.approx(7 / 8 * 18 + 1 / 8 * (74 + 26) / 2)


def test_weights_count():
    """The learner repeats the only label it saw; the concept is 1 where D_1 puts 3/4 of its mass."""
    points = np.array([[1.0], [-1.0]])
    D1, D2 = FiniteDistribution(points, np.array([0.75, 0.25])), FiniteDistribution(points, np.array([0.1, 0.9]))
    repeat = lambda points, labels: lambda test: np.full(len(test), labels[0])  # noqa: E731
    result = ldhd_error(repeat, lambda points: points[:, 0], D1, D2, 1)
    assert result.value == pytest.approx(0.75 * 0.9 + 0.25 * 0.1)


@pytest.mark.parametrize("finite_test", [True, False])
def test_estimates_cover_the_exact_error(finite_test):
    concept = BooleanFunction.from_fourier({(1,): 1.0, (2,): 1.0}, 2)
    exact = ldhd_error(LEARNER, concept, TRAINING, TEST, 2)
    D2 = TEST if finite_test else OnlySampled(TEST)
    covered = 0
    for seed in range(10):
        estimate = ldhd_error(LEARNER, concept, OnlySampled(TRAINING), D2, 2, draws=200, confidence=0.99, seed=seed)
        assert not estimate.exact
        assert estimate.low <= estimate.value <= estimate.high
        covered += estimate.low <= exact.value <= estimate.high
    assert covered >= 9


def test_estimates_repeat_with_their_seed():
    concept = BooleanFunction.from_fourier({(1,): 1.0}, 2)
    first, again, other = (
        ldhd_error(LEARNER, concept, OnlySampled(TRAINING), TEST, 2, draws=50, seed=seed) for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


def test_no_error_seen_is_not_no_error():
    """All draws are zero: the interval still has the width that so few draws deserve."""
    result = ldhd_error(constant(1.0), lambda points: np.ones(len(points)), OnlySampled(TRAINING), TEST, 1, draws=10)
    assert (result.value, result.low) == (0.0, 0.0)
    assert 0.2 < result.high < 0.4


def test_too_many_samples_are_estimated():
    result = ldhd_error(LEARNER, BooleanFunction.from_fourier({(1,): 1.0}, 2), TRAINING, TEST, 1000, draws=20)
    assert not result.exact


def test_no_sample_at_all():
    """(X x Y)^* contains the empty word."""
    result = ldhd_error(constant(1.0), lambda points: points[:, 0], TRAINING, TEST, 0)
    assert result.exact
    assert result.value == 0.5


def test_achieved():
    assert LdhdError(0.1, 0.1, 0.1, exact=True).achieves(0.1) is True
    assert LdhdError(0.1, 0.1, 0.1, exact=True).achieves(0.09) is False
    assert LdhdError(0.1, 0.05, 0.2, exact=False).achieves(0.1) is None
    assert LdhdError(0.1, 0.05, 0.2, exact=False).achieves(0.2) is True


@pytest.mark.parametrize(
    ("points", "weights", "message"),
    [
        (np.zeros((0, 2)), np.zeros(0), "k >= 1"),
        (np.zeros(3), np.zeros(3), r"shape \(3,\)"),
        (np.zeros((2, 1)), np.ones(3) / 3, r"shape \(3,\) for 2"),
        (np.zeros((2, 1)), np.array([1.0, 0.0]), "positive, got 0.0"),
        (np.zeros((2, 1)), np.array([0.5, 0.6]), "add up to 1, got 1.1"),
    ],
)
def test_bad_distributions_are_refused(points, weights, message):
    with pytest.raises(ValueError, match=message):
        FiniteDistribution(points, weights)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"m": -1}, "got -1"),
        ({"m": 1, "draws": 0}, "at least one draw, got 0"),
        ({"m": 1, "confidence": 1.0}, "between 0 and 1, got 1.0"),
        ({"m": 1, "loss": squared_loss}, "between 0 and the bound 1.0, got 4.0"),
    ],
)
def test_bad_questions_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ldhd_error(constant(1.0), lambda points: -np.ones(len(points)), OnlySampled(TRAINING), TEST, **options)

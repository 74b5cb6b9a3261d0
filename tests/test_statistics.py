"""Statistics against scipy and by hand."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ldhd.statistics import mean_interval, paired, wilson

shares = st.lists(st.floats(0, 1), min_size=2, max_size=12)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"), [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (15, 50, 0.1910, 0.4375)]
)
def test_wilson_interval(successes, n, low, high):
    assert wilson(successes, n) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize("n", [10, 50, 200, 500, 1000])
def test_wilson_holds_the_share_itself(n):
    for successes in (0, n // 3, n):
        low, high = wilson(successes, n)
        assert 0 <= low <= successes / n <= high <= 1


def test_wilson_without_data_knows_nothing():
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(1, 400), st.floats(0, 1), st.sampled_from([0.5, 0.95, 0.999]))
def test_wilson_is_scipys(n, share, confidence):
    successes = round(share * n)
    expected = stats.binomtest(successes, n).proportion_ci(confidence, method="wilson")
    assert wilson(successes, n, confidence) == (pytest.approx(expected.low), pytest.approx(expected.high))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=4))
def test_interval_of_the_mean_is_that_of_all_resamples(values):
    """Few values have so few resamples that all can be listed."""
    found = mean_interval(values)
    means = sorted(sum(chosen) / len(values) for chosen in itertools.product(values, repeat=len(values)))
    assert found.value == pytest.approx(sum(values) / len(values))
    for bound, lowest, highest in ((found.low, 0.01, 0.04), (found.high, 0.96, 0.99)):
        first, last = (means[min(int(share * len(means)), len(means) - 1)] for share in (lowest, highest))
        assert first - 1e-9 <= bound <= last + 1e-9 or bound == found.value


@given(shares)
def test_interval_of_shares_stays_within_the_values_and_holds_the_mean(values):
    found = mean_interval(values)
    assert min(values) - 1e-12 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= max(values) + 1e-12
    assert mean_interval(values) == found


def test_values_that_are_all_equal_have_no_width():
    assert (mean_interval([1.0] * 5).low, mean_interval([1.0] * 5).high) == (1.0, 1.0)


def test_one_seed_has_no_interval_and_none_is_refused():
    assert (mean_interval([0.7]).low, mean_interval([0.7]).high, mean_interval([0.7]).n) == (None, None, 1)
    with pytest.raises(ValueError, match="no values"):
        mean_interval([])


@given(st.integers(0, 30), st.integers(0, 30))
def test_sign_test_is_scipys_binomial_test(wins, losses):
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    differences = dict(enumerate([1.0] * wins + [-1.0] * losses + [0.0]))
    assert paired(differences, dict.fromkeys(differences, 0.0)).p == pytest.approx(expected)


def test_the_interval_of_a_success_rate_is_scipys_wilson():
    expected = stats.binomtest(4, 5).proportion_ci(method="wilson")
    assert wilson(4, 5) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_pairs_are_the_common_seeds():
    found = paired({0: 1.0, 1: 0.9, 2: 0.5, 7: 0.0}, {0: 0.5, 1: 0.9, 2: 0.1, 3: 1.0})
    assert found.seeds == (0, 1, 2)
    assert found.difference.value == pytest.approx(0.3)
    assert (found.wins, found.losses, found.p) == (2, 0, 0.5)
    assert paired({0: 1.0}, {1: 1.0}) is None

"""Statistics against scipy and by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ldhd.report.statistics import mean_interval, paired, sign_test, success_rate, t_probability, t_quantile

shares = st.lists(st.floats(0, 1), min_size=2, max_size=12)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 9, 10, 29, 100, 999])
def test_students_t_is_scipys(degrees):
    for t in (0.0, 0.3, 1.0, 2.5, 12.0):
        assert t_probability(t, degrees) == pytest.approx(stats.t.cdf(t, degrees), abs=1e-12)
    for share in (0.5, 0.9, 0.975, 0.995):
        assert t_quantile(share, degrees) == pytest.approx(stats.t.ppf(share, degrees), abs=1e-9)


@given(shares)
def test_interval_of_the_mean_is_scipys(values):
    found = mean_interval(values, -math.inf, math.inf)
    assert found.value == pytest.approx(sum(values) / len(values))
    spread = stats.sem(values)
    if spread > 1e-12:
        low, high = stats.t.interval(0.95, len(values) - 1, loc=found.value, scale=spread)
        assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


@given(shares)
def test_interval_of_shares_stays_within_0_and_1_and_holds_the_mean(values):
    found = mean_interval(values)
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1


def test_one_seed_has_no_interval_and_none_is_refused():
    assert (mean_interval([0.7]).low, mean_interval([0.7]).high, mean_interval([0.7]).n) == (None, None, 1)
    with pytest.raises(ValueError, match="no values"):
        mean_interval([])


@given(st.integers(0, 30), st.integers(0, 30))
def test_sign_test_is_scipys_binomial_test(wins, losses):
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_test(wins, losses) == pytest.approx(expected)


def test_success_rate_is_scipys_wilson():
    share = success_rate([True, True, True, False, True])
    expected = stats.binomtest(4, 5).proportion_ci(method="wilson")
    assert (share.successes, share.n) == (4, 5)
    assert (share.low, share.high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_pairs_are_the_common_seeds():
    found = paired({0: 1.0, 1: 0.9, 2: 0.5, 7: 0.0}, {0: 0.5, 1: 0.9, 2: 0.1, 3: 1.0})
    assert found.seeds == (0, 1, 2)
    assert found.difference.value == pytest.approx(0.3)
    assert (found.wins, found.losses, found.p) == (2, 0, 0.5)
    assert paired({0: 1.0}, {1: 1.0}) is None

"""Average runtimes and their ratios, on hits whose truth is known."""

from math import inf, isnan

import numpy as np
import pytest

from thalweg_studies.bbob.record import LADDER
from thalweg_studies.bbob.runtime import Ratio, Runtimes, geometric_mean, hardest, interval, ratio

RUNGS = len(LADDER)


def runs(hits, end=1000.0):
    """Runs that reach every target after the same number of evaluations."""
    hits = np.asarray(hits, float)
    return Runtimes(np.repeat(hits[:, None], RUNGS, 1), np.where(np.isfinite(hits), hits, end))


def test_failures_cost_their_evaluations():
    """100 + 300 evaluations of successes and 2 x 1000 of failures, for 2 successes."""
    found = runs([100, inf, 300, inf])
    assert found.art(0) == (100 + 300 + 2 * 1000) / 2
    assert found.reached(0) == 2
    assert runs([inf, inf]).art(0) == inf


def test_only_evaluations_until_the_target_count():
    early = Runtimes(np.full((2, RUNGS), 10.0), np.array([500.0, 900.0]))
    assert early.art(7) == 10.0


def test_a_constant_factor_is_found_without_doubt():
    hits = np.random.default_rng(1).lognormal(5, 1, 15)
    found = ratio(runs(0.5 * hits), runs(hits), 3, function=8)
    assert found.value == pytest.approx(0.5)
    assert found.interval == pytest.approx((0.5, 0.5))


def test_the_interval_covers_the_truth():
    """Independent runtimes with a true ratio of 0.8: the interval holds it in about 95% of the experiments."""
    rng = np.random.default_rng(2)
    covered = []
    for _ in range(200):
        above, below = (runs(factor * rng.gamma(8, 100, 15)) for factor in (0.8, 1.0))
        low, high = ratio(above, below, 0, function=1).interval
        covered.append(low <= 0.8 <= high)
    assert 0.87 <= np.mean(covered) <= 0.99


def test_who_never_reaches_the_target():
    never, always = runs([inf] * 5), runs([10.0] * 5)
    assert ratio(never, always, 0, 1).value == inf
    assert ratio(always, never, 0, 1).value == 0.0
    nothing = ratio(never, never, 0, 1)
    assert isnan(nothing.value)
    assert all(map(isnan, nothing.interval))


def test_an_end_of_the_interval_may_be_infinite():
    """One success in ten: more than a third of the resamples have none."""
    low, high = ratio(runs([100.0] + [inf] * 9), runs([100.0] * 10), 0, 1).interval
    assert 1 <= low < high == inf


def test_instances_must_be_paired():
    with pytest.raises(ValueError, match="same instances, got 3 and 2"):
        ratio(runs([1.0] * 3), runs([1.0] * 2), 0, 1)


def ladder_runs(*reached):
    """A run that reaches as many targets as it says, each after 10 more evaluations."""
    hits = np.array([[10.0 * (i + 1) if i < n else inf for i in range(RUNGS)] for n in reached])
    return Runtimes(hits, np.full(len(reached), 2000.0))


def test_the_hardest_target_that_both_solve():
    method, baseline = ladder_runs(51, 40, 45, 51), ladder_runs(51, 51, 51, 30)
    everywhere = hardest(method, baseline, 1)
    assert (everywhere.target, everywhere.everywhere) == (LADDER[29], True)
    assert everywhere.ratio.value == 1.0
    half = hardest(method, baseline, 1, share=0.5)
    assert half.target == LADDER[50]
    # 2 and 3 of 4 runs reach it, after 510 evaluations; the others spend 2000
    assert half.ratio.value == pytest.approx(((2 * 510 + 2 * 2000) / 2) / ((3 * 510 + 2000) / 3))


def test_the_hardest_target_that_both_reach_at_all_is_marked():
    found = hardest(ladder_runs(0, 20), ladder_runs(10, 0), 1)
    assert (found.target, found.everywhere) == (LADDER[9], False)
    assert hardest(ladder_runs(0, 20), ladder_runs(0, 0), 1) is None


def test_geometric_mean_over_functions():
    usual = [Ratio(value, (value, value), np.full(100, value)) for value in (0.5, 2.0, 1.0)]
    odd = [Ratio(value, (value, value), np.full(100, value)) for value in (0.0, inf, np.nan)]
    value, ends, count = geometric_mean([*usual, *odd])
    assert (value, count) == (pytest.approx(1.0), 3)
    assert ends == pytest.approx((1.0, 1.0))
    assert geometric_mean(odd)[2] == 0


def test_the_mean_of_functions_is_surer_than_one_of_them():
    rng = np.random.default_rng(3)
    each = [ratio(runs(rng.gamma(4, 100, 15)), runs(rng.gamma(4, 100, 15)), 0, function) for function in range(1, 17)]
    width = np.median([np.log(one.interval[1] / one.interval[0]) for one in each])
    _, (low, high), _ = geometric_mean(each)
    assert np.log(high / low) == pytest.approx(width / 4, rel=0.25)


def test_interval_without_draws():
    assert all(map(isnan, interval(np.array([np.nan]))))

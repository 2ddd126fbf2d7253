"""Tests of reevaluate: the answer under noise is the average of new evaluations."""

import concurrent.futures as futures

import numpy as np
import pytest
from scipy.optimize import OptimizeResult

from thalweg.search.reevaluate import Estimate, reevaluate

MEAN, BEST = np.zeros(2), np.ones(2)


def found(**changed):
    return OptimizeResult({"x": BEST, "fun": -9.0, "mean": MEAN, "nfev": 100, "failures": 1, "message": "Done.", **changed})


def offset(x):
    """0 at the mean and 2 at the point with the best value."""
    return float(x @ x)


class Noisy:
    """Values with noise of their own, and a count of the calls at each point."""

    def __init__(self, gain=1.0, strength=1.0):
        self.rng, self.gain, self.strength, self.calls = np.random.default_rng(0), gain, strength, []

    def __call__(self, x):
        self.calls.append(tuple(x))
        return self.gain * offset(x) + self.strength * self.rng.normal()


def test_the_mean_is_the_answer_with_its_average_and_standard_error():
    fun, result = Noisy(), found()
    again = reevaluate(result, fun, times=40)
    assert again.x.tolist() == [0, 0]
    assert fun.calls.count((0, 0)) == fun.calls.count((1, 1)) == 40
    values = again.estimates["mean"].values
    assert again.fun == pytest.approx(values.mean(), rel=1e-14)
    assert again.fun_error == pytest.approx(np.std(values, ddof=1) / np.sqrt(40), rel=1e-12)
    assert again.estimates["best"].fun == pytest.approx(2, abs=4 * again.estimates["best"].error)
    assert (again.nfev, again.failures) == (180, 1)
    assert again.message == "Done. x is the mean of the search distribution, and fun the average of 40 new evaluations there."
    assert isinstance(again, OptimizeResult)
    assert result == found()  # as it was


@pytest.mark.parametrize(
    ("gain", "strength", "answer"),
    [
        (-1.0, 0.0, "best"),  # without noise any difference counts
        (-1e-9, 0.0, "best"),
        (0.0, 0.0, "mean"),
        (-0.02, 1.0, "mean"),  # a difference that noise can make says nothing
        (-1.0, 1.0, "best"),
    ],
)
def test_the_best_value_seen_must_be_better_by_more_than_chance(gain, strength, answer):
    again = reevaluate(found(), Noisy(gain, strength))
    assert again.x.tolist() == {"mean": MEAN, "best": BEST}[answer].tolist()
    assert again.fun == again.estimates[answer].fun


def test_failures_are_counted_and_not_averaged():
    values = iter([1.0, 0.0, None, 0.0, 3.0, 0.0, np.nan, 0.0])
    again = reevaluate(found(), lambda x: next(values), times=4)
    mean = again.estimates["mean"]
    np.testing.assert_array_equal(mean.values, [1, np.nan, 3, np.nan])
    assert (mean.fun, mean.error) == (2, 1)
    assert again.failures == 2  # one before, and None; NaN is a value that ranks last
    one = Estimate(MEAN, np.array([1.0, np.nan]))
    assert (one.fun, one.error) == (1, np.inf)
    lost = Estimate(MEAN, np.array([1.0, np.inf]))
    assert (lost.fun, lost.error) == (np.inf, np.inf)
    only_best = reevaluate(found(), lambda x: offset(x) or None, times=2)
    assert only_best.x.tolist() == [1, 1]


def test_executors_maps_and_whole_batches_give_the_same():
    with futures.ThreadPoolExecutor(2) as pool:
        ways = [{}, {"workers": pool}, {"workers": map}, {"vectorized": True}]
        funs = [offset, offset, offset, lambda X: (X**2).sum(1)]
        seen = [reevaluate(found(), fun, times=3, **way) for fun, way in zip(funs, ways, strict=True)]
    assert {(again.fun, again.fun_error, again.nfev) for again in seen} == {(0.0, 0.0, 106)}
    assert reevaluate(found(), lambda x, a: offset(x) + a, times=2, args=(3.0,)).fun == 3


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((found(), offset, 1), ValueError, "times"),
        ((found(), 3), TypeError, "fun must be callable"),
        ((OptimizeResult(x=BEST, fun=0.0), offset), ValueError, "one of thalweg's"),
    ],
)
def test_mistakes_are_named(arguments, error, says):
    with pytest.raises(error, match=says):
        reevaluate(*arguments)

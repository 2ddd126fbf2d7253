"""Restarts: growing populations, two regimes, fresh starts, one budget, the best of all."""

import itertools

import numpy as np
import pytest

from thalweg.search.campaign import Best, Campaign
from thalweg.search.minimize import minimize
from thalweg.space import SpaceMap, make_space


def rastrigin(x):
    return float(10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * np.pi * x)))


def run(fun=rastrigin, **more):
    seen = []
    settings = {"method": "cma", "popsize": 4, "seed": 6, "callback": seen.append, "options": {"tolfun": 1e-6}}
    return minimize(fun, [3.0, 3.0], 0.3, **{**settings, **more}), seen


def test_population_doubles_and_everything_is_counted():
    result, seen = run(restarts=2)
    assert result.restarts == 2
    assert [step.popsize for step, later in itertools.pairwise(seen) if later.popsize != step.popsize] == [4, 8]
    assert result.popsize == 16
    evaluations = [step.nfev for step in seen]
    assert np.array_equal(np.diff([0, *evaluations]), [step.popsize for step in seen])
    assert result.nfev == evaluations[-1]
    assert result.nit == len(seen)
    assert result.fun == min(step.fun for step in seen)
    assert rastrigin(result.x) == result.fun
    assert "Best of 3 runs." in result.message
    assert result.seed == 6


def test_best_never_gets_worse_over_restarts():
    _, seen = run(restarts=3)
    assert np.all(np.diff([step.fun for step in seen]) <= 0)


def test_budget_is_shared():
    result, _ = run(restarts=50, max_evals=900)
    assert 900 <= result.nfev < 900 + result.popsize
    assert result.stop.keys() & {"max_evals"}
    assert "max_evals = 900" in result.message
    result, seen = run(restarts=50, max_iter=70)
    assert result.nit == len(seen) == 70


def test_the_target_ends_all():
    result, _ = run(restarts=9, bounds=(-5, 5), ftarget=1e-6, max_evals=50000)
    assert result.stop.keys() == {"ftarget"}
    assert result.success
    assert 0 < result.restarts < 9


def test_success_is_that_of_the_run_with_the_best_point():
    calls = []

    def fun(x):
        calls.append(0)
        return float(np.sum(x**2)) if len(calls) < 1000 else 7.0 + float(np.sum(x**2))

    result, _ = run(fun, restarts=9, max_evals=1100)
    assert "max_evals" in result.stop
    assert result.restarts >= 1
    assert result.success  # the best point is that of a run that converged


def test_callback_ends_all():
    def callback(result):
        if result.restarts == 1:
            raise StopIteration

    result, _ = run(restarts=5, callback=callback)
    assert result.restarts == 1
    assert "callback" in result.stop


def after(campaign, taken):
    return campaign.after(taken, 1, 0, Best(np.zeros(2), 1.0, 1), success=False)


def starts(campaign, evaluations, x0=(0.0, 0.0), space=SpaceMap()):  # noqa: B008
    """The runs that begin when those before took so many evaluations, and whether they are large."""
    for taken in evaluations:
        yield campaign.large, campaign.start(x0, space)
        campaign = after(campaign, taken)


def test_fresh_starts_where_the_box_is_closed():
    box = make_space([(-5, 5), (None, 5), (0, None)], 3)
    x0 = np.array([1.0, 2.0, 3.0])

    def begun(seed=1, space=box):
        return [start for _, start in starts(Campaign(4, 0.5, seed), [100] * 4, x0, space)]

    first, *later = begun()
    assert first.x0.tolist() == x0.tolist()
    assert (first.popsize, first.seed) == (4, 1)
    assert [start.popsize for start in later] == [8, 16, 32]
    assert len({start.seed for start in later}) == 3
    assert len({start.x0[0] for start in later}) == 3
    for start in later:
        assert -5 <= start.x0[0] <= 5
        assert start.x0[1:].tolist() == [2.0, 3.0]
        assert (start.sigma0, start.max_evals) == (0.5, None)
    assert begun(space=SpaceMap())[1].x0.tolist() == x0.tolist()
    assert [start.seed for start in begun()] == [start.seed for start in [first, *later]]
    assert begun(seed=2)[1].seed != later[0].seed


def test_a_callable_draws_every_start():
    drawn = [start.x0 for _, start in starts(Campaign(4, 1.0, 3), [9] * 3, lambda draw: draw.uniform(1, 2, 2))]
    assert len({float(x[0]) for x in drawn}) == 3
    assert all(np.all((x >= 1) & (x <= 2)) for x in drawn)
    seen = []
    minimize(
        lambda x: seen.append(x) or float(x @ x), lambda draw: draw.uniform(1e6, 2e6, 2), 1.0, method="cma", seed=1, max_evals=6
    )
    assert np.all(np.array(seen) > 9e5)


def test_bipop_takes_the_regime_that_has_taken_less():
    """After each run, the next one belongs to the regime with fewer evaluations; the first run counts as a small one."""
    evaluations = np.random.default_rng(0).integers(100, 3000, 60).tolist()
    spent = {False: 0, True: 0}
    regimes = []
    for run, ((large, _), taken) in enumerate(
        zip(starts(Campaign(6, 2.0, 1, bipop=True), evaluations), evaluations, strict=True)
    ):
        assert large == (run > 0 and spent[False] >= max(1, spent[True]))
        regimes.append(large)
        spent[large] += taken
    assert regimes[:2] == [False, True]
    assert 0.4 < spent[True] / sum(evaluations) < 0.6


def test_bipop_runs():
    """Hansen 2009: large runs double; small ones have populations up to half the last large one, steps down to a hundredth, and
    at most half of its evaluations."""
    campaign, larges, smalls, last = Campaign(6, 2.0, 1, bipop=True), [], [], None
    for _ in range(200):
        start, taken = campaign.start([0.0, 0.0], SpaceMap()), 4001 if campaign.large else 200
        if campaign.large:
            larges.append(start)
            last = start
            assert (start.sigma0, start.max_evals) == (2.0, None)
        elif last is not None:
            smalls.append((start, last.popsize))
            assert start.max_evals == 2000
        campaign = after(campaign, taken)
    assert [start.popsize for start in larges] == [6 * 2**k for k in range(1, len(larges) + 1)]
    assert len(larges) > 5
    grid = {round(6 * 2 ** (k / 2)) for k in range(40)}
    for start, size in smalls:
        assert 6 <= start.popsize <= size / 2
        assert start.popsize in grid
        assert 0.02 <= start.sigma0 <= 2.0
    exponents = np.log10([start.sigma0 / 2 for start, _ in smalls])
    assert abs(exponents.mean() + 1) < 0.2  # uniform on (-2, 0): five standard errors
    # U^2 is below 1/4 half of the time; the median of the exponent of the population says so
    shares = [np.log(start.popsize / 6) / np.log(size / 12) for start, size in smalls if size >= 96]
    assert 0.1 < np.median(shares) < 0.4


def test_bipop_in_minimize():
    result, seen = run(restarts=2, bipop=True, bounds=(-5, 5), max_evals=40000)
    sizes = [size for size, _ in itertools.groupby((step.restarts, step.popsize) for step in seen)]
    assert [size for _, size in sizes][:2] == [4, 8]
    assert max(size for _, size in sizes) == sizes[-1][1] == 16  # nothing follows the last large restart
    assert sum(size == 16 for _, size in sizes) == 1
    assert result.restarts == len(sizes) - 1 > 2
    assert result.nfev == seen[-1].nfev


def test_bipop_needs_restarts():
    with pytest.raises(ValueError, match="bipop=True needs restarts"):
        run(bipop=True)
    with pytest.raises(TypeError, match="bipop"):
        run(bipop=3, restarts=1)


def test_deterministic():
    one, other = run(restarts=2, bounds=(-5, 5))[0], run(restarts=2, bounds=(-5, 5))[0]
    assert np.array_equal(one.x, other.x)
    assert one.nfev == other.nfev


def test_an_objective_that_always_fails_raises_in_the_first_run():
    with pytest.raises(RuntimeError, match="all 4 evaluations"):
        run(lambda x: 1 / 0, restarts=3)

"""The demonstration compares like with like, and shows what it says."""

from threading import active_count

import numpy as np
import pytest

from thalweg.batch.run_many import run_many
from thalweg.cli.demo_runs import AFFINE, ARMS, BENT, FIRST_SEED, STRAIGHT, Setting
from thalweg.objectives import make_problems
from thalweg.strategies.registry import make_strategy
from thalweg_studies import demo

SMALL = Setting(seeds=2, dimension=2, max_evals=700, target=1e-2, snapshots=2, popsize_2d=20, generations_2d=4)


def test_an_arm_is_the_method_from_the_demonstrations_seeds():
    """The same as `run_many` on the same landscapes, generation by generation, standing still from the target on."""
    seeds = range(FIRST_SEED, FIRST_SEED + 2)
    fun, landscapes = make_problems("rosenbrock", 2, seeds)
    strategy = make_strategy("cma", popsize=20)
    expected = run_many(strategy, fun, np.zeros(2), seeds=seeds, generations=35, args=(landscapes,), ftarget=SMALL.target)
    runs = demo.compare(SMALL, STRAIGHT)
    np.testing.assert_array_equal(runs.evaluations, expected.evaluations)
    np.testing.assert_allclose(runs.best, expected.best, rtol=1e-9)
    np.testing.assert_allclose(runs.x, expected.x, rtol=1e-9)
    assert np.all(runs.fun <= SMALL.target)


def test_all_arms_begin_with_the_same_points_and_all_work_is_reported():
    done = dict.fromkeys([*(arm.name for arm in ARMS), demo.SEARCH], 0)

    def report(name: str, steps: int, note: str) -> None:
        done[name] += steps
        assert note == "compiling" or note.startswith("run ")

    threads = active_count()
    runs, snapshot = demo.demonstrate(SMALL, report)
    assert list(runs) == [BENT.name, STRAIGHT.name, AFFINE.name]
    first, *others = (run.best[:, 0] for run in runs.values())
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-9)
    assert len({run.best[0, 8] for run in runs.values()}) == 3, "but they go different ways"
    assert done == {arm.name: 2 * 35 for arm in ARMS} | {demo.SEARCH: 2 * 4}
    assert active_count() == threads

    # the snapshot is the run and the generation that it claims to be
    assert 1 <= snapshot.generation <= 4
    assert {es.nit for es in snapshot.searches.values()} == {snapshot.generation}
    assert {es.seed for es in snapshot.searches.values()} == {snapshot.seed}
    bent, straight = snapshot.searches[BENT.name], snapshot.searches[STRAIGHT.name]
    assert demo.bend(demo._draw(bent.strategy, bent.state)) == pytest.approx(snapshot.bend)
    assert abs(demo.bend(demo._draw(straight.strategy, straight.state))) < 0.1  # 0 but for sampling
    assert snapshot.typical <= snapshot.bend


def test_an_error_ends_all_threads():
    def report(name: str, steps: int, note: str) -> None:
        if steps:
            raise KeyboardInterrupt

    threads = active_count()
    with pytest.raises(KeyboardInterrupt):
        demo.demonstrate(SMALL, report)
    assert active_count() == threads


def test_bend_is_that_of_a_parabola():
    """x_2 = c x_1^2 + w u has the height c s^2 at s, the width w and the length |(s, std x_2)|, for s = 1."""
    rng = np.random.default_rng(0)
    x, u = rng.standard_normal((2, 20_000))
    for c, w in ((0.0, 0.5), (0.3, 0.5), (-0.3, 0.5)):
        expected = c / np.sqrt(w * np.hypot(1, np.hypot(np.sqrt(2) * c, w)))
        assert demo.bend(np.stack([x, c * x**2 + w * u], 1)) == pytest.approx(expected, abs=0.02)
    assert demo.bend(1e-3 * np.stack([x, x**2 + u], 1)) == 0, "too small to be seen"


def test_settings_follow_the_paper():
    assert (Setting().popsize, Setting().generations, Setting(max_evals=24_001).generations) == (100, 240, 241)

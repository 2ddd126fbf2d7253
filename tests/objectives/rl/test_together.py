"""Together: with any workers, the result is that of calling the search itself."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import gymnasium

from thalweg.objectives.rl import PolicySearch, Together


@pytest.mark.parametrize("kind", ["processes", "threads", "map", "here"])
def test_workers_report_values_steps_and_statistics(kind):
    serial, search = (PolicySearch("CartPole-v1", rollouts=2, normalise="running", seed=1) for _ in range(2))
    generations = np.random.default_rng(0).normal(size=(3, 5, search.d))
    with ThreadPoolExecutor(2) as pool:
        workers = {"processes": 2, "threads": pool, "map": map, "here": 1}[kind]
        with Together(search, workers) as together:
            for X in generations:
                assert together(X).tolist() == serial(X).tolist()
                assert search.normaliser == serial.normaliser
                assert search.steps == serial.steps > 0
            assert together.evaluate.failures == 0


def test_steps_of_workers_are_added_to_those_of_this_process():
    search = PolicySearch("Pendulum-v1", rollouts=2, max_steps=20)
    search(search.x0)
    with ThreadPoolExecutor(2) as pool, Together(search, pool) as together:
        together(np.zeros((3, search.d)))
        assert search.steps == 2 * 20 + 3 * 2 * 20
        assert search.normaliser is None
        with pytest.raises(ValueError, match="vectorized=True"):
            together(search.x0)
        with pytest.raises(ValueError, match=r"\(n, 4\), got \(3, 3\)"):
            together(np.zeros((3, 3)))


def test_an_error_in_all_rollouts_is_raised():
    class Broken(gymnasium.Env):
        observation_space = action_space = gymnasium.spaces.Box(-1, 1, (2,))

        def reset(self, *, seed=None, options=None):
            raise RuntimeError("no start")

    search = PolicySearch(Broken, max_steps=5)
    with Together(search, 1) as together, pytest.raises(RuntimeError, match="RuntimeError: no start"):
        together(np.zeros((2, search.d)))

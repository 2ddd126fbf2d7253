"""Together: whatever the workers are, all is as if the search itself had been called."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import gymnasium

from thalweg.objectives.rl import PolicySearch, Together


@pytest.mark.parametrize("kind", ["processes", "threads", "map", "here"])
def test_workers_tell_values_steps_and_statistics(kind):
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


def test_steps_are_counted_without_statistics_too_and_next_to_those_made_here():
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


def test_what_is_raised_by_all_rollouts_is_told():
    class Broken(gymnasium.Env):
        observation_space = action_space = gymnasium.spaces.Box(-1, 1, (2,))

        def reset(self, *, seed=None, options=None):
            raise RuntimeError("no start")

    search = PolicySearch(Broken, max_steps=5)
    with Together(search, 1) as together, pytest.raises(RuntimeError, match="RuntimeError: no start"):
        together(np.zeros((2, search.d)))

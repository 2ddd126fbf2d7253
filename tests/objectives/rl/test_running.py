"""normalise="running": a generation is normalised by the observations of the generations before it."""

import pickle

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import gymnasium

from thalweg.objectives.rl import Normaliser, PolicySearch, Together


def generations(search, number=2, n=3):
    return np.random.default_rng(0).normal(size=(number, n, search.d))


def running(env="Pendulum-v1", **options):
    return PolicySearch(env, **{"rollouts": 2, "max_steps": 20, "normalise": "running", **options})


def observed(x, seeds, normaliser=None):
    """Return the observations of the linear policy x in the pendulum, stepped by hand."""
    mean, std = (0, 1) if normaliser is None else (np.array(normaliser.mean), np.array(normaliser.std))
    env, seen = gymnasium.make("Pendulum-v1"), []
    for seed in seeds:
        o, _ = env.reset(seed=seed)
        for _ in range(20):
            seen.append(o.astype(float))
            o, *_ = env.step(np.clip([x[:3] @ ((o - mean) / std) + x[3]], -2, 2).astype("f"))
    return seen


def test_each_generation_is_normalised_by_all_observations_before_it():
    search = running()
    plain = PolicySearch("Pendulum-v1", rollouts=2, max_steps=20)
    first, second = generations(search)
    assert search.normaliser == Normaliser((0.0,) * 3, (1.0,) * 3)
    assert search(first).tolist() == plain(first).tolist()
    seen = [o for x in first for o in observed(x, search.seeds(first))]
    known = search.normaliser
    np.testing.assert_allclose(known.mean, np.mean(seen, 0), rtol=1e-12)
    np.testing.assert_allclose(known.std, np.std(seen, 0), rtol=1e-12)
    frozen = PolicySearch("Pendulum-v1", rollouts=2, max_steps=20, normalise=known)
    assert search(second).tolist() == frozen(second).tolist() != plain(second).tolist()
    seen += [o for x in second for o in observed(x, search.seeds(second), known)]
    np.testing.assert_allclose(search.normaliser.mean, np.mean(seen, 0), rtol=1e-5)  # actions are rounded to float32
    np.testing.assert_allclose(search.normaliser.std, np.std(seen, 0), rtol=1e-5)
    assert frozen.normaliser == known


def test_single_points_are_refused_and_single_evaluations_change_no_statistics():
    search = running()
    first, second = generations(search)
    search(first)
    known, x = search.normaliser, second[0]
    with pytest.raises(ValueError, match=r"vectorized=True.*Together"):
        search(x)
    assert search.ret(x) == search.evaluate(x).returns.mean()
    search.rollout(x, 1)
    search.policy(x)
    search.observe(x, rollouts=1)
    assert search.normaliser == known
    with pytest.raises(TypeError, match="normalise"):
        PolicySearch("Pendulum-v1", normalise="frozen")  # type: ignore[arg-type]
    assert PolicySearch("Pendulum-v1").normaliser is None


def test_a_pickled_search_goes_on_as_the_search_itself():
    search = running()
    first, second = generations(search)
    search(first)
    again = pickle.loads(pickle.dumps(search))
    assert again(second).tolist() == search(second).tolist()
    assert again.normaliser == search.normaliser


class Moody(gymnasium.Env):
    """An environment with two clocks as observations; action 1 breaks it in the way of `how`."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, how=None):
        self.how, self.o = how, np.zeros(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.o[:] = self.np_random.normal(size=2)
        return self.o, {}

    def step(self, action):
        self.o += 1.0  # in place: a caller that keeps it must copy it
        if action == 1 and self.how == "raise":
            raise RuntimeError("broken")
        if action == 1 and self.how == "observation":
            self.o[0] = np.nan
        return self.o, np.nan if action == 1 and self.how == "reward" else 1.0, False, False, {}


@pytest.mark.parametrize("how", ["observation", "reward", "raise"])
def test_a_point_that_fails_changes_no_statistics(how):
    good, bad = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    options = {"max_steps": 5, "fixed": True}
    search, sound = running(Moody, options={"how": how}, **options), running(Moody, **options)
    sound(np.array([good, good]))
    with Together(search, workers=1) as together:
        values = together(np.array([good, bad, good]))
    assert np.isnan(values).tolist() == [False, how != "observation", False]  # its rewards were fine
    assert search.normaliser == sound.normaliser
    assert search.normaliser.std[0] > 1.4  # that of the steps 0 to 4, and of their starts
    if how != "raise":
        again = running(Moody, options={"how": how}, **options)
        np.testing.assert_equal(again(np.array([good, bad, good])), values)
        assert again.normaliser == sound.normaliser

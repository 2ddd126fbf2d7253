"""PolicySearch: values equal those of stepping the environment by hand, in any process and in any order."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import gymnasium

import thalweg
from thalweg.objectives.rl import Normaliser, PolicyEvaluation, PolicySearch, Together


def by_hand(name, act, seed):
    env = gymnasium.make(name)
    o, _ = env.reset(seed=seed)
    total, steps, over = 0.0, 0, False
    while not over:
        o, reward, terminated, truncated, _ = env.step(act(o))
        total, steps, over = total + float(reward), steps + 1, terminated or truncated
    return total, steps


def points(search, n=3):
    return np.random.default_rng(0).normal(size=(n, search.d))


def test_a_rollout_is_the_environments_own_and_steps_are_counted():
    search = PolicySearch("Pendulum-v1", rollouts=3, seed=5)
    x = np.array([0.3, -2.0, -0.4, 0.1])
    expected = [by_hand("Pendulum-v1", lambda o: np.clip([x[:3] @ o + x[3]], -2, 2).astype("f"), s) for s in search.seeds(x)]
    found = search.evaluate(x)
    assert found.returns.tolist() == [ret for ret, _ in expected]
    assert found.steps.tolist() == [200, 200, 200]
    assert search.steps == 600
    assert search(x) == found.value == -np.mean(found.returns)
    assert search.ret(x) == -search(x)
    assert search.rollout(x, 7) == by_hand("Pendulum-v1", search.policy(x), 7)


def test_steps_end_at_the_limit_asked_for():
    search = PolicySearch("Pendulum-v1", rollouts=1, max_steps=7)
    assert search.rollout(search.x0, 1).steps == 7
    assert PolicySearch("Pendulum-v1", rollouts=1, max_steps=900).rollout(search.x0, 1).steps == 200


def test_values_depend_on_the_point_alone():
    search = PolicySearch("CartPole-v1", rollouts=2, seed=3)
    X = points(search)
    values = [search(x) for x in X]
    again = pickle.loads(pickle.dumps(search))
    assert [again(x) for x in X[::-1]][::-1] == values
    assert [PolicySearch("CartPole-v1", rollouts=2, seed=4)(x) for x in X] != values
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(search, [*X, *X, *X])) == values * 3


def test_which_points_share_their_seeds():
    fresh, fixed = (PolicySearch("Pendulum-v1", rollouts=2, fixed=fixed) for fixed in (False, True))
    X = points(fresh)
    assert fresh.seeds(X[0]) != fresh.seeds(X[1])
    assert fresh.seeds(X) not in (fresh.seeds(X[0]), fresh.seeds(X[:2]))
    assert fixed.seeds(X[0]) == fixed.seeds(X[1]) == fixed.seeds(X)
    assert fresh(X).tolist() == [fresh.evaluate(x, fresh.seeds(X)).value for x in X]
    assert fixed(X).tolist() == [fixed(x) for x in X]


def test_workers_give_the_same_values():
    search = PolicySearch("CartPole-v1", rollouts=2, normalise=True, seed=1)
    budget = {"method": "cma", "popsize": 6, "max_iter": 3, "seed": 1}
    serial, parallel = (thalweg.minimize(search, search.x0, 1.0, workers=workers, **budget) for workers in (1, 2))
    assert serial.fun == parallel.fun
    assert serial.x.tolist() == parallel.x.tolist()


def test_a_generation_by_workers_has_common_seeds():
    search = PolicySearch("Pendulum-v1", rollouts=2, max_steps=20)
    X = points(search, 5)
    with ThreadPoolExecutor(2) as pool, Together(search, workers=pool) as together:
        assert together(X).tolist() == search(X).tolist()
        assert together(X[:2]).tolist() != search(X).tolist()[:2]


def test_a_normaliser_is_frozen_and_folded_into_the_policy():
    search = PolicySearch("Pendulum-v1", rollouts=1, normalise=True)
    known = search.normalise
    assert isinstance(known, Normaliser)
    assert pickle.loads(pickle.dumps(search)).normalise == known == PolicySearch("Pendulum-v1", normalise=True).normalise
    x, o = np.array([0.3, -1.0, 0.2, 0.1]), np.array([0.5, 0.6, -2.0])
    expected = x[:3] @ ((o - known.mean) / known.std) + x[3]
    assert search.policy(x)(o) == pytest.approx([expected], abs=1e-6)
    still = search.observe(np.array([0.0, 0.0, 0.0, 0.0]), rollouts=2)
    assert len(still.mean) == 3
    assert still != known


def test_cartpole_is_solved():
    search = PolicySearch("CartPole-v1", rollouts=3, seed=1)
    result = thalweg.minimize(search, search.x0, 1.0, method="cma", max_evals=600, ftarget=-500, seed=1)
    assert result.fun == -500
    assert search.evaluate(result.x, range(10)).returns.mean() > 400


def test_errors_name_the_fix():
    with pytest.raises(ValueError, match=r"^x .*\(10,\)"):
        PolicySearch("CartPole-v1")(np.zeros(3))
    with pytest.raises(ValueError, match="action='clip'"):
        PolicySearch(unbounded, action="tanh")
    with pytest.raises(ValueError, match="max_steps"):
        PolicySearch(endless)
    with pytest.raises(TypeError, match="env must"):
        PolicySearch(gymnasium.make("CartPole-v1"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="env must"):
        PolicySearch(list)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"normalise.*4"):
        PolicySearch("CartPole-v1", normalise=Normaliser((0.0,), (1.0,)))
    with pytest.raises(ValueError, match="rollouts"):
        PolicySearch("CartPole-v1", rollouts=0)
    with pytest.raises(TypeError, match="fixed"):
        PolicySearch("CartPole-v1", fixed="yes")  # type: ignore[arg-type]


class Endless(gymnasium.Env):
    """Never ends by itself; the reward is the sum of a table of actions."""

    observation_space = gymnasium.spaces.Dict({"a": gymnasium.spaces.Discrete(3), "b": gymnasium.spaces.Box(-1, 1, (2, 1))})
    action_space = gymnasium.spaces.Box(-np.inf, np.inf, (2, 2))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._seen(), {}

    def step(self, action):
        assert action.shape == (2, 2)
        return self._seen(), action.sum(), False, False, {}

    def _seen(self):
        return {"a": 2, "b": np.array([[0.5], [-0.5]], "f")}


def endless():
    return Endless()


def unbounded():
    return Endless()


def test_other_spaces_are_made_vectors_and_actions_keep_their_shape():
    search = PolicySearch(endless, rollouts=1, max_steps=3, bias=False)
    assert search.d == 5 * 4
    x = np.zeros(20)
    x[2] = x[8] = 1.0  # the first output sees that a = 2, the second b[0]
    assert search.evaluate(x) == PolicyEvaluation(np.array([4.5]), np.array([3]))


def test_short_names():
    import thalweg.objectives.rl.mjx
    import thalweg.rl.mjx

    for short, module in ((thalweg.rl, thalweg.objectives.rl), (thalweg.rl.mjx, thalweg.objectives.rl.mjx)):
        assert all(getattr(short, name) is getattr(module, name) for name in short.__all__)

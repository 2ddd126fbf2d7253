"""The paper's environments: those of Gymnasium to the last bit, with the observations that were left out since."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

import gymnasium

from thalweg.objectives.rl import PolicySearch
from thalweg_studies.rl import environments
from thalweg_studies.rl.report.film import Shown, film

ENVIRONMENTS = [
    (environments.swimmer, "Swimmer-v5", 13),
    (environments.modern_swimmer, "Swimmer-v5", 8),
    (environments.inverted_double_pendulum, "InvertedDoublePendulum-v5", 11),
    (environments.modern_inverted_double_pendulum, "InvertedDoublePendulum-v5", 9),
]


@pytest.mark.parametrize(("make", "name", "size"), ENVIRONMENTS)
def test_steps_are_those_of_gymnasium(make, name, size):
    options = {"exclude_current_positions_from_observation": False} if size == 13 else {}
    env, plain = make(), gymnasium.make(name, **options)
    assert env.observation_space.shape == (size,)
    assert (env.spec.id, env.spec.max_episode_steps) == (name, 1000)
    o, p = env.reset(seed=3)[0], plain.reset(seed=3)[0]
    rng = np.random.default_rng(0)
    for _ in range(1000):  # to the limit, where the pendulum does not fall before
        assert o[: len(p)].tolist() == p.tolist()
        assert env.observation_space.contains(o)
        action = rng.uniform(-1, 1, env.action_space.shape).astype("f")
        (o, *rest), (p, *expected) = env.step(action)[:4], plain.step(action)[:4]
        assert rest == expected
        if rest[1] or rest[2]:
            break
    assert rest[1] or rest[2]
    assert env.reset(seed=4)[0][: len(p)].tolist() == plain.reset(seed=4)[0].tolist()


def test_what_is_put_back():
    env = environments.swimmer()
    env.reset(seed=1)
    o = env.step(np.array([1.0, -1.0], "f"))[0]
    assert o[10:].tolist() == env.unwrapped.data.body("torso").subtree_com.tolist()
    assert np.any(o[10:12] != 0)
    env = environments.inverted_double_pendulum()
    assert env.reset(seed=1)[0][9:].tolist() == [0.0, 0.0]


def test_a_linear_policy_in_the_swimmer():
    search = PolicySearch(environments.swimmer, rollouts=2, bias=False, max_steps=20)
    x = np.random.default_rng(2).normal(size=search.d)
    env, total = gymnasium.make("Swimmer-v5", exclude_current_positions_from_observation=False), 0.0
    o, _ = env.reset(seed=9)
    for _ in range(20):
        seen = np.concatenate([o, env.unwrapped.data.body("torso").subtree_com])
        o, reward, *_ = env.step(np.clip(x.reshape(2, 13) @ seen, -1, 1).astype("f"))
        total += float(reward)
    search.rollout(x, 8)  # what was before makes no difference
    assert search.rollout(x, 9) == (total, 20)


def test_why_a_film_cannot_be_made(tmp_path):
    why_not = film("unknown", [Shown("xNES", "", "#0072B2", [0.0] * 11)], 1, tmp_path / "film.gif")
    assert why_not is not None
    assert why_not.endswith("has no attribute 'unknown'")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("make", ["swimmer", "inverted_double_pendulum"])
def test_a_film_of_a_policy_that_does_nothing(make, tmp_path):
    d = PolicySearch(getattr(environments, make), bias=False).d  # without max_steps: the environment's own limit
    why_not = film(make, [Shown("none", "", "#0072B2", [0.0] * d)], 1, tmp_path / "film.gif")
    if why_not is not None and any(word in why_not.lower() for word in ("opengl", "egl")):
        pytest.skip("MuJoCo cannot draw here")
    assert why_not is None
    assert (tmp_path / "film.gif").read_bytes().startswith(b"GIF89a")

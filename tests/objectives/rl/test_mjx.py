"""Compiled rollouts of a cart on a rail, whose motion can be computed by hand."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

pytest.importorskip("mujoco.mjx")

import mujoco
from gymnasium.spaces import Box

import thalweg
from thalweg.objectives.rl import Policy
from thalweg.objectives.rl.mjx import MjxSearch, Task
from thalweg.objectives.rl.policy import Head, compose

CART = """
<mujoco>
  <option timestep="0.1" gravity="0 0 0"/>
  <worldbody>
    <body><joint name="rail" type="slide" axis="1 0 0"/><geom type="sphere" size="0.1" mass="2"/></body>
  </worldbody>
  <actuator><motor joint="rail" ctrlrange="-3 3" ctrllimited="true"/></actuator>
</mujoco>
"""
END = 0.5


@pytest.fixture(scope="module")
def task():
    return Task(
        mujoco.MjModel.from_xml_string(CART),
        frames=2,
        start=lambda key: (jax.random.uniform(key, (1,)) - 1.0, jnp.zeros(1)),
        observe=lambda data: jnp.ones(1),
        reward=lambda before, after, action: after.qpos[0] - before.qpos[0],
        failed=lambda data: data.qpos[0] > END,
    )


def by_hand(force, start, steps):
    """Return the positions after each step: velocity first, then position, twice in a step."""
    x, v, path = start, 0.0, [start]
    for _ in range(steps):
        for _ in range(2):
            v += 0.1 * np.clip(force, -3, 3) / 2
            x += 0.1 * v
        path.append(x)
        if x > END:
            break
    return path


@pytest.fixture(scope="module")
def search(task):
    return MjxSearch(task, rollouts=3, bias=False, max_steps=6)


@pytest.mark.check
@pytest.mark.parametrize("force", [0.4, 9.0])
def test_returns_and_steps(task, search, force):
    assert search.d == 1
    keys = search.keys(jnp.array([force]))
    found = search.episodes(jnp.array([force]), keys)
    paths = [by_hand(force, float(task.start(key)[0][0]), 6) for key in keys]
    assert np.asarray(found.returns) == pytest.approx([path[-1] - path[0] for path in paths], rel=1e-9)
    assert np.asarray(found.steps).tolist() == [len(path) - 1 for path in paths]
    assert float(search(jnp.array([force]))) == pytest.approx(-np.mean([path[-1] - path[0] for path in paths]))
    assert (min(map(len, paths)) < 7) == (force > 1)  # some end before their time


def test_start_states_belong_to_the_point(task):
    search, fixed = MjxSearch(task, seed=1), MjxSearch(task, seed=1, fixed=True)
    other = MjxSearch(task, seed=2)
    x, y = jnp.array([0.1, 0.2]), jnp.array([0.1, np.nextafter(0.2, 1.0)])
    data = jax.random.key_data
    assert np.all(data(search.keys(x)) == data(search.keys(x)))
    assert np.all(data(search.keys(x)) != data(search.keys(y)))
    assert np.all(data(search.keys(x)) != data(other.keys(x)))
    assert np.all(data(fixed.keys(x)) == data(fixed.keys(y)))
    assert len(np.unique(data(search.keys(x)), axis=0)) == 10


@pytest.mark.check
def test_generations_share_start_states_and_whole_runs_are_one_program(task):
    search = MjxSearch(task, rollouts=2, max_steps=3)
    X = jnp.array([[0.1, 0.2], [0.3, -0.1]])
    keys = search.keys(X)
    expected = [-float(search.episodes(x, keys).returns.mean()) for x in X]
    assert np.asarray(search(X)) == pytest.approx(expected, rel=1e-12)
    runs = thalweg.run_many("cma", search, search.x0, seeds=3, generations=4)
    assert runs.best.shape == (3, 4)
    again = [float(search(jnp.asarray(x))) for x in runs.x]
    assert runs.fun == pytest.approx(again, rel=1e-12)


def test_networks_in_jax_equal_those_in_numpy():
    box = Box(np.array([-1, 0], "f"), np.array([1, 4], "f"))
    for hidden, bias in (((), True), ((3,), False), ((3, 2), True)):
        policy = Policy.into(box, 2, hidden, bias)
        x, o = np.random.default_rng(1).normal(size=policy.d), np.array([0.4, -0.7])
        raw = replace(policy, head=Head(2, lambda z: z))
        act = compose(raw.layers(jnp.asarray(x)), raw.head.act, jnp.tanh)
        assert np.asarray(act(jnp.asarray(o))) == pytest.approx(raw.act(x)(o), rel=1e-12)


def test_errors(task):
    with pytest.raises(ValueError, match="rollouts"):
        MjxSearch(task, rollouts=0)
    with pytest.raises(ValueError, match="hidden"):
        MjxSearch(task, hidden=(0,))
    with pytest.raises(ValueError, match="max_steps"):
        MjxSearch(task, max_steps=0)

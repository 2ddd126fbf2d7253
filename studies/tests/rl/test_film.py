"""What is filmed: rollouts to the end of the film or until the body falls. The drawing itself needs a driver."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from thalweg_studies.rl import environments
from thalweg_studies.rl.report.film import film_rollout
from thalweg_studies.rl.report.scenes import PENDULUM, SWIMMER


def test_a_pendulum_falls_in_the_rollout_that_was_asked_for():
    env, idle = environments.inverted_double_pendulum(), lambda _: np.zeros(1)
    o, _ = env.reset(seed=5)
    steps, over = 0, False
    while not over:
        o, _, over, _, _ = env.step(idle(o))
        steps += 1
    last = env.unwrapped.data.qpos.copy()
    rollout = film_rollout(env, idle, 5, PENDULUM)
    assert rollout.states[-1].tolist() == last.tolist()
    assert rollout.status[-1] == f"fell after {steps * env.unwrapped.dt:.1f} s"
    assert len(rollout.states) == len(rollout.parts) == len(rollout.status) < PENDULUM.frames


def test_a_swimmer_is_seen_to_the_end():
    rollout = film_rollout(environments.swimmer(), lambda _: np.array([0.3, -0.2]), 5, SWIMMER)
    assert len(rollout.states) == SWIMMER.frames
    forwards, sideways = rollout.states[-1, :2] - rollout.states[0, :2]
    assert rollout.status[-1] == f"40 s: {forwards:.1f} m forwards, {abs(sideways):.1f} m sideways"
    assert rollout.parts.shape == (SWIMMER.frames, 3, 3)

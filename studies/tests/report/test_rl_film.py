"""What is filmed: rollouts to the end of the film or until the body falls. The drawing itself needs a driver."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from thalweg_studies.report.rl_film import follow
from thalweg_studies.report.rl_scenes import PENDULUM, SWIMMER
from thalweg_studies.rl import environments


def test_a_pendulum_falls_in_the_rollout_that_was_asked_for():
    env, idle = environments.inverted_double_pendulum(), lambda _: np.zeros(1)
    o, _ = env.reset(seed=5)
    steps, over = 0, False
    while not over:
        o, _, over, _, _ = env.step(idle(o))
        steps += 1
    last = env.unwrapped.data.qpos.copy()
    course = follow(env, idle, 5, PENDULUM)
    assert course.states[-1].tolist() == last.tolist()
    assert course.status[-1] == f"fell after {steps * env.unwrapped.dt:.1f} s"
    assert len(course.states) == len(course.parts) == len(course.status) < PENDULUM.frames


def test_a_swimmer_is_seen_to_the_end():
    course = follow(environments.swimmer(), lambda _: np.array([0.3, -0.2]), 5, SWIMMER)
    assert len(course.states) == SWIMMER.frames
    forwards, sideways = course.states[-1, :2] - course.states[0, :2]
    assert course.status[-1] == f"40 s: {forwards:.1f} m forwards, {abs(sideways):.1f} m sideways"
    assert course.parts.shape == (SWIMMER.frames, 3, 3)

"""The paper's two environments for MJX: the same models, starts, observations and rewards as Gymnasium's, in JAX."""

from typing import Any

import jax
import jax.numpy as jnp

from thalweg.objectives.rl.mjx import Task
from thalweg.strategies.strategy import Array, Key
from thalweg_studies.rl import environments


def swimmer() -> Task:
    """Return the task of `environments.swimmer`, with 13 observations."""
    env = environments.swimmer().unwrapped
    torso, dt = env.model.body("torso").id, env.dt

    def start(key: Key) -> tuple[Array, Array]:
        return _start(key, env, lambda key, n: jax.random.uniform(key, (n,), minval=-0.1, maxval=0.1))

    def observe(data: Any) -> Array:
        return jnp.concatenate([data.qpos, data.qvel, data.subtree_com[torso]])

    def reward(before: Any, after: Any, action: Array) -> Array:
        return (after.qpos[0] - before.qpos[0]) / dt - 1e-4 * (action**2).sum()

    return Task(env.model, env.frame_skip, start, observe, reward)


def inverted_double_pendulum() -> Task:
    """Return the task of `environments.inverted_double_pendulum`, with 11 observations."""
    env = environments.inverted_double_pendulum().unwrapped

    def start(key: Key) -> tuple[Array, Array]:
        return _start(key, env, lambda key, n: 0.1 * jax.random.normal(key, (n,)))

    def observe(data: Any) -> Array:
        angles, speeds, forces = data.qpos[1:], jnp.clip(data.qvel, -10, 10), jnp.clip(data.qfrc_constraint, -10, 10)
        return jnp.concatenate([data.qpos[:1], jnp.sin(angles), jnp.cos(angles), speeds, forces])

    def reward(_: Any, after: Any, action: Array) -> Array:
        x, _, height = after.site_xpos[0]
        shaking = 1e-3 * after.qvel[1] ** 2 + 5e-3 * after.qvel[2] ** 2
        return 10.0 * (height > 1) - 0.01 * x**2 - (height - 2) ** 2 - shaking

    return Task(env.model, env.frame_skip, start, observe, reward, failed=lambda data: data.site_xpos[0, 2] <= 1)


def _start(key: Key, env: Any, speeds: Any) -> tuple[Array, Array]:
    """Return positions within 0.1 of those of the model, and random velocities."""
    first, second = jax.random.split(key)
    positions = jax.random.uniform(first, (env.model.nq,), minval=-0.1, maxval=0.1)
    return env.init_qpos + positions, env.init_qvel + speeds(second, env.model.nv)

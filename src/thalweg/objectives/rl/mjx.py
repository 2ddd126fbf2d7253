"""`MjxSearch`: policy search with all rollouts in one compiled program, by MJX, MuJoCo's physics in JAX."""

from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from thalweg._common.checks import as_count, as_flag, as_seed
from thalweg._common.extras import require
from thalweg.objectives.rl.policy import Head, Policy, PolicyObjective, compose
from thalweg.strategies.strategy import Array, Key


@dataclass(frozen=True, eq=False)
class Task:
    """An environment as functions that JAX can trace; they take the `data` of MJX."""

    model: Any
    """The model, a `mujoco.MjModel`."""
    frames: int
    """Number of steps of the physics in one step of the environment."""
    start: Callable[[Key], tuple[Array, Array]]
    """Function that draws the positions and velocities of a start state from a random key."""
    observe: Callable[[Any], Array]
    """Function of the data that returns the observation."""
    reward: Callable[[Any, Any, Array], Array]
    """Function of the data before a step, the data after it and the action that returns the reward."""
    failed: Callable[[Any], Array] = lambda _: jnp.zeros((), bool)
    """Function of the data that returns True if the episode ends there, before `max_steps`."""


class Episodes(NamedTuple):
    """The results of several rollouts, one entry for each."""

    returns: Array
    steps: Array


@dataclass(frozen=True, eq=False)
class MjxSearch(PolicyObjective):
    """Minus the mean return of M rollouts as a function that JAX can trace, for `run_many` and `minimize`.

    Physics, policy and episodes of all points of all parallel runs form one compiled program; on a GPU thousands of rollouts
    take hardly longer than one. As with `PolicySearch`, the value of a point depends only on the point and on `seed`: the start
    states are drawn from a hash of the point, or with `fixed` are the same for all points.
    """

    task: Task
    rollouts: int = 10
    """M, the number of rollouts for each point."""
    hidden: Sequence[int] = ()
    """Widths of the hidden tanh layers; a linear policy has none."""
    bias: bool = True
    max_steps: int = 1000
    """Limit of steps of a rollout."""
    fixed: bool = False
    """True for the same start states at all points."""
    seed: int = 0

    architecture: Policy = field(init=False, repr=False)
    """Map from parameters to the policy, whose outputs are clipped to the bounds of the actuators."""

    def __post_init__(self) -> None:
        box = np.array(self.task.model.actuator_ctrlrange, float)
        head = Head(len(box), lambda z: jnp.clip(z, box[:, 0], box[:, 1]))
        physics = _mjx()
        observation = jax.eval_shape(lambda: self.task.observe(physics.make_data(physics.put_model(self.task.model))))
        widths = [as_count(width, "hidden") for width in self.hidden]
        for name, value in {
            "rollouts": as_count(self.rollouts, "rollouts"),
            "max_steps": as_count(self.max_steps, "max_steps"),
            "seed": as_seed(self.seed),
            "bias": as_flag(self.bias, "bias"),
            "fixed": as_flag(self.fixed, "fixed"),
            "architecture": Policy((observation.size, *widths, len(box)), self.bias, head),
        }.items():
            object.__setattr__(self, name, value)

    def __call__(self, x: Array) -> Array:
        """Return minus the mean return at x (d,), or at all rows of x (n, d), from the same start states."""
        keys = self.keys(x)
        value = lambda point: -self.episodes(point, keys).returns.mean()  # noqa: E731
        return value(x) if jnp.ndim(x) == 1 else jax.vmap(value)(x)

    def keys(self, x: Array) -> Key:
        """Return a random key for each rollout: those of one point x, or those that several points share."""
        key = jax.random.key(self.seed)
        if not self.fixed:
            words = jax.lax.bitcast_convert_type(jnp.asarray(x), jnp.uint32).reshape(-1)
            key, _ = jax.lax.scan(lambda key, word: (jax.random.fold_in(key, word), None), key, words)
        return jax.random.split(key, self.rollouts)

    @partial(jax.jit, static_argnums=0)
    def episodes(self, x: Array, keys: Key) -> Episodes:
        """Run one rollout of the policy x from the start state of each key."""
        physics, task = _mjx(), self.task
        model = physics.put_model(task.model)
        act = compose(self.architecture.layers(x), self.architecture.head.act, jnp.tanh)

        def begin(key: Key) -> Any:
            qpos, qvel = task.start(key)
            return physics.forward(model, physics.make_data(model).replace(qpos=qpos, qvel=qvel))

        def step(running: Array, data: Any, total: Array) -> tuple[Array, Any, Array]:
            action = act(task.observe(data))
            after = jax.lax.fori_loop(0, task.frames, lambda _, d: physics.step(model, d), data.replace(ctrl=action))
            total = total + jnp.where(running, task.reward(data, after, action), 0.0)
            return running & ~task.failed(after), after, total

        def advance(carry: tuple[Any, ...]) -> tuple[Any, ...]:
            count, steps, running, data, total = carry
            steps = steps + running
            return count + 1, steps, *jax.vmap(step)(running, data, total)

        data, none = jax.vmap(begin)(keys), jnp.zeros(len(keys), int)
        first = (0, none, jnp.ones(len(keys), bool), data, jnp.zeros(len(keys), data.qpos.dtype))
        # ends with the last of the parallel rollouts: bad policies, whose episodes end early, cost little
        _, steps, _, _, total = jax.lax.while_loop(lambda c: (c[0] < self.max_steps) & c[2].any(), advance, first)
        return Episodes(total, steps)


def _mjx() -> Any:
    with redirect_stdout(StringIO()):  # it prints that Warp, an engine that is not used here, is missing
        return require("mujoco.mjx", extra="mjx", purpose="MjxSearch")

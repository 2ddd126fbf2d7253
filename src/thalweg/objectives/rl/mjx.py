"""`MjxSearch`: policy search whose rollouts are one compiled program, in MuJoCo's physics written in JAX (MJX)."""

import importlib
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
from thalweg.objectives.rl.policy import Head, Policy
from thalweg.strategies.strategy import Array, Key


@dataclass(frozen=True, eq=False)
class Task:
    """What Gymnasium's environments say in Python, as functions that JAX can trace; `data` is that of MJX."""

    model: Any
    """The `mujoco.MjModel`."""
    frames: int
    """Steps of the physics to a step of the environment."""
    start: Callable[[Key], tuple[Array, Array]]
    """Positions and velocities to begin with."""
    observe: Callable[[Any], Array]
    reward: Callable[[Any, Any, Array], Array]
    """Of the data before, the data after and the action."""
    failed: Callable[[Any], Array] = lambda _: jnp.zeros((), bool)
    """Whether the episode has ended before its time."""


class Episodes(NamedTuple):
    """What rollouts gave, an entry each."""

    returns: Array
    steps: Array


@dataclass(frozen=True, eq=False)
class MjxSearch:
    """Minus the mean return of M rollouts as a function that JAX can trace, for `run_many` and for `minimize`.

    The physics, the policy and the episodes of all points, of all runs side by side, are one program; on a GPU thousands of
    rollouts take hardly longer than one. As with `PolicySearch`, the value of a point depends on the point and on `seed`
    alone: the start states are drawn from a hash of the point, or with `fixed` are the same for all points.
    """

    task: Task
    rollouts: int = 10
    """M."""
    hidden: Sequence[int] = ()
    """Widths of hidden layers of tanh; none: a linear policy."""
    bias: bool = True
    max_steps: int = 1000
    """Of a rollout."""
    fixed: bool = False
    """Whether all points meet the same start states."""
    seed: int = 0

    shape: Policy = field(init=False, repr=False)
    """Which point is which policy. Its outputs are cut off at the bounds of the actuators."""

    def __post_init__(self) -> None:
        box = np.array(self.task.model.actuator_ctrlrange, float)
        head = Head(len(box), lambda z: jnp.clip(z, box[:, 0], box[:, 1]))
        physics = _mjx()
        seen = jax.eval_shape(lambda: self.task.observe(physics.make_data(physics.put_model(self.task.model))))
        for name, value in {
            "rollouts": as_count(self.rollouts, "rollouts"),
            "max_steps": as_count(self.max_steps, "max_steps"),
            "seed": as_seed(self.seed),
            "bias": as_flag(self.bias, "bias"),
            "fixed": as_flag(self.fixed, "fixed"),
            "shape": Policy((seen.size, *(as_count(width, "hidden") for width in self.hidden), len(box)), self.bias, head),
        }.items():
            object.__setattr__(self, name, value)

    @property
    def d(self) -> int:
        """The number of parameters."""
        return self.shape.d

    @property
    def x0(self) -> np.ndarray:
        """All parameters 0."""
        return np.zeros(self.d)

    def __call__(self, x: Array) -> Array:
        """Minus the mean return at x, (d,); or at all rows of x, (n, d), from the same start states."""
        keys = self.keys(x)
        value = lambda point: -self.episodes(point, keys).returns.mean()  # noqa: E731
        return value(x) if jnp.ndim(x) == 1 else jax.vmap(value)(x)

    def keys(self, x: Array) -> Key:
        """One for each rollout of the point x, or of the points x together."""
        key = jax.random.key(self.seed)
        if not self.fixed:
            words = jax.lax.bitcast_convert_type(jnp.asarray(x), jnp.uint32).reshape(-1)
            key, _ = jax.lax.scan(lambda key, word: (jax.random.fold_in(key, word), None), key, words)
        return jax.random.split(key, self.rollouts)

    @partial(jax.jit, static_argnums=0)
    def episodes(self, x: Array, keys: Key) -> Episodes:
        """A rollout of the policy x from the start state of every key."""
        physics, task = _mjx(), self.task
        model, act = physics.put_model(task.model), _policy(self.shape, x)

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
        # ends with the last of the rollouts side by side: bad policies, which fall at once, cost little
        _, steps, _, _, total = jax.lax.while_loop(lambda c: (c[0] < self.max_steps) & c[2].any(), advance, first)
        return Episodes(total, steps)


def _policy(shape: Policy, x: Array) -> Callable[[Array], Array]:
    """As `Policy.act`, in JAX."""
    first, *deeper = shape.layers(x)

    def act(o: Array) -> Array:
        z = first.weights @ o if first.shift is None else first.weights @ o + first.shift
        for layer in deeper:
            z = layer.weights @ jnp.tanh(z)
            z = z if layer.shift is None else z + layer.shift
        return shape.head.act(z)

    return act


def _mjx() -> Any:
    try:
        with redirect_stdout(StringIO()):  # it prints that it has found no Warp, an engine that is not asked for
            return importlib.import_module("mujoco.mjx")
    except ModuleNotFoundError as error:
        raise ImportError('MJX is not installed: run pip install "thalweg[mjx]"') from error

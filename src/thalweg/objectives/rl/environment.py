"""Gymnasium environments, made in the process that uses them, and their spaces."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from thalweg._common import extras
from thalweg._common.checks import as_count, shortened

EnvSource = str | Callable[..., Any]
"""A name registered in Gymnasium, or a function that returns an environment."""


def require() -> Any:
    """Import gymnasium, or raise an error that names the extra to install."""
    return extras.require("gymnasium", extra="rl", purpose="policy search")


def make(env: EnvSource, options: Mapping[str, Any]) -> Any:
    """Make a new environment from a registered name or a function."""
    gymnasium = require()
    if isinstance(env, str):
        return gymnasium.make(env, **{"disable_env_checker": True, **options})
    if isinstance(env, gymnasium.Env):
        raise TypeError(
            "env must be a name or a function that returns an environment, got an environment; pass lambda: ..., as each "
            "process makes its own"
        )
    made: Any = env(**options) if callable(env) else env
    if not isinstance(made, gymnasium.Env):
        raise TypeError(
            f"env must be a name registered in gymnasium, or a function that returns an environment, got {shortened(made)}"
        )
    return made


def step_limit(env: Any, max_steps: int | None) -> int:
    """Return the limit of steps of a rollout: the smaller of `max_steps` and the environment's own limit."""
    own = None if env.spec is None else env.spec.max_episode_steps
    if max_steps is None and own is None:
        raise ValueError(f"max_steps must be given, as {shortened(env)} has no step limit; pass 1000, for example")
    wanted = None if max_steps is None else as_count(max_steps, "max_steps")
    return min(limit for limit in (own, wanted) if limit is not None)


def flattener(space: Any) -> tuple[int, Callable[[Any], np.ndarray] | None]:
    """Return the length of an observation as a vector, and a function that flattens it, or None if it is a vector already."""
    spaces = importlib.import_module("gymnasium.spaces")
    try:
        size = int(spaces.flatdim(space))
    except (NotImplementedError, ValueError) as error:
        raise ValueError(f"env must have observations that can be flattened to a vector, got {shortened(space)}") from error
    if isinstance(space, spaces.Box):
        return size, None if len(space.shape) == 1 else np.ravel
    return size, lambda o: spaces.flatten(space, o)

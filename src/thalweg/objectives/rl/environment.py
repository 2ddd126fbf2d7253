"""Environments of Gymnasium, made where they are used, and their spaces."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from thalweg._common.checks import as_count, shortened

Make = str | Callable[..., Any]
"""A name that Gymnasium knows, or a function that makes an environment."""


def require() -> Any:
    """The module `gymnasium`, or an error that says how to get it."""
    try:
        return importlib.import_module("gymnasium")
    except ModuleNotFoundError as error:
        if error.name != "gymnasium":
            raise
        raise ImportError('policy search needs gymnasium, which is not installed: run pip install "thalweg[rl]"') from error


def make(env: Make, options: Mapping[str, Any]) -> Any:
    """A new environment."""
    gymnasium = require()
    if isinstance(env, str):
        return gymnasium.make(env, **{"disable_env_checker": True, **options})
    if isinstance(env, gymnasium.Env):
        raise TypeError(
            "env must be a name or a function that makes an environment, not an environment: every process makes its own; "
            "pass lambda: ..."
        )
    made: Any = env(**options) if callable(env) else env
    if not isinstance(made, gymnasium.Env):
        raise TypeError(
            f"env must be a name that gymnasium.make knows, or a function that makes an environment, got {shortened(made)}"
        )
    return made


def step_limit(env: Any, max_steps: int | None) -> int:
    """How many steps a rollout has at most: what was asked for, or the environment's own limit if that is less."""
    own = None if env.spec is None else env.spec.max_episode_steps
    if max_steps is None and own is None:
        raise ValueError(f"{shortened(env)} has no limit of steps; pass max_steps")
    wanted = None if max_steps is None else as_count(max_steps, "max_steps")
    return min(limit for limit in (own, wanted) if limit is not None)


def flattener(space: Any) -> tuple[int, Callable[[Any], np.ndarray] | None]:
    """The number of observations, and what makes a vector of them; None if they are one already."""
    spaces = importlib.import_module("gymnasium.spaces")
    try:
        size = int(spaces.flatdim(space))
    except (NotImplementedError, ValueError) as error:
        raise ValueError(f"the observations of the environment cannot be made a vector: {shortened(space)}") from error
    if isinstance(space, spaces.Box):
        if len(space.shape) == 1:
            return size, None
        return size, np.ravel
    return size, lambda o: spaces.flatten(space, o)

"""The paper's two environments, with the observations that it had and with those of today."""

import importlib
from typing import Any

import numpy as np

from thalweg.rl.environment import require


def swimmer(**options: Any) -> Any:
    """Swimmer-v5 with 13 observations, as rllab's: positions, velocities, and the torso's centre of mass."""
    env = _made("Swimmer-v5", exclude_current_positions_from_observation=False, **options)
    data = env.unwrapped.data
    torso = env.unwrapped.model.body("torso").id
    return _observed(env, lambda o: np.concatenate([o, data.subtree_com[torso]]), 13)


def inverted_double_pendulum(**options: Any) -> Any:
    """InvertedDoublePendulum-v5 with 11 observations, as before v5: with the constraint forces on the two hinges, always 0."""
    env = _made("InvertedDoublePendulum-v5", **options)
    data = env.unwrapped.data
    return _observed(env, lambda o: np.concatenate([o, np.clip(data.qfrc_constraint[1:], -10, 10)]), 11)


def modern_swimmer(**options: Any) -> Any:
    """Swimmer-v5 with its own 8 observations."""
    return _made("Swimmer-v5", **options)


def modern_inverted_double_pendulum(**options: Any) -> Any:
    """InvertedDoublePendulum-v5 with its own 9 observations."""
    return _made("InvertedDoublePendulum-v5", **options)


def require_mujoco() -> Any:
    """The module `mujoco`, or an error that says how to get it."""
    try:
        return importlib.import_module("mujoco")
    except ModuleNotFoundError as error:
        if error.name != "mujoco":
            raise
        raise ImportError('these environments need mujoco, which is not installed: run pip install "thalweg[rl]"') from error


def _made(name: str, **options: Any) -> Any:
    gymnasium, mujoco = require(), require_mujoco()
    env = gymnasium.make(name, disable_env_checker=True, **options)
    # nothing in either environment can touch anything, and not to look for it saves a tenth of the time, to the same bits
    env.unwrapped.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    return env


def _observed(env: Any, see: Any, size: int) -> Any:
    gymnasium = require()
    box = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64)
    return gymnasium.wrappers.TransformObservation(env, see, box)

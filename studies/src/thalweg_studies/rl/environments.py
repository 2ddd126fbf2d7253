"""The paper's two environments, with the observations that it had and with those of today."""

import ctypes
import importlib
from contextlib import suppress
from typing import Any

import numpy as np

from thalweg.objectives.rl.environment import require


def swimmer(**options: Any) -> Any:
    """Swimmer-v5 with 13 observations, as rllab's: positions, velocities, and the torso's centre of mass."""
    env = _made("Swimmer-v5", exclude_current_positions_from_observation=False, **options)
    direct, bare = _direct(), env.unwrapped
    advance, dt = direct.advance(bare), bare.dt
    positions, velocities, centre = bare.data.qpos, bare.data.qvel, bare.data.subtree_com[bare.model.body("torso").id]

    def judge(action: Any) -> tuple[float, bool]:
        before = positions[0]
        advance(action)
        return (positions[0] - before) / dt - 1e-4 * np.square(action).sum(), False

    return direct.Direct(env, 13, lambda: np.concatenate([positions, velocities, centre]), judge)


def inverted_double_pendulum(**options: Any) -> Any:
    """InvertedDoublePendulum-v5 with 11 observations, as before v5: with the constraint forces on the two hinges, always 0."""
    env = _made("InvertedDoublePendulum-v5", **options)
    direct, data = _direct(), env.unwrapped.data
    advance = direct.advance(env.unwrapped)
    cart, angles, velocities, forces, tip = data.qpos[:1], data.qpos[1:], data.qvel, data.qfrc_constraint, data.site_xpos[0]

    def judge(action: Any) -> tuple[float, bool]:
        advance(action)
        (x, _, y), (_, v1, v2) = tip.tolist(), velocities.tolist()
        failed = y <= 1
        return 10.0 * (not failed) - (0.01 * x**2 + (y - 2) ** 2) - (1e-3 * v1**2 + 5e-3 * v2**2), failed

    def observe() -> np.ndarray:
        clipped = np.minimum(np.maximum(np.concatenate([velocities, forces]), -10), 10)
        return np.concatenate([cart, np.sin(angles), np.cos(angles), clipped])

    return direct.Direct(env, 11, observe, judge)


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
    _stop_the_clock()
    # nothing in either environment can touch anything, and not to look for it saves a tenth of the time, to the same bits
    env.unwrapped.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    return env


def _stop_the_clock() -> None:
    """MuJoCo's module sets a clock, which is read a hundred times in a step, for a profile: a quarter of the time.

    `set_mjcb_time(None)` leaves it as it is, so the library's own variable is cleared, where that can be found.
    """
    callbacks = importlib.import_module("mujoco._callbacks").__file__
    with suppress(OSError, ValueError):
        ctypes.c_void_p.in_dll(ctypes.CDLL(callbacks), "mjcb_time").value = None


def _direct() -> Any:
    """The module that needs gymnasium and mujoco: imported where they are needed."""
    return importlib.import_module("thalweg_studies.rl.direct")

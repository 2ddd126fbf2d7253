"""The paper's two environments, with the observations of its time and with those of today."""

import ctypes
import importlib
from contextlib import suppress
from typing import Any

import numpy as np

from thalweg.objectives.rl import environment
from thalweg_studies.common.extras import require


def swimmer(**options: Any) -> Any:
    """Make Swimmer-v5 with 13 observations, as rllab's: positions, velocities, and the torso's centre of mass."""
    env = _make("Swimmer-v5", exclude_current_positions_from_observation=False, **options)
    direct, bare = _direct(), env.unwrapped
    advance, dt = direct.advance(bare), bare.dt
    positions, velocities, centre = bare.data.qpos, bare.data.qvel, bare.data.subtree_com[bare.model.body("torso").id]

    def judge(action: Any) -> tuple[float, bool]:
        before = positions[0]
        advance(action)
        return (positions[0] - before) / dt - 1e-4 * np.square(action).sum(), False

    return direct.Direct(env, 13, lambda: np.concatenate([positions, velocities, centre]), judge)


def inverted_double_pendulum(**options: Any) -> Any:
    """Make InvertedDoublePendulum-v5 with 11 observations, as before v5: with the forces on the two hinges, always 0."""
    env = _make("InvertedDoublePendulum-v5", **options)
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
    """Make Swimmer-v5 with its own 8 observations."""
    return _make("Swimmer-v5", **options)


def modern_inverted_double_pendulum(**options: Any) -> Any:
    """Make InvertedDoublePendulum-v5 with its own 9 observations."""
    return _make("InvertedDoublePendulum-v5", **options)


def require_mujoco() -> Any:
    """Import `mujoco`; the error if it is missing says how to install it."""
    return require("mujoco", ".[rl]")


def _make(name: str, **options: Any) -> Any:
    gymnasium, mujoco = environment.require(), require_mujoco()
    env = gymnasium.make(name, disable_env_checker=True, **options)
    _stop_the_clock()
    # no bodies can touch in either environment; without the search for contacts a step takes a tenth less, to the same bits
    env.unwrapped.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    return env


def _stop_the_clock() -> None:
    """Switch off MuJoCo's profiling clock, which is read a hundred times in a step and takes a quarter of the time.

    `set_mjcb_time(None)` has no effect, so the variable of the C library is cleared, where it can be found.
    """
    callbacks = importlib.import_module("mujoco._callbacks").__file__
    with suppress(OSError, ValueError):
        ctypes.c_void_p.in_dll(ctypes.CDLL(callbacks), "mjcb_time").value = None


def _direct() -> Any:
    """Import the module that needs gymnasium and mujoco."""
    return importlib.import_module("thalweg_studies.rl.direct")

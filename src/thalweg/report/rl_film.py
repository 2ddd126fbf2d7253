"""A policy at work as a GIF, drawn by MuJoCo off screen in a process of its own: a graphics driver may end it.

python -m thalweg.report.rl_film ENVIRONMENT POLICY.json FILM.gif
"""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.experiments.rl import environments
from thalweg.rl import PolicySearch

EVERY, FRAMES, WIDTH = 4, 75, 240
"""Steps from frame to frame, frames, pixels."""

PENDULUM_VIEW = {"distance": 3.4, "lookat": np.array([0.0, 0.0, 0.5])}
"""Nearer than by default; the swimmer is followed by a camera of its own."""


def film(make: str, policy: np.ndarray, seed: int, path: Path) -> bool:
    """Write the film of a policy in an environment of `thalweg.experiments.rl.environments`; whether that could be done."""
    given = path.with_suffix(".json")
    given.write_text(json.dumps({"policy": policy.tolist(), "seed": seed}), encoding="utf-8")
    command = [sys.executable, "-m", __name__, make, str(given), str(path)]
    try:
        surroundings = {"MUJOCO_GL": "egl", **os.environ}
        done = subprocess.run(command, env=surroundings, capture_output=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return False
    finally:
        given.unlink()
    return done.returncode == 0 and path.exists()


def draw(make: str, policy: Any, seed: int, path: Path) -> None:
    """Film a rollout in this process."""
    images: Any = importlib.import_module("PIL.Image")
    search = PolicySearch(getattr(environments, make), bias=False)
    view = {"default_camera_config": PENDULUM_VIEW} if make.endswith("pendulum") else {}
    act, env = search.policy(policy), getattr(environments, make)(render_mode="rgb_array", **view)
    o, _ = env.reset(seed=seed)
    frames: list[Any] = []
    for step in range(EVERY * FRAMES):
        if step % EVERY == 0:
            frames.append(images.fromarray(env.render()).resize((WIDTH, WIDTH)).quantize(64))
        o, _, terminated, truncated, _ = env.step(act(o))
        if terminated or truncated:
            break
    pause = round(1000 * EVERY * env.unwrapped.dt)
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=pause, loop=0, optimize=True)


if __name__ == "__main__":
    asked = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    draw(sys.argv[1], asked["policy"], asked["seed"], Path(sys.argv[3]))

"""Films of policies as one GIF with a panel for each, drawn by MuJoCo in a process of its own, as a driver may crash.

python -m thalweg_studies.rl.report.film ENVIRONMENT POLICIES.json FILM.gif
"""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thalweg.objectives.rl import PolicySearch
from thalweg_studies.rl import environments
from thalweg_studies.rl.report.panels import Panel, save_film
from thalweg_studies.rl.report.scenes import Scene, scene_of


@dataclass(frozen=True)
class Shown:
    """A policy, the text above its panel, and the colour of the body that it moves."""

    name: str
    note: str
    colour: str
    policy: Sequence[float]


class FilmedRollout(NamedTuple):
    """One rollout of a policy, with a row for each frame."""

    states: np.ndarray
    """The positions of the joints, (frames, nq)."""
    parts: np.ndarray
    """The positions of the body's parts, (frames, parts, 3)."""
    status: list[str]
    """The text in the corner of each frame."""


def film(make: str, shown: Sequence[Shown], seed: int, path: Path) -> str | None:
    """Write the film of policies in an environment of `thalweg_studies.rl.environments`; return the reason if that fails."""
    given = path.with_suffix(".json")
    given.write_text(json.dumps({"shown": [asdict(each) for each in shown], "seed": seed}), encoding="utf-8")
    command = [sys.executable, "-m", __name__, make, str(given), str(path)]
    try:
        surroundings = {"MUJOCO_GL": "egl", **os.environ}
        done = subprocess.run(command, env=surroundings, capture_output=True, timeout=900, check=False)
    except subprocess.TimeoutExpired as error:
        return f"it took longer than {error.timeout:g} s"
    finally:
        given.unlink()
    if done.returncode == 0 and path.exists():
        return None
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return said[-1] if said else f"the process that draws ended with {done.returncode}"


def draw(make: str, shown: Sequence[Shown], seed: int, path: Path) -> None:
    """Film one rollout of each policy, all from the same start, in this process."""
    scene, maker = scene_of(make), getattr(environments, make)
    search, env = PolicySearch(maker, bias=False), maker()
    rollouts = [film_rollout(env, search.policy(each.policy), seed, scene) for each in shown]
    left, right = _extent(np.concatenate([rollout.parts[..., 0].ravel() for rollout in rollouts]), scene.across, scene.margin)
    unit, (low, high) = scene.width / (right - left), scene.along
    camera = _Camera(env.unwrapped, scene, (scene.width, round(unit * (high - low))), high - low)
    panels: list[Panel] = []
    for each, rollout in zip(shown, rollouts, strict=True):
        middle = rollout.parts[..., scene.up].mean(1) * scene.follows + (low + high) / 2
        images = camera.images(rollout.states, each.colour, (left + right) / 2, middle)
        panels.append(Panel(each.name, each.note, each.colour, images, rollout.status))
    lines = [] if scene.mark is None else np.arange(0.0, right, scene.mark).tolist()
    marks = {f"{x:g} m": round(unit * (x - left)) for x in lines}
    save_film(panels, path, columns=scene.columns, frames=scene.frames, pause=scene.pause, marks=marks)


def film_rollout(env: Any, act: Any, seed: int, scene: Scene) -> FilmedRollout:
    """Run a policy to the end of the rollout or of the film."""
    unwrapped = env.unwrapped
    moving = unwrapped.model.geom_bodyid > 0
    states, parts, status = list[np.ndarray](), list[np.ndarray](), list[str]()
    o, _ = env.reset(seed=seed)
    start, over = unwrapped.data.qpos.copy(), False
    for step in range(scene.every * (scene.frames - 1) + 1):
        if step % scene.every == 0 or over:
            seconds = step * unwrapped.dt
            states.append(unwrapped.data.qpos.copy())
            parts.append(unwrapped.data.geom_xpos[moving].copy())
            forwards, sideways = (unwrapped.data.qpos - start)[:2]
            status.append(
                f"{seconds:.0f} s: {forwards:.1f} m forwards, {abs(sideways):.1f} m sideways"
                if scene.follows
                else f"{'fell after ' * over}{seconds:.1f} s"
            )
        if over:
            break
        o, _, over, _, _ = env.step(act(o))
    return FilmedRollout(np.array(states), np.array(parts), status)


def _extent(seen: np.ndarray, least: tuple[float, float], margin: float) -> tuple[float, float]:
    return min(least[0], float(seen.min()) - margin), max(least[1], float(seen.max()) + margin)


class _Camera:
    """Draws states on plain ground, for a small file, and without shadows, which cost ten times the rest."""

    def __init__(self, env: Any, scene: Scene, size: tuple[int, int], height: float) -> None:
        self.mujoco: Any = importlib.import_module("mujoco")
        self.model, self.data, self.up = env.model, env.data, scene.up
        self.moving = self.model.geom_bodyid > 0
        self.model.geom_matid[:] = -1
        self.model.geom("floor").rgba = [0.85, 0.9, 0.94, 1.0]
        self.model.light_active[:] = 0
        light = self.model.vis.headlight
        light.ambient, light.diffuse, light.specular = [0.8] * 3, [0.25] * 3, [0.0] * 3  # colours about as in the figures
        seen = self.model.vis.global_
        seen.offwidth, seen.offheight, seen.fovy = *size, height  # without perspective, fovy is the height itself
        self.camera = self.mujoco.MjvCamera()
        self.camera.orthographic, self.camera.distance = 1, 10.0
        self.camera.azimuth, self.camera.elevation = 90.0, scene.elevation
        self.renderer = self.mujoco.Renderer(self.model, size[1], size[0])
        for flag in ("mjRND_SHADOW", "mjRND_REFLECTION"):
            self.renderer.scene.flags[getattr(self.mujoco.mjtRndFlag, flag)] = 0

    def images(self, states: np.ndarray, colour: str, across: float, along: np.ndarray) -> list[np.ndarray]:
        self.model.geom_rgba[self.moving] = [*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)), 1.0]
        self.camera.lookat[:] = across, 0.0, 0.0
        images: list[np.ndarray] = []
        for state, middle in zip(states, along, strict=True):
            self.camera.lookat[self.up] = middle
            self.data.qpos[:] = state
            self.mujoco.mj_forward(self.model, self.data)
            self.renderer.update_scene(self.data, self.camera)
            images.append(self.renderer.render())
        return images


if __name__ == "__main__":
    asked = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    draw(sys.argv[1], [Shown(**each) for each in asked["shown"]], asked["seed"], Path(sys.argv[3]))

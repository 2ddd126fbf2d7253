"""Gymnasium's MuJoCo environments reduced to what a rollout needs: the same bits in about half the time."""

import importlib
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np


class Direct(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment whose steps call MuJoCo directly, without Gymnasium's wrappers and the environment's `info`."""

    def __init__(self, env: Any, size: int, observe: Callable[[], np.ndarray], judge: Callable[[Any], tuple[float, bool]]):
        """Wrap an environment made by `gymnasium.make`.

        `observe` returns the `size` observations. `judge` applies an action for one step, by `advance`, and returns the reward
        and whether the episode has failed.
        """
        super().__init__(env.unwrapped)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.observe, self._judge = observe, judge
        self._known, self._limit = env.spec, int(env.spec.max_episode_steps)
        self._steps = 0

    @property
    def spec(self) -> Any:
        """The registered specification with the limit of steps, which the environment without wrappers lacks."""
        return self._known

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        self._steps = 0
        self.env.reset(seed=seed, options=options)
        return self.observe(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self._steps += 1
        reward, failed = self._judge(action)
        return self.observe(), reward, failed, self._steps >= self._limit, {}


def advance(env: Any) -> Callable[[Any], None]:
    """Return a function that applies an action to an environment for one step."""
    model, data, control, times = env.model, env.data, env.data.ctrl, env.frame_skip
    step: Any = importlib.import_module("mujoco").mj_step

    def go(action: Any) -> None:
        control[:] = action
        step(model, data, times)

    return go

"""Policy search in compiled rollouts (extra `mjx`), the short name of `thalweg.objectives.rl.mjx`."""

from thalweg.objectives.rl.mjx import MjxSearch, Task

__all__ = ["MjxSearch", "Task"]

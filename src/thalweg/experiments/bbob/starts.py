"""Where runs begin: the same points for all entrants on the same problem."""

import numpy as np

SPREAD = 4.0
"""Starts are uniform in [-4, 4]^d, as COCO's own experiments have them; the minima lie in [-5, 5]^d."""

SIGMA0 = 2.0

RESTARTS = 30
"""More than any budget allows, as the population doubles each time."""


class Starts:
    """A stream of starts, which counts them: all but the first are restarts."""

    def __init__(self, seed: int, function: int, d: int, instance: int) -> None:
        points, seeds = np.random.SeedSequence((seed, function, d, instance)).spawn(2)
        self.d, self.count = d, 0
        self._points, self._seeds = np.random.default_rng(points), np.random.default_rng(seeds)

    def __call__(self, rng: np.random.Generator | None = None) -> np.ndarray:
        """The next start; the source that a caller offers is not needed.

        >>> bool(np.all(Starts(1, 8, 2, 1)() == Starts(1, 8, 2, 1)()))
        True
        """
        self.count += 1
        return self._points.uniform(-SPREAD, SPREAD, self.d)

    def seed(self, low: int, stop: int) -> int:
        """A seed for whatever else is random."""
        return int(self._seeds.integers(low, stop))

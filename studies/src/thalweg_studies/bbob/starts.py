"""The starts of runs: the same points for all entrants on the same problem."""

from collections.abc import Callable

import numpy as np

SPREAD = 4.0
"""Starts are uniform in [-SPREAD, SPREAD]^d, as in Hansen's BIPOP-CMA-ES of 2009; the minima lie in [-5, 5]^d."""

SIGMA0 = 2.0
"""The initial step size, as there."""

RESTARTS = 30
"""The largest number of restarts: more than any budget allows, as the population doubles each time."""


def problem_seed(seed: int, function: int, d: int, instance: int) -> int:
    """Return the seed of everything random on one problem."""
    return int(np.random.SeedSequence((seed, function, d, instance)).generate_state(1)[0])


def drawn(d: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Return a function that draws a start, as `minimize` takes it."""
    return lambda rng: rng.uniform(-SPREAD, SPREAD, d)


class Starts:
    """The starts that `minimize` draws from the same seed, for the peers; `count` minus one is the number of restarts.

    >>> bool(np.all(Starts(7, d=2)() == Starts(7, d=2)()))
    True
    """

    def __init__(self, seed: int, d: int) -> None:
        self.number, self.draw, self.count = seed, drawn(d), 0
        self._seeds = np.random.default_rng((seed, 1))

    def __call__(self) -> np.ndarray:
        """Draw the next start, and count it."""
        source = np.random.SeedSequence(self.number, spawn_key=(self.count,))
        self.count += 1
        return self.draw(np.random.default_rng(source))

    def seed(self, low: int, stop: int) -> int:
        """Return a seed for the peer's own random numbers."""
        return int(self._seeds.integers(low, stop))

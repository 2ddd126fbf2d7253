"""Where runs begin: the same points for all entrants on the same problem, whoever draws them."""

from collections.abc import Callable

import numpy as np

SPREAD = 4.0
"""Starts are uniform in [-4, 4]^d with sigma0 = 2, as in Hansen's BIPOP-CMA-ES of 2009; the minima lie in [-5, 5]^d."""

SIGMA0 = 2.0

RESTARTS = 30
"""More than any budget allows, as the population doubles each time."""


def problem_seed(seed: int, function: int, d: int, instance: int) -> int:
    """The seed of all that is random on one problem."""
    return int(np.random.SeedSequence((seed, function, d, instance)).generate_state(1)[0])


def drawn(d: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Draws a start, as `minimize` takes it."""
    return lambda rng: rng.uniform(-SPREAD, SPREAD, d)


class Starts:
    """The starts that `minimize` draws from the same seed, for the peers; counts them: all but the first are restarts.

    >>> bool(np.all(Starts(7, d=2)() == Starts(7, d=2)()))
    True
    """

    def __init__(self, seed: int, d: int) -> None:
        self.number, self.draw, self.count = seed, drawn(d), 0
        self._seeds = np.random.default_rng((seed, 1))

    def __call__(self) -> np.ndarray:
        """The next start."""
        source = np.random.SeedSequence(self.number, spawn_key=(self.count,))
        self.count += 1
        return self.draw(np.random.default_rng(source))

    def seed(self, low: int, stop: int) -> int:
        """A seed for whatever else is random."""
        return int(self._seeds.integers(low, stop))

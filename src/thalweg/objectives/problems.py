"""Objectives shifted by t ~ U[-2, 2]^d and optionally rotated at random, as in the paper.

Each transform depends on its own integer seed alone, so that all algorithms can be compared on the same problems.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from thalweg.objectives.base import Objective, Points, Transform, Values
from thalweg.objectives.functions import find_objective

HALF_WIDTH = 2.0
"""The shifts are drawn from [-2, 2]^d (section 5.2 of the paper)."""


@dataclass(frozen=True, eq=False)
class TransformedObjective:
    """An objective under a fixed transform, as a function of x alone."""

    objective: Objective
    transform: Transform

    def __call__(self, x: Points) -> Values:
        return self.objective(x, self.transform)

    @property
    def x_opt(self) -> np.ndarray:
        """The global minimiser."""
        return self.objective.x_opt(self.transform.shift.shape[-1], self.transform)


def translated(objective: str | Objective, d: int, seed: int) -> TransformedObjective:
    """Return the objective shifted at random.

    >>> problem = translated("rastrigin", 3, seed=7)
    >>> float(problem(problem.x_opt))
    0.0
    """
    return TransformedObjective(find_objective(objective), draw_transform(objective, d, seed))


def rotated(objective: str | Objective, d: int, seed: int) -> TransformedObjective:
    """Return the objective shifted as by `translated` with the same seed, and rotated at random as well."""
    return TransformedObjective(find_objective(objective), draw_transform(objective, d, seed, rotate=True))


def make_problems(
    objective: str | Objective, d: int, seeds: Iterable[int], *, rotate: bool = False
) -> tuple[Objective, Transform]:
    """Return a function fun(x, transform) and one transform for each seed, stacked along a leading axis for `jax.vmap`.

    The transforms are float64 numpy arrays; the i-th depends only on the i-th seed.

    >>> fun, transforms = make_problems("sphere", 2, seeds=range(5))
    >>> transforms.shift.shape
    (5, 2)
    >>> jax.vmap(fun)(transforms.shift, transforms).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0]
    """
    objective = find_objective(objective)
    draws = [draw_transform(objective, d, seed, rotate=rotate) for seed in seeds]
    if not draws:
        raise ValueError("seeds must hold at least one integer, got none; pass range(10), for example")
    return objective, jax.tree.map(lambda *parts: np.stack(parts), *draws)


def draw_transform(objective: str | Objective, d: int, seed: int, *, rotate: bool = False) -> Transform:
    """Draw a random transform, always with a rotation if the objective takes one; the shift does not depend on `rotate`."""
    objective = find_objective(objective)
    if seed < 0:
        raise ValueError(f"seed must be a non-negative integer, got {seed}")
    first, second = (np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(2))
    shift = first.uniform(-HALF_WIDTH, HALF_WIDTH, objective.check_dimension(d))
    return Transform(shift, random_rotation(second, d) if rotate or objective.takes_rotation else None)


def random_rotation(rng: np.random.Generator, d: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Draw an orthogonal matrix from the Haar distribution: QR of a normal matrix, the signs of R's diagonal moved into Q.

    Without the signs Q would depend on the convention of the QR routine (Mezzadri 2007). The determinant may be -1.
    """
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    return q * np.sign(np.diag(r))

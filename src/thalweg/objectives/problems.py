"""Random landscapes, as in the paper: an objective moved by t ~ U[-2, 2]^d and, on demand, turned by a random rotation.

Every landscape is drawn from its own integer seed and from nothing else, so all algorithms can meet the same ones.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from thalweg.objectives.base import Objective, Points, Transform, Values
from thalweg.objectives.registry import find

HALF_WIDTH = 2.0
"""Landscapes move within [-2, 2]^d (section 5.2 of the paper)."""


@dataclass(frozen=True, eq=False)
class Problem:
    """One objective on one landscape, a function of x alone."""

    objective: Objective
    transform: Transform

    def __call__(self, x: Points) -> Values:
        return self.objective(x, self.transform)

    @property
    def x_opt(self) -> np.ndarray:
        """The global minimum of this landscape."""
        return self.objective.x_opt(self.transform.shift.shape[-1], self.transform)


def translated(objective: str | Objective, d: int, seed: int) -> Problem:
    """The objective moved at random.

    >>> problem = translated("rastrigin", 3, seed=7)
    >>> float(problem(problem.x_opt))
    0.0
    """
    return Problem(find(objective), draw(objective, d, seed))


def rotated(objective: str | Objective, d: int, seed: int) -> Problem:
    """The objective moved as by `translated` with the same seed, and rotated at random as well."""
    return Problem(find(objective), draw(objective, d, seed, rotate=True))


def make_problems(
    objective: str | Objective, d: int, seeds: Iterable[int], *, rotate: bool = False
) -> tuple[Objective, Transform]:
    """A function fun(x, transform) and its transforms, one a seed, stacked along a leading axis to be mapped over.

    The transforms are float64 numpy arrays; the i-th depends on the i-th seed alone.

    >>> fun, transforms = make_problems("sphere", 2, seeds=range(5))
    >>> transforms.shift.shape
    (5, 2)
    >>> jax.vmap(fun)(transforms.shift, transforms).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0]
    """
    objective = find(objective)
    draws = [draw(objective, d, seed, rotate=rotate) for seed in seeds]
    if not draws:
        raise ValueError("seeds must name at least one landscape, got none; try range(10)")
    return objective, jax.tree.map(lambda *parts: np.stack(parts), *draws)


def draw(objective: str | Objective, d: int, seed: int, *, rotate: bool = False) -> Transform:
    """One random landscape. An objective with a rotation of its own is always rotated; the shift is the same either way."""
    objective = find(objective)
    if seed < 0:
        raise ValueError(f"seed must be a non-negative integer, got {seed}")
    first, second = (np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(2))
    shift = first.uniform(-HALF_WIDTH, HALF_WIDTH, objective.check(d))
    return Transform(shift, random_rotation(second, d) if rotate or objective.turns else None)


def random_rotation(rng: np.random.Generator, d: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """An orthogonal matrix from the Haar distribution: QR of a normal matrix, the signs of R's diagonal moved into Q.

    Without the signs Q would depend on the convention of the QR routine (Mezzadri 2007). The determinant may be -1.
    """
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    return q * np.sign(np.diag(r))

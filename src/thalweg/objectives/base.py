"""What an objective is: a test function with a known minimum, for numpy and JAX arrays alike."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

Points = Any
"""An array of shape (..., d), of numpy or of JAX; where a user calls, also nested lists of numbers."""

Values = Any
"""An array of shape (...), of the same kind as the points."""


class Transform(NamedTuple):
    """A moved and turned landscape, f(R (x - t)): plain data, so that `jax.vmap` can run over many landscapes at once."""

    shift: Any
    """t, shape (d,)."""

    rotation: Any = None
    """R, shape (d, d) and orthogonal; None leaves the axes as they are."""

    def enter(self, x: Points) -> Points:
        """R (x - t), for points (..., d)."""
        moved = x - self.shift
        return moved if self.rotation is None else moved @ self.rotation.T

    def leave(self, y: Points) -> Points:
        """Undo `enter`: R' y + t."""
        turned = y if self.rotation is None else y @ self.rotation
        return turned + self.shift


@dataclass(frozen=True)
class Objective:
    """A function to minimise whose minimum is known to be 0.

    Takes one point (d,) or a batch (..., d), and optionally a transform of the landscape. numpy in, numpy out; JAX arrays stay
    JAX arrays, under `jit`, `vmap` and `grad` too. Hashable, so that `jax.jit` can take it as a static argument.

    >>> from thalweg.objectives import OBJECTIVES
    >>> rosenbrock = OBJECTIVES["rosenbrock"]
    >>> float(rosenbrock([-1.0, 1.0]))
    4.0
    >>> rosenbrock([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]).tolist()
    [0.0, 2.0]
    >>> float(rosenbrock([3.0, -1.0], Transform(shift=np.array([2.0, -2.0]))))
    0.0
    """

    name: str
    function: Callable[..., Values]
    """The untransformed function of points (..., d); with `turns`, of points and a rotation that may be None."""

    optimum: Callable[[int], np.ndarray]
    """Where the untransformed function is 0 in dimension d; see `x_opt`."""

    about: str
    multimodal: bool = False
    least_dimension: int = 1
    turns: bool = False
    """Whether a rotation is part of the definition, used once more inside the function; such a problem is always rotated."""

    f_opt: float = 0.0

    def __call__(self, x: Points, transform: Transform | None = None) -> Values:
        return evaluate(self, transform, x)

    def x_opt(self, d: int, transform: Transform | None = None) -> np.ndarray:
        """The global minimum in dimension d."""
        optimum = self.optimum(self.check(d))
        return optimum if transform is None else np.asarray(transform.leave(optimum))

    def check(self, d: int) -> int:
        """Return the dimension where the function is defined in it; complain otherwise."""
        if d < self.least_dimension:
            raise ValueError(f"{self.name} needs points of dimension {self.least_dimension} or more, got dimension {d}")
        return d


def evaluate(objective: Objective, transform: Transform | None, x: Points) -> Values:
    """The values f(R (x - t)) of the points x (..., d): pure, for one transform; map over several with `jax.vmap`."""
    x = as_points(x)
    objective.check(x.shape[-1])
    y = x if transform is None else transform.enter(x)
    if objective.turns:
        return objective.function(y, None if transform is None else transform.rotation)
    return objective.function(y)


def as_points(x: Points) -> Points:
    """An array of floating-point numbers with at least one axis; JAX arrays stay JAX arrays."""
    x = x if isinstance(x, jax.Array) else np.asarray(x)
    if x.ndim == 0:
        raise ValueError(f"x must have shape (d,) or (..., d), got the scalar {x}; write [x] for a point in dimension 1")
    return x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(float)


def namespace(x: Points) -> Any:
    """The module whose functions fit the array: `jax.numpy` for JAX's arrays and tracers, `numpy` otherwise."""
    return jnp if isinstance(x, jax.Array) else np


def origin(d: int) -> np.ndarray:
    """The point 0, where most of the functions have their minimum."""
    return np.zeros(d)

"""Test functions with a known minimum, defined once for numpy and JAX arrays."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

Points = Any
"""A numpy or JAX array of shape (..., d); public functions also take nested lists of numbers."""

Values = Any
"""A numpy or JAX array of shape (...), of the same kind as the points."""


class Transform(NamedTuple):
    """A shift and a rotation of the search space, x -> R (x - t): a pytree, so that `jax.vmap` can map over many of them."""

    shift: Any
    """The vector t of shape (d,)."""
    rotation: Any = None
    """The orthogonal matrix R of shape (d, d); None stands for the identity."""

    def forward(self, x: Points) -> Points:
        """Return R (x - t) for points x of shape (..., d)."""
        moved = x - self.shift
        return moved if self.rotation is None else moved @ self.rotation.T

    def inverse(self, y: Points) -> Points:
        """Return R' y + t, the inverse of `forward`."""
        rotated = y if self.rotation is None else y @ self.rotation
        return rotated + self.shift


@dataclass(frozen=True)
class Objective:
    """A function to minimise, with a known minimiser and the minimum 0.

    Call it with one point (d,) or a batch (..., d), and optionally with a `Transform`. numpy arrays give numpy arrays and JAX
    arrays give JAX arrays, also under `jit`, `vmap` and `grad`. Objectives are hashable static arguments for `jax.jit`.

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
    """The untransformed function of points (..., d); with `takes_rotation`, of points and a rotation or None."""
    optimum: Callable[[int], np.ndarray]
    """The minimiser of the untransformed function in dimension d."""
    about: str
    """A short description of the landscape."""
    multimodal: bool = False
    least_dimension: int = 1
    takes_rotation: bool = False
    """True if the rotation is used once more inside the function; random transforms then always have one."""
    f_opt: float = 0.0

    def __call__(self, x: Points, transform: Transform | None = None) -> Values:
        """Return the values f(R (x - t)) of points x (..., d) under one transform; map over several with `jax.vmap`."""
        x = x if isinstance(x, jax.Array) else np.asarray(x)
        if x.ndim == 0:
            raise ValueError(f"x must have shape (d,) or (..., d), got the scalar {x}; write [x] for a point in dimension 1")
        x = x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(float)
        self.check_dimension(x.shape[-1])
        y = x if transform is None else transform.forward(x)
        if self.takes_rotation:
            return self.function(y, None if transform is None else transform.rotation)
        return self.function(y)

    def x_opt(self, d: int, transform: Transform | None = None) -> np.ndarray:
        """Return the global minimiser in dimension d."""
        optimum = self.optimum(self.check_dimension(d))
        return optimum if transform is None else np.asarray(transform.inverse(optimum))

    def check_dimension(self, d: int) -> int:
        """Return d, or raise an error if the function is not defined in dimension d."""
        if d < self.least_dimension:
            raise ValueError(f"{self.name} needs dimension d >= {self.least_dimension}, got d = {d}; pass a longer point")
        return d


def namespace(x: Points) -> Any:
    """Return `jax.numpy` for JAX arrays and tracers, `numpy` for all others."""
    return jnp if isinstance(x, jax.Array) else np

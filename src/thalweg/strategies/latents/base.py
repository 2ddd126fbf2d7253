"""The interface of a latent: an evolution strategy with the search distribution z = m + A e, e from a base distribution."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import floor, inf, log, log2
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from thalweg.strategies.latents.bases import GAUSSIAN, Base
from thalweg.strategies.latents.frame import Frame, SolvedFrame
from thalweg.strategies.latents.turn import solved_root, with_root
from thalweg.strategies.strategy import Array, Info, Key, State

FAR = 2.0**300
"""Largest size of a root, and the inverse of the smallest, which no search reaches that comes to an end."""


def default_population(d: int) -> int:
    """Return pycma's default number of points per generation, 4 + 3 ln d."""
    return 4 + floor(3 * log(d))


@dataclass(frozen=True)
class Latent(ABC):
    """An evolution strategy on R^d with the search distribution z = mean + sigma root e; a strategy in its own right.

    Subclasses define the initial state (`start`) and the update from a generation (`update`). Their states are named tuples
    with at least `key`, `mean` (d,), `sigma` () and `root`, (d, d) or, for a diagonal latent, (d,). Those that also hold the
    `inverse` of the root, and log |det root| as `log_volume`, save a factorisation wherever these are needed.
    """

    popsize: int | None = None
    base: ClassVar[Base] = GAUSSIAN
    """The distribution of e."""
    traceable: bool = field(default=True, init=False, repr=False)
    """True if JAX can trace `ask` and `update`."""
    absorbs: ClassVar[bool] = True
    """True if `absorb` is supported. A latent that cannot take an affine correction leaves the flow in raw coordinates."""
    diagonal: ClassVar[bool] = False
    """True if `root` is a vector, which stands for a diagonal matrix."""

    @abstractmethod
    def start(self, key: Key, x0: Array, sigma0: Array) -> State:
        """Return the state before the first generation."""

    @abstractmethod
    def update(self, state: State, e: Array, f: Array) -> State:
        """Return the state after learning from the values f (n,) of the draws e (n, d)."""

    def population(self, d: int) -> int:
        """Return the number of points per generation: `popsize`, or pycma's 4 + 3 ln d."""
        return self.popsize if self.popsize is not None else default_population(d)

    def init(self, key: Key, x0: Array, sigma0: Array | float) -> State:
        """Return the state before the first generation, in the floating-point type of x0."""
        x0 = jnp.asarray(x0)
        return self.start(key, x0, jnp.asarray(sigma0, x0.dtype))

    def frame(self, state: Any) -> Frame:
        """Return the affine map of the search distribution."""
        return Frame(state.mean, state.sigma * state.root)

    def solved(self, state: Any) -> SolvedFrame:
        """Return the affine map of the search distribution with its inverse and its determinant."""
        return solved_root(state, self.frame(state))

    def absorb(self, state: Any, frame: SolvedFrame) -> State:
        """Replace the affine map by `frame`; the step size and the evolution paths do not change, docs/math.md (16)."""
        return with_root(state._replace(mean=frame.frame.mean), frame)

    def squeezed(self, state: Any, factors: Array) -> State:
        """Multiply the search distribution by factors around its mean; what all have in common belongs to the step size."""
        common = jnp.minimum(jnp.max(factors), 1.0)
        frame = self.solved(state).squeezed(factors, state.mean)
        return self.absorb(state._replace(sigma=common * state.sigma), frame)

    def shifted(self, state: Any, shift: Array) -> State:
        """Translate the search distribution; evolution paths do not change."""
        return state._replace(mean=state.mean + shift)

    def resized(self, before: Any, state: Any, free: Array) -> State:
        """Return the state: only a step size that follows the path of the mean can tell coordinates apart."""
        return state

    def balanced(self, state: Any) -> State:
        """Return the same distribution with a root near 1, once it has drifted away: sigma makes up for it, to the last bit.

        Step size and root are two factors of one size, and a search that follows a moving target drives them apart. The factor
        is a power of 2, so that no product changes. Only for states outside of compiled functions.
        """
        size = float(np.max(np.abs(np.asarray(state.root))))  # by numpy, which compiles nothing
        if not 0 < size < inf or 1 / FAR < size < FAR:
            return state
        factor = 2.0 ** round(log2(size))
        state = state._replace(**({"path": state.path / factor} if hasattr(state, "path") else {}))  # it is in units of sigma
        if getattr(state, "inverse", None) is not None:
            volume = state.log_volume - state.mean.shape[-1] * log(factor)
            state = state._replace(inverse=state.inverse * factor, log_volume=volume)
        return state._replace(sigma=state.sigma * factor, root=state.root / factor)

    def started(self, state: Any, mean: Array, root: Array) -> State:
        """Begin with the distribution N(mean, root root') instead; a diagonal latent takes its standard deviations."""
        scale = jnp.linalg.norm(root, axis=1) if self.diagonal else root
        frame = Frame(mean, scale).solved()
        return self.absorb(state._replace(sigma=jnp.exp(frame.log_det() / mean.shape[-1])), frame)

    def ask(self, state: Any) -> tuple[Array, Array, State]:
        d = state.mean.shape[-1]
        key, draw = jax.random.split(state.key)
        e = self.base.sample(draw, (self.population(d), d), state.mean.dtype)
        return e, self.frame(state).place(e), state._replace(key=key)

    def tell(self, state: Any, e: Array, x: Array, f: Array) -> tuple[State, Info]:
        state = self.update(state, e, f)
        return state, {"sigma": state.sigma}

    def place(self, state: Any, e: Array) -> Array:
        return self.frame(state).place(e)

    def invert(self, state: Any, x: Array) -> Array:
        return self.frame(state).whiten(x)

    def log_prob(self, state: Any, x: Array) -> Array:
        frame = self.frame(state)
        return self.base.log_prob(frame.whiten(x)) - frame.log_det()

    def spread(self, state: Any) -> tuple[Array, Array]:
        frame = self.frame(state)
        return frame.mean, frame.std()

    def affine_scale(self, state: Any) -> Array:
        return self.frame(state).scale

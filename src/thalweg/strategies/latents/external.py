"""Third-party optimisers as latents: any ask/tell object whose normal search distribution can be read."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from thalweg.strategies.latents.base import Latent
from thalweg.strategies.latents.frame import SolvedFrame
from thalweg.strategies.strategy import Array, Key, State


class ExternalState(NamedTuple):
    """The object and its distribution after the last update.

    `ask` and `update` change the object in place: unlike with other latents, a state cannot be used again after `update`.
    """

    key: Key
    mean: Array
    sigma: Array
    root: Array
    optimiser: Any
    e: np.ndarray
    """The last draws."""
    z: np.ndarray
    """The points of these draws, exactly as the object gave them."""


@dataclass(frozen=True)
class ExternalLatent(Latent):
    """A latent that wraps a third-party optimiser. JAX cannot trace it, and it takes no affine correction.

    Subclasses define how the object is made, asked and told, and how its distribution N(mean, sigma^2 root root') is read. The
    object draws its random numbers from seeds that come from the key; no global generator is read or set.
    """

    traceable: bool = field(default=False, init=False, repr=False)
    absorbs: ClassVar[bool] = False

    @abstractmethod
    def make(self, x0: np.ndarray, sigma0: float) -> Any:
        """Return the object before its first generation."""

    @abstractmethod
    def draw(self, optimiser: Any, seed: int) -> np.ndarray:
        """Seed the object's generator and ask it for a generation (n, d)."""

    @abstractmethod
    def learn(self, optimiser: Any, z: np.ndarray, f: np.ndarray) -> None:
        """Tell the object the finite values f of the points z."""

    @abstractmethod
    def distribution(self, optimiser: Any) -> tuple[np.ndarray, float, np.ndarray]:
        """Return mean, sigma and root of the distribution of the next generation; the root is C^(1/2)."""

    def start(self, key: Key, x0: Array, sigma0: Array) -> ExternalState:
        optimiser = self.make(np.array(x0, np.float64), float(sigma0))
        none = np.empty((0, x0.shape[-1]))
        return ExternalState(key, *self._seen(optimiser, x0.dtype), optimiser, none, none)

    def absorb(self, state: ExternalState, frame: SolvedFrame) -> State:
        raise TypeError(f"{type(self).__name__} cannot absorb an affine map; use the flow in raw coordinates (frame='raw')")

    def started(self, state: ExternalState, mean: Array, root: Array) -> ExternalState:
        """Begin anew at the mean; objects differ in how they take a covariance, so that they get its size alone."""
        return self.start(state.key, mean, jnp.exp(jnp.linalg.slogdet(root)[1] / mean.shape[-1]))

    def ask(self, state: ExternalState) -> tuple[Array, Array, ExternalState]:
        key, draw = jax.random.split(state.key)
        z = self.draw(state.optimiser, int(jax.random.bits(draw, (), jnp.uint32)))
        placed = jnp.asarray(z, state.mean.dtype)
        e = self.frame(state).whiten(placed)
        return e, placed, state._replace(key=key, e=np.asarray(e), z=z)

    def update(self, state: ExternalState, e: Array, f: Array) -> ExternalState:
        z = np.array(self.frame(state).place(e), np.float64)
        if state.e.shape == e.shape:  # the object gets its own points back exactly; only other points are computed
            own = np.all(state.e == np.asarray(e), axis=-1)
            z[own] = state.z[own]
        self.learn(state.optimiser, z, finite_values(np.asarray(f, np.float64)))
        return ExternalState(state.key, *self._seen(state.optimiser, state.mean.dtype), *state[4:])

    def _seen(self, optimiser: Any, dtype: Any) -> tuple[Array, Array, Array]:
        mean, sigma, root = (jnp.array(part, dtype) for part in self.distribution(optimiser))
        return mean, sigma, root


def finite_values(f: np.ndarray) -> np.ndarray:
    """Return the values with failures (NaN, inf) just above the worst finite one, in order, and -inf just below the best.

    >>> given = finite_values(np.array([np.nan, 1.0, np.inf, 3.0, -np.inf]))
    >>> np.argsort(given).tolist(), (given - [3.0, 1.0, 3.0, 3.0, 1.0]).round(9).tolist()
    ([4, 1, 3, 0, 2], [0.0, 0.0, 0.0, 0.0, -0.0])
    """
    finite = f[np.isfinite(f)]
    best, worst = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    given = np.where(f == -np.inf, np.nextafter(best, -np.inf), f)
    for failed in np.flatnonzero(~np.isfinite(given)):  # without ties, as not every package sorts stably
        worst = given[failed] = np.nextafter(worst, np.inf)
    return given

"""What a latent is: an evolution strategy whose search distribution is z = m + A e, with e from a fixed base distribution."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import floor, log
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from thalweg.strategies.latents.bases import GAUSSIAN, Base
from thalweg.strategies.latents.frame import Frame
from thalweg.strategies.strategy import Array, Info, Key, State


def default_population(d: int) -> int:
    """pycma's default number of points per generation, 4 + 3 ln d."""
    return 4 + floor(3 * log(d))


@dataclass(frozen=True)
class Latent(ABC):
    """An evolution strategy on R^d with the search distribution z = mean + sigma root e; a strategy in its own right.

    Subclasses say how the state begins (`start`) and how it learns (`update`). Their states are named tuples that hold at
    least `key`, `mean` (d,), `sigma` () and `root`, (d, d) or, for a diagonal latent, (d,).
    """

    popsize: int | None = None

    base: ClassVar[Base] = GAUSSIAN
    """The distribution of e."""

    traceable: bool = field(default=True, init=False, repr=False)
    """Whether JAX may trace `ask` and `update`."""

    absorbs: ClassVar[bool] = True
    """Whether `absorb` exists. A latent that cannot take an affine correction leaves the flow in raw coordinates."""

    diagonal: ClassVar[bool] = False
    """Whether `root` is a vector, which stands for a diagonal matrix."""

    @abstractmethod
    def start(self, key: Key, x0: Array, sigma0: Array) -> State:
        """The state before the first generation."""

    @abstractmethod
    def update(self, state: State, e: Array, f: Array) -> State:
        """Learn from the values f (n,) of the draws e (n, d)."""

    def population(self, d: int) -> int:
        """Points per generation: `popsize`, or pycma's 4 + 3 ln d."""
        return self.popsize if self.popsize is not None else default_population(d)

    def init(self, key: Key, x0: Array, sigma0: Array | float) -> State:
        """The state before the first generation, in the floating-point type of x0."""
        x0 = jnp.asarray(x0)
        return self.start(key, x0, jnp.asarray(sigma0, x0.dtype))

    def frame(self, state: Any) -> Frame:
        """The affine map of the search distribution."""
        return Frame(state.mean, state.sigma * state.root)

    def absorb(self, state: Any, frame: Frame) -> State:
        """Take over another affine map; the step-size and the evolution paths stay as they are (docs/math.md (16))."""
        return state._replace(mean=frame.mean, root=frame.scale / state.sigma)

    def ask(self, state: Any) -> tuple[Array, Array, State]:
        d = state.mean.shape[-1]
        key, draw = jax.random.split(state.key)
        e = self.base.sample(draw, (self.population(d), d), state.mean.dtype)
        return e, self.frame(state).place(e), state._replace(key=key)

    def tell(self, state: Any, e: Array, x: Array, f: Array) -> tuple[State, Info]:
        state = self.update(state, e, f)
        return state, {"sigma": state.sigma}

    def invert(self, state: Any, x: Array) -> Array:
        return self.frame(state).whiten(x)

    def log_prob(self, state: Any, x: Array) -> Array:
        frame = self.frame(state)
        return self.base.log_prob(frame.whiten(x)) - frame.log_det()

    def spread(self, state: Any) -> tuple[Array, Array]:
        frame = self.frame(state)
        return frame.mean, frame.std()

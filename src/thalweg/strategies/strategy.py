"""The words every layer shares: arrays, keys, and what a search strategy is."""

from typing import Any, Protocol

import jax

Array = jax.Array
Key = jax.Array
Params = Any
"""A pytree of arrays: the parameters of a flow."""

State = Any
"""A pytree of arrays: all that the next generation needs, and nothing else."""

Info = dict[str, Array]
"""Scalars a person may want to see after a generation; nothing reads them back."""


class Strategy(Protocol):
    """A search strategy as pure functions of its state.

    A latent is one, and so is `GNNES`, which wraps a latent. Strategies are frozen dataclasses: hashable, so that `jax.jit`
    can take them as static arguments and two optimisers of the same make share their compiled code.
    """

    @property
    def traceable(self) -> bool:
        """Whether `ask` and `tell` may be traced by JAX (false where a third-party Python object is inside)."""
        ...

    def population(self, d: int) -> int:
        """The number of points per generation in dimension d."""
        ...

    def init(self, key: Key, x0: Array, sigma0: Array | float) -> State:
        """The state before the first generation: mean x0, standard deviation sigma0 in every coordinate."""
        ...

    def ask(self, state: State) -> tuple[Array, Array, State]:
        """Draw a generation: standard draws e and points x, both (population, d), and the state with its key moved on."""
        ...

    def tell(self, state: State, e: Array, x: Array, f: Array) -> tuple[State, Info]:
        """Learn from the values f of the points x that came from the draws e."""
        ...

    def invert(self, state: State, x: Array) -> Array:
        """The standard draws that give the points x."""
        ...

    def log_prob(self, state: State, x: Array) -> Array:
        """The log-density of the points x under the current search distribution."""
        ...

    def spread(self, state: State) -> tuple[Array, Array]:
        """Mean and standard deviation per coordinate of the (latent) search distribution, for stop tests and displays."""
        ...

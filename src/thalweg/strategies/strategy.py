"""Types that every layer shares: arrays, random keys, and the interface of a search strategy."""

from typing import Any, Protocol, TypedDict, runtime_checkable

import jax

Array = jax.Array
Key = jax.Array
Params = Any
"""A pytree of arrays: the parameters of a flow."""

State = Any
"""A pytree of arrays: everything that the next generation needs, and nothing else."""


class Info(TypedDict, total=False):
    """Scalars that describe a generation, for people and logs; no algorithm reads them back.

    A strategy returns the keys that apply to it. A strategy of your own may add others: each is logged under its name.
    """

    sigma: Array
    """Step size: with a flow, the d-th root of the volume factor |det| of the search distribution."""
    nonlinearity: Array
    """Root mean square of the bend in standard coordinates, per coordinate; 0 for a straight distribution."""
    bow: Array
    """Length of the bow of a curved frame, docs/math.md (25): the root mean square by which it bends."""
    kl: Array
    """KL divergence of the last step of the flow's parameters."""
    radius: Array
    """Radius of the trust region, in units of the KL divergence."""
    penalty: Array
    """lambda, the factor of the KL divergence in the objective of the penalised step."""
    effective_samples: Array
    """Effective number of points behind the importance-weighted objective of the flow step."""
    gain: Array
    """Decrease of the objective of the penalised step; 0 where the step was refused."""
    step_evidence: Array
    """Evidence that the last step of the flow helped, docs/math.md (18): positive is good, within +-1 is noise."""
    bend_evidence: Array
    """Evidence that the bend helps, docs/math.md (17), on the same scale."""


class Strategy(Protocol):
    """A search strategy as pure functions of its state.

    A latent is a strategy, and so is `GNNES`, which wraps a latent. Strategies are frozen dataclasses: hashable, so that
    `jax.jit` takes them as static arguments and equal strategies share their compiled code.
    """

    @property
    def traceable(self) -> bool:
        """True if JAX can trace `ask` and `tell`; false where a third-party Python object is inside."""
        ...

    def population(self, d: int) -> int:
        """Return the number of points per generation in dimension d."""
        ...

    def init(self, key: Key, x0: Array, sigma0: Array | float) -> State:
        """Return the state before the first generation: mean x0, standard deviation sigma0 in every coordinate."""
        ...

    def ask(self, state: State) -> tuple[Array, Array, State]:
        """Draw a generation: standard draws e and points x, both (population, d), and the state with its key advanced."""
        ...

    def tell(self, state: State, e: Array, x: Array, f: Array) -> tuple[State, Info]:
        """Learn from the values f of the points x that the draws e gave."""
        ...

    def invert(self, state: State, x: Array) -> Array:
        """Return the standard draws that give the points x."""
        ...

    def log_prob(self, state: State, x: Array) -> Array:
        """Return the log-density of the points x under the current search distribution."""
        ...

    def spread(self, state: State) -> tuple[Array, Array]:
        """Return mean and standard deviation per coordinate of the (latent) distribution, for stop tests and displays."""
        ...


@runtime_checkable
class HasPlace(Protocol):
    """An optional part of a strategy. Without it, there can be no model."""

    def place(self, state: State, e: Array) -> Array:
        """Return the points that the standard draws e give: the inverse of `invert`."""
        ...


@runtime_checkable
class HasBow(Protocol):
    """An optional part of a strategy: a bend that a model can set."""

    def for_model(self) -> "Strategy":
        """Return the strategy that a search with a model uses."""
        ...

    def bow(self, state: State) -> tuple[Array, Array] | None:
        """Return axis and bow of the search distribution, x = frame(e + bow ((axis.e)^2 - 1) / sqrt(2)); None without."""
        ...

    def bent(self, state: State, bow: Array, precision: Array) -> State:
        """Return the state with another bow; `precision` is 1 over its squared error."""
        ...


@runtime_checkable
class HasSqueeze(Protocol):
    """An optional part of a strategy. Without it, the search distribution may become wider than the bounds."""

    def squeezed(self, state: State, factors: Array) -> State:
        """Return the state with the search distribution multiplied by `factors`, (d,), around its mean."""
        ...


@runtime_checkable
class HasShift(HasSqueeze, Protocol):
    """An optional part of a strategy. Without it, nothing keeps the search from settling on whole numbers too early."""

    def shifted(self, state: State, shift: Array) -> State:
        """Return the state with the search distribution translated by `shift`, (d,)."""
        ...

    def resized(self, before: State, state: State, free: Array) -> State:
        """Return the state that `tell` has made of `before` with the step size that the coordinates `free` alone ask for."""
        ...


@runtime_checkable
class HasWarmStart(Protocol):
    """An optional part of a strategy. Without it, a search from known points begins with their mean and one size alone."""

    def started(self, state: State, mean: Array, root: Array) -> State:
        """Return a state before the first generation with the search distribution N(mean, root root'), root (d, d)."""
        ...


@runtime_checkable
class HasBalance(Protocol):
    """An optional part of a strategy. Without it, step size and root of the covariance may drift apart in very long runs."""

    def balanced(self, state: State) -> State:
        """Return the state, or the same distribution with a root near 1 if that has drifted far away."""
        ...


@runtime_checkable
class HasAffineScale(Protocol):
    """An optional part of a strategy. Without it, stop tests of the covariance's condition do not apply."""

    def affine_scale(self, state: State) -> Array | None:
        """Return A, (d, d) or diagonal (d,), of the affine part m + A e of the search distribution; None where unknown."""
        ...

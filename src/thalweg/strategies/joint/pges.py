"""Joint PGES: the plain gradient for latent and flow together, the paper's first baseline; docs/math.md (21)."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from thalweg.strategies import ranking
from thalweg.strategies.distribution import SearchDistribution
from thalweg.strategies.flows import NICE, Flow
from thalweg.strategies.latents.base import default_population
from thalweg.strategies.latents.bases import GAUSSIAN
from thalweg.strategies.latents.frame import Frame
from thalweg.strategies.strategy import Array, Info, Key, Params


class Theta(NamedTuple):
    """All learned parameters, as unconstrained numbers."""

    mean: Array
    log_diagonal: Array
    """Logarithms of the diagonal of A, a lower triangular matrix."""
    lower: Array
    """The d (d - 1) / 2 entries of A below its diagonal, row by row."""
    flow: Params

    def frame(self) -> Frame:
        """Return the affine map of m and A."""
        return Frame(self.mean, jnp.diag(jnp.exp(self.log_diagonal)).at[np.tril_indices(len(self.mean), -1)].set(self.lower))


class JointState(NamedTuple):
    key: Key
    theta: Theta
    origin: Frame
    """x0 and sigma0. theta describes the distribution of (x - x0) / sigma0, so that learning rates have no unit."""


@dataclass(frozen=True)
class JointPGES:
    """Stochastic gradient descent of J(theta), theta = (mu, eta), for a flow on a Gaussian: x = x0 + sigma0 g_eta(m + A e).

    A baseline: it cannot locate a minimum precisely. The score grows like 1/A, so once A is about sqrt(rate) wide (in units of
    sigma0) the steps are as long as the distribution is wide. With larger rates than the default the weights of the flow
    eventually diverge. The flow acts in raw coordinates, as in the paper.
    """

    popsize: int | None = None
    flow: Flow = field(default_factory=NICE)
    rate: float = 0.01
    shaping: Literal["standardised", "ranks"] = "standardised"
    """Shaping of f: (f - mean) / (std + 1e-5), or -n times the utilities of the ranks."""
    traceable: bool = field(default=True, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.shaping not in ("standardised", "ranks"):
            raise ValueError(f"shaping must be 'standardised' or 'ranks', got {self.shaping!r}")

    def direction(self, theta: Theta, gradient: Array, key: Key) -> Array:
        """Return the direction of the step from theta, for the gradient of J with respect to the flat theta."""
        return gradient

    @property
    def distribution(self) -> SearchDistribution:
        """The family of search distributions."""
        return SearchDistribution(self.flow, GAUSSIAN, raw=True)

    def population(self, d: int) -> int:
        return self.popsize if self.popsize is not None else default_population(d)

    def init(self, key: Key, x0: Array, sigma0: Array | float) -> JointState:
        x0 = jnp.asarray(x0)
        d, dtype = x0.shape[-1], x0.dtype
        key, key_flow = jax.random.split(key)
        zero = jnp.zeros_like(x0)
        theta = Theta(zero, zero, jnp.zeros(d * (d - 1) // 2, dtype), self.flow.init(key_flow, d, dtype))
        return JointState(key, theta, Frame(x0, jnp.full(d, sigma0, dtype)))

    def ask(self, state: JointState) -> tuple[Array, Array, JointState]:
        d = state.origin.mean.shape[-1]
        key, draw = jax.random.split(state.key)
        e = self.distribution.base.sample(draw, (self.population(d), d), state.origin.mean.dtype)
        y = self.distribution.forward(state.theta.flow, state.theta.frame(), e)
        return e, state.origin.place(y), state._replace(key=key)

    def tell(self, state: JointState, e: Array, x: Array, f: Array) -> tuple[JointState, Info]:
        key, draw = jax.random.split(state.key)
        flat, unravel = ravel_pytree(state.theta)
        gradient = self.gradient(state.theta, state.origin.whiten(x), f)
        new = flat - self.rate * self.direction(state.theta, gradient, draw)
        theta: Theta = unravel(jnp.where(jnp.all(jnp.isfinite(new)), new, flat))  # a step that overflows is not taken
        sigma = state.origin.scale[0] * jnp.exp(jnp.mean(theta.log_diagonal))
        return JointState(key, theta, state.origin), {"sigma": sigma}

    def place(self, state: JointState, e: Array) -> Array:
        return state.origin.place(self.distribution.forward(state.theta.flow, state.theta.frame(), e))

    def invert(self, state: JointState, x: Array) -> Array:
        return self.distribution.inverse(state.theta.flow, state.theta.frame(), state.origin.whiten(x))

    def log_prob(self, state: JointState, x: Array) -> Array:
        return self.density(state.theta, state.origin.whiten(x)) - state.origin.log_det()

    def spread(self, state: JointState) -> tuple[Array, Array]:
        frame = state.origin.after(Frame(state.theta.mean, state.theta.frame().std()))
        return frame.mean, frame.std()

    def density(self, theta: Theta, y: Array) -> Array:
        """Return log pi_theta at the points y, in units of x0 and sigma0."""
        return self.distribution.log_prob(theta.flow, theta.frame(), y)

    def gradient(self, theta: Theta, y: Array, f: Array) -> Array:
        """Return the score-function gradient of J with respect to the flat theta, docs/math.md (2)."""
        n = len(f)
        shaped = ranking.standardise(f) if self.shaping == "standardised" else ranking.assign(f, -n * ranking.nes_utilities(n))
        return ravel_pytree(jax.grad(lambda t: jnp.mean(shaped * self.density(t, y)))(theta))[0]

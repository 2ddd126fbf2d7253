"""Joint NES: the natural gradient for latent and flow together, the paper's second baseline; docs/math.md (22)."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jax.scipy.linalg import cho_factor, cho_solve

from thalweg.strategies.joint.pges import JointPGES, Theta
from thalweg.strategies.strategy import Array, Key


@dataclass(frozen=True)
class JointNES(JointPGES):
    """Descent along (F + damping I)^-1 gradient, with the Fisher matrix F averaged over draws, which cost no evaluation.

    The damping is necessary: F is singular, since the mean and the flow can both make a shift, and its estimate from fewer
    samples than parameters is singular anyway.
    """

    rate: float = 0.3
    damping: float = 1.0
    """beta. A value high enough for the flow is too high for the latent, which then concentrates slowly (section 4.1)."""
    fisher_samples: int = 500

    def direction(self, theta: Theta, gradient: Array, key: Key) -> Array:
        fisher = self.fisher(theta, key)
        damped = fisher + self.damping * jnp.eye(len(fisher), dtype=fisher.dtype)
        return cho_solve(cho_factor(damped), gradient)

    def fisher(self, theta: Theta, key: Key) -> Array:
        """Return the mean of s s' over draws from pi_theta, where s is the gradient of log pi_theta by the flat theta."""
        e = self.distribution.base.sample(key, (self.fisher_samples, theta.mean.shape[-1]), theta.mean.dtype)
        y = self.distribution.forward(theta.flow, theta.frame(), e)
        scores = jax.vmap(lambda point: ravel_pytree(jax.grad(self.density)(theta, point))[0])(y)
        return scores.T @ scores / self.fisher_samples

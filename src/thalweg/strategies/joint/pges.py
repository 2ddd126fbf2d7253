"""Joint PGES: the plain gradient for latent and flow together, the paper's first baseline; docs/math.md (21)."""

from dataclasses import dataclass

from thalweg.strategies.joint.base import Joint, Theta
from thalweg.strategies.strategy import Array, Key


@dataclass(frozen=True)
class JointPGES(Joint):
    """Stochastic gradient descent over mean, Cholesky factor and flow. A baseline: it cannot locate a minimum precisely.

    The score grows like 1/A, so once A is about sqrt(rate) wide (in units of sigma0) the steps are as long as the
    distribution is wide. With larger rates than the default the weights of the flow eventually diverge.
    """

    def direction(self, theta: Theta, gradient: Array, key: Key) -> Array:
        return gradient

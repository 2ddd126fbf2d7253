"""The interface of a flow step, which moves the parameters of the flow after each generation."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from thalweg.strategies.distribution import SearchDistribution
from thalweg.strategies.latents.frame import Frame, FrameLike
from thalweg.strategies.strategy import Array, Info, Key, Params, State


class Batch(NamedTuple):
    """One evaluated generation, and the draws of the step that learns from it."""

    e: Array
    """The standard draws (n, d)."""
    x: Array
    """The points (n, d) that the draws gave."""
    f: Array
    """The values (n,) of the points."""
    log_q: Array
    """The log-densities (n,) of the points under the distribution that drew them, pi_{mu_t, eta_t}."""
    frame: FrameLike
    """The frame of that distribution."""
    design: Array
    """Standard normals, the same in each generation, over which the affine part is fitted, docs/math.md (15)."""
    key: Key
    """The random key of the step."""


@dataclass(frozen=True)
class FlowStep(ABC):
    """The choice of eta_{t+1} after the latent has moved from mu_t to mu_{t+1}, docs/math.md (10)."""

    @abstractmethod
    def init(self, distribution: SearchDistribution, params: Params, n: int, d: int) -> State:
        """Return the state of the step before the first generation of n points in dimension d."""

    def reconsider(
        self, distribution: SearchDistribution, params: Params, affine_inverse: Frame | None, state: State, batch: Batch
    ) -> tuple[Params, State]:
        """Judge the last step and the bend by the new batch, before the next step; by default, accept them.

        `affine_inverse` is the inverse of the flow's affine part at these parameters; None in raw coordinates.
        """
        return params, state

    @abstractmethod
    def step(
        self, distribution: SearchDistribution, params: Params, frame: FrameLike, state: State, batch: Batch
    ) -> tuple[Params, State, Info]:
        """Return the new eta. `frame` is that of pi_{mu_{t+1}, eta_t}: the latent has already moved."""

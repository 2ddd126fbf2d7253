"""The interface of a flow step, which moves the parameters of the flow after each generation."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from thalweg.strategies.distribution import SearchDistribution
from thalweg.strategies.flowsteps.gathered import Schedule
from thalweg.strategies.latents.frame import FrameLike
from thalweg.strategies.strategy import Array, Info, Key, Params, State


class Batch(NamedTuple):
    """The points that a step learns from: one evaluated generation, or several that were gathered, and the step's draws."""

    e: Array
    """The standard draws (m, d)."""
    x: Array
    """The points (m, d) that the draws gave."""
    f: Array
    """The values (m,) of the points."""
    utility: Array
    """The utilities (m,) of the points by their ranks within their generations, docs/math.md (3)."""
    log_q: Array
    """The log-densities (m,) of the points, each under the distribution that drew it, pi_{mu_t, eta_t}."""
    frame: FrameLike
    """The frame of the newest of these distributions."""
    design: Array
    """Standard normals, the same in each generation, over which the affine part is fitted, docs/math.md (15)."""
    key: Key
    """The random key of the step."""
    weight: Array
    """The weights (generations, n) of the points, the newest generation first: 1, or 0 where there is none yet."""


@dataclass(frozen=True)
class FlowStep(ABC):
    """The choice of eta_{t+1} after the latent has moved from mu_t to mu_{t+1}, docs/math.md (10)."""

    shows: ClassVar[tuple[str, ...]] = ()
    """Names of the numbers in the info of a step; needed where generations are gathered."""

    def schedule(self, n: int, d: int) -> Schedule:
        """Return how many generations of n points a step learns from, and how often there is one; by default it is one each."""
        return Schedule()

    @abstractmethod
    def init(self, distribution: SearchDistribution, params: Params, n: int, d: int) -> State:
        """Return the state of the step before the first generation of n points in dimension d."""

    def reconsider(
        self, distribution: SearchDistribution, params: Params, affine_inverse: FrameLike | None, state: State, batch: Batch
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

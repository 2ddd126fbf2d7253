"""What a flow step is: how the flow's parameters move after each generation."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from thalweg.strategies.distribution import Bent
from thalweg.strategies.latents.frame import Frame, Place
from thalweg.strategies.strategy import Array, Info, Key, Params, State


class Batch(NamedTuple):
    """One evaluated generation."""

    e: Array
    """The standard draws (n, d)."""
    x: Array
    """The points (n, d) they gave."""
    f: Array
    """Their values (n,)."""
    log_q: Array
    """Their log-density (n,) under the distribution that drew them, pi_{mu_t, eta_t}."""
    frame: Place
    """The frame of that distribution."""


@dataclass(frozen=True)
class FlowStep(ABC):
    """How eta moves, docs/math.md (10): after the latent has moved from mu_t to mu_{t+1}, choose eta_{t+1}."""

    @abstractmethod
    def init(self, bent: Bent, params: Params, n: int, d: int) -> State:
        """The step's own memory before the first generation of n points in dimension d."""

    def reconsider(
        self, bent: Bent, params: Params, straight: Frame | None, state: State, batch: Batch
    ) -> tuple[Params, State]:
        """Judge the last step and the bend by the fresh batch, before the next step; by default, accept them.

        `straight` undoes the affine part of the flow at these parameters; None in raw coordinates, where it has no meaning.
        """
        return params, state

    @abstractmethod
    def step(
        self, bent: Bent, params: Params, frame: Place, state: State, batch: Batch, points: Array, key: Key
    ) -> tuple[Params, State, Info]:
        """The new eta. `frame` is that of pi_{mu_{t+1}, eta_t}: the latent has already moved.

        `points` are standard normals, the same in each generation: the design of the gauge, docs/math.md (15).
        """

"""The search distribution: a base distribution, an affine frame and a flow, in one of two orders; docs/math.md (9)."""

from dataclasses import dataclass

from thalweg.strategies.flows.base import Flow
from thalweg.strategies.latents.bases import Base
from thalweg.strategies.latents.frame import FrameLike, IdentityFrame
from thalweg.strategies.strategy import Array, Params


@dataclass(frozen=True)
class SearchDistribution:
    """x = frame(flow(e)), or in raw coordinates, as in the paper, x = flow(frame(e)); e comes from the base distribution."""

    flow: Flow
    base: Base
    raw: bool = False

    def inner_frame(self, frame: FrameLike) -> FrameLike:
        """Return the frame inside the flow: the given one in raw coordinates, otherwise the identity.

        A divergence depends on it alone: a map around the flow moves both distributions alike, docs/math.md (12).
        """
        return frame if self.raw else IdentityFrame()

    def forward(self, params: Params, frame: FrameLike, e: Array) -> Array:
        """Return the points x (..., d) that the draws e give."""
        if self.raw:
            return self.flow.forward(params, frame.place(e))
        return frame.place(self.flow.forward(params, e))

    def inverse(self, params: Params, frame: FrameLike, x: Array) -> Array:
        """Return the draws e that give the points x."""
        if self.raw:
            return frame.whiten(self.flow.inverse(params, x))
        return self.flow.inverse(params, frame.whiten(x))

    def log_prob_of_draw(self, params: Params, frame: FrameLike, e: Array) -> Array:
        """Return the log-density of x = forward(e) by the change of variables, docs/math.md (8)."""
        inner = frame.place(e) if self.raw else e
        return self.base.log_prob(e) - self.flow.log_det(params, inner) - frame.log_det()

    def log_prob(self, params: Params, frame: FrameLike, x: Array) -> Array:
        """Return the log-density of the points x."""
        return self.log_prob_of_draw(params, frame, self.inverse(params, frame, x))

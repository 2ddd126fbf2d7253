"""GNN-ES: any latent evolution strategy with a flow on top (Faury et al. 2019, Algorithm 2); docs/math.md (9), (10)."""

import logging
from dataclasses import dataclass, field
from math import sqrt
from typing import Literal, NamedTuple, cast, get_args

import jax
import jax.numpy as jnp

from thalweg._common.checks import as_count
from thalweg.strategies import affine_part as gauge
from thalweg.strategies.curved_frame import Curved
from thalweg.strategies.distribution import Bent
from thalweg.strategies.flows.affine import Affine
from thalweg.strategies.flows.base import Flow
from thalweg.strategies.flows.nice import NICE
from thalweg.strategies.flows.shear import Shear
from thalweg.strategies.flowsteps.base import Batch, FlowStep
from thalweg.strategies.flowsteps.trust_region import TrustRegion
from thalweg.strategies.flowsteps.valley import Elites, Valley
from thalweg.strategies.latents.base import Latent
from thalweg.strategies.latents.bases import GAUSSIAN
from thalweg.strategies.latents.cmaes import CMAES
from thalweg.strategies.latents.frame import Frame, Place, Solved, both_solved
from thalweg.strategies.strategy import Array, Info, Key, Params, State

log = logging.getLogger("thalweg")

Where = Literal["whitened", "raw"]


class Track(NamedTuple):
    """The curve that the latent follows."""

    whole: Curved
    """The latent's own frame, bent; without the flow inside."""
    elites: Elites
    """The points that show the curve."""


class Bend(NamedTuple):
    """What there is besides the latent."""

    params: Params
    """eta, the flow's parameters."""
    outer: Solved | Curved | None
    """b and B, the map around the flow; None in raw coordinates, where the latent's own frame is inside the flow."""
    straight: Frame | None
    """Undoes c and L, the affine part of the flow, which the latent holds; None in raw coordinates."""
    step: State
    """The memory of the flow step."""
    points: Array
    """The design over which the affine part is fitted."""
    track: Track | None
    """None where the frame is flat."""


class GNNState(NamedTuple):
    latent: State
    bend: Bend | None
    """None where there is nothing to learn."""


@dataclass(frozen=True)
class GNNES:
    """A latent that places and scales, and a flow that bends.

    `frame` is where the flow acts: "whitened", in the latent's own standard coordinates, with everything affine handed to the
    latent after each change; or "raw", the paper's literal x = g(z). A latent that cannot absorb an affine correction always
    has "raw". A `Shear` over a latent with a full matrix belongs to the frame itself: it is fitted by `valley`, and `step`
    moves the flow inside it.
    """

    latent: Latent = field(default_factory=CMAES)
    flow: Flow = cast("Flow", None)  # noqa: RUF009
    """By default an affine map under a shear, where the latent can follow a curve, and NICE where it cannot."""
    step: FlowStep = field(default_factory=TrustRegion)
    frame: Where = "whitened"
    points: int | None = None
    """Of the design, over which the affine part is fitted and a step's divergence measured, at no evaluation; by default
    n / 2, but at most 5 d, and at least 64 (for a latent with a full matrix also 2 d + 2)."""
    valley: Valley = field(default_factory=Valley)
    """How a shear is fitted."""

    def __post_init__(self) -> None:
        if self.frame not in get_args(Where):
            raise ValueError(f"frame must be one of {get_args(Where)}, got {self.frame!r}")
        if self.points is not None:
            as_count(self.points, "points", least=2)
        if cast("Flow | None", self.flow) is None:
            object.__setattr__(self, "flow", Shear(Affine()) if self.follows else NICE())
        if self.raw and self.frame == "whitened" and self.flow.learnable:
            log.info("%s cannot absorb an affine correction: its flow acts in raw coordinates", type(self.latent).__name__)

    @property
    def traceable(self) -> bool:
        return self.latent.traceable

    @property
    def raw(self) -> bool:
        """Whether the flow acts in raw coordinates."""
        return self.frame == "raw" or not self.latent.absorbs

    @property
    def follows(self) -> bool:
        """Whether the latent can follow a curve: its frame must be able to turn, and its draws must have a square."""
        return not self.raw and not self.latent.diagonal and self.latent.base == GAUSSIAN

    @property
    def inner(self) -> Flow:
        """The flow that `step` moves."""
        return self.flow.inner if isinstance(self.flow, Shear) and self.follows else self.flow

    @property
    def bent(self) -> Bent:
        """The family of search distributions around the frame."""
        return Bent(self.inner, self.latent.base, self.raw)

    def population(self, d: int) -> int:
        return self.latent.population(d)

    def init(self, key: Key, x0: Array, sigma0: Array | float) -> GNNState:
        x0 = jnp.asarray(x0)
        latent = self.latent.init(key, x0, sigma0)
        if not self.flow.learnable:
            return GNNState(latent, None)
        d, n = x0.shape[-1], self.population(x0.shape[-1])
        key_flow, key_points = jax.random.split(jax.random.fold_in(key, 1))
        params = self.inner.init(key_flow, d, x0.dtype)
        frame = self.latent.frame(latent)
        diagonal = frame.scale.ndim == 1
        points = gauge.design(key_points, d, self.points or max(64, min(n // 2, 5 * d)), x0.dtype, diagonal=diagonal)
        if diagonal != self.latent.diagonal:
            raise ValueError(
                f"{type(self.latent).__name__}.diagonal must be {diagonal}, as its root has shape {frame.scale.shape}"
            )
        outer, straight, track = None, None, None
        if not self.raw:
            outer, straight = frame.solved(), gauge.identity_frame(d, x0.dtype, diagonal=diagonal)
        if self.inner is not self.flow:
            outer = Curved.straight(frame)
            track = Track(outer, self.valley.init(n, d, x0.dtype))
        return GNNState(latent, Bend(params, outer, straight, self.step.init(self.bent, params, n, d), points, track))

    def ask(self, state: GNNState) -> tuple[Array, Array, GNNState]:
        e, z, latent = self.latent.ask(state.latent)
        if state.bend is None:
            return e, z, GNNState(latent, None)
        return e, self.bent.forward(state.bend.params, self.around(state), e), GNNState(latent, state.bend)

    def tell(self, state: GNNState, e: Array, x: Array, f: Array) -> tuple[GNNState, Info]:
        if state.bend is None:
            latent, info = self.latent.tell(state.latent, e, x, f)
            return GNNState(latent, None), info
        drawn = state.bend.outer or self.latent.frame(state.latent).solved()
        latent, seen = self.latent.tell(state.latent, e, x, f)  # a latent learns from the draws alone
        # under a trace the strategy itself may hold traced hyper-parameters; beside a Python latent this part is compiled alone
        learn = _learn if self.traceable else _learn_compiled
        draw = jax.random.fold_in(latent.key, 2)  # 0 and 1 may be those of the latent's own split
        frame, bend, info = learn(self, drawn, self.latent.frame(latent), state.bend, e, x, f, draw)
        if not self.raw:
            latent = self.latent.absorb(latent, frame)
        return GNNState(latent, bend), {**seen, **info}

    def invert(self, state: GNNState, x: Array) -> Array:
        if state.bend is None:
            return self.latent.invert(state.latent, x)
        return self.bent.inverse(state.bend.params, self.around(state), x)

    def log_prob(self, state: GNNState, x: Array) -> Array:
        if state.bend is None:
            return self.latent.log_prob(state.latent, x)
        return self.bent.log_prob(state.bend.params, self.around(state), x)

    def spread(self, state: GNNState) -> tuple[Array, Array]:
        return self.latent.spread(state.latent)

    def around(self, state: GNNState) -> Place:
        """The map around the flow, or in raw coordinates inside it, docs/math.md (9)."""
        outer = None if state.bend is None else state.bend.outer
        return self.latent.frame(state.latent) if outer is None else outer


def _learn(
    self: GNNES, drawn: Solved | Curved, frame: Frame, bend: Bend, e: Array, x: Array, f: Array, draw: Key
) -> tuple[Frame, Bend, Info]:
    """Move eta once the latent has moved; returns the frame the latent shall take over, the new bend, and what to show."""
    bent, flow, points = self.bent, self.inner, bend.points
    diagonal = frame.scale.ndim == 1
    batch = Batch(e, x, f, bent.log_prob_of_draw(bend.params, drawn, e), drawn)
    params, memory = bend.params, bend.step
    if flow.learnable:
        params, memory = self.step.reconsider(bent, params, bend.straight, memory, batch)
    if self.raw:
        params, memory, info = self.step.step(bent, params, frame.solved(), memory, batch, points, draw)
        return frame, bend._replace(params=params, step=memory), info

    # the latent holds the affine part: B = A L^-1 and b = m - B c, docs/math.md (9)
    held = flow.affine and not diagonal  # all of it, always
    if held:
        outer = frame.solved() if bend.track is None else bend.track.whole.moved_to(frame)
    else:
        affine = gauge.affine_part(points, flow.forward(params, points), diagonal=diagonal)
        if bend.track is None:
            whole, affine = both_solved(frame, affine)
        else:
            whole, affine = bend.track.whole.moved_to(frame), affine.solved()
        outer = whole.after(affine.inverse())
    info: Info = {}
    if flow.learnable:
        params, memory, info = self.step.step(bent, params, outer, memory, batch, points, draw)

    # docs/math.md (16): x is unchanged, its affine part belongs to the latent
    bent_points = flow.forward(params, points)
    affine = gauge.affine_part(points, bent_points, diagonal=diagonal).solved()
    straight = affine.inverse().frame
    info["nonlinearity"] = gauge.nonlinearity(points, bent_points, straight)
    # what the latent absorbs changes its root and not its step-size, which alone would mislead
    info["sigma"] = jnp.exp((outer.log_det() + affine.log_det()) / x.shape[-1])
    whole, track = outer.after(affine), None
    if bend.track is not None and isinstance(whole, Curved):
        whole, elites, seen = self.valley.fit(whole, bend.track.elites, x, f)
        track = Track(whole, elites)
        outer = whole.after(affine.inverse())
        # the square of a standard coordinate less its mean has the variance 2: the bow is a root mean square by itself
        info |= seen | {"nonlinearity": jnp.hypot(info["nonlinearity"], seen["bow"] / sqrt(x.shape[-1]))}
    if held:  # begin again from the identity
        params = jax.tree.map(jnp.zeros_like, params)
        outer, straight = whole, gauge.identity_frame(x.shape[-1], x.dtype, diagonal=diagonal)
    return whole.frame, Bend(params, outer, straight, memory, points, track), info


_learn_compiled = jax.jit(_learn, static_argnums=0)

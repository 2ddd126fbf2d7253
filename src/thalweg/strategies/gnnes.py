"""GNN-ES: any latent evolution strategy with a flow on top (Faury et al. 2019, Algorithm 2); docs/math.md (9), (10)."""

import logging
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Literal, NamedTuple, cast, get_args

import jax
import jax.numpy as jnp

from thalweg._common.checks import as_count
from thalweg.strategies import ranking
from thalweg.strategies.affine_part import design_points, fit_affine_part, nonlinearity
from thalweg.strategies.curved_frame import CurvedFrame
from thalweg.strategies.distribution import SearchDistribution
from thalweg.strategies.flows import NICE, Affine, Flow, Shear
from thalweg.strategies.flowsteps import Batch, FlowStep, TrustRegion, Valley
from thalweg.strategies.flowsteps.gathered import Gathered, Schedule
from thalweg.strategies.flowsteps.valley import Elites
from thalweg.strategies.latents import CMAES, Latent
from thalweg.strategies.latents.bases import GAUSSIAN
from thalweg.strategies.latents.frame import Frame, FrameLike, SolvedFrame
from thalweg.strategies.strategy import Array, Info, Key, Params, State

log = logging.getLogger("thalweg")

Where = Literal["whitened", "raw"]


class ValleyState(NamedTuple):
    """The state of the valley fit."""

    frame: CurvedFrame
    """The latent's frame, bent; without the flow inside."""
    elites: Elites
    """The points to which the curve is fitted."""
    precision: Array | None = None
    """The precision of the bow as a model estimates it by values, 0 before the first estimate; None without a model."""


class FlowState(NamedTuple):
    """Everything that is learned besides the latent."""

    params: Params
    """eta, the parameters of the flow."""
    frame: SolvedFrame | CurvedFrame | None
    """b and B, the map around the flow; None in raw coordinates, where the latent's own frame is inside the flow."""
    affine_inverse: SolvedFrame | None
    """The inverse of c and L, the affine part of the flow, which the latent holds; None in raw coordinates."""
    step: State
    """The state of the flow step."""
    design: Array
    """The points over which the affine part is fitted."""
    valley: ValleyState | None
    """None where the frame does not curve."""
    gathered: Gathered | None
    """The last generations; None where the flow learns from the newest alone."""
    waited: Array | None
    """The number of generations since the last step; None where the flow learns from each."""
    shown: dict[str, Array] | None
    """The info of the last step; None where the flow learns from each."""


class GNNState(NamedTuple):
    latent: State
    flow: FlowState | None
    """None where the flow has nothing to learn."""


@dataclass(frozen=True)
class GNNES:
    """A latent that places and scales, and a flow that bends.

    `frame` says where the flow acts: "whitened", in the latent's own standard coordinates, with everything affine handed to
    the latent after each change; or "raw", the paper's literal x = g(z). A latent that cannot absorb an affine correction
    always has "raw". A `Shear` over a latent with a full matrix belongs to the frame itself: `valley` fits it, and `step`
    moves the flow inside it.
    """

    latent: Latent = field(default_factory=CMAES)
    flow: Flow = cast("Flow", None)  # noqa: RUF009
    """By default an affine map under a shear where the latent can follow a curve, and NICE where it cannot."""
    step: FlowStep = field(default_factory=TrustRegion)
    frame: Where = "whitened"
    points: int | None = None
    """Number of design points, over which the affine part is fitted and the divergence of a step measured, at no evaluation;
    by default n / 2, but at most 5 d, and at least 64 (for a latent with a full matrix also 2 d + 2)."""
    valley: Valley = field(default_factory=Valley)
    """The fit of a shear that belongs to the frame."""

    def __post_init__(self) -> None:
        if self.frame not in get_args(Where):
            raise ValueError(f"frame must be one of {get_args(Where)}, got {self.frame!r}")
        if self.points is not None:
            as_count(self.points, "points", least=2)
        if cast("Flow | None", self.flow) is None:
            object.__setattr__(self, "flow", Shear(Affine()) if self.can_curve else NICE())
        if self.raw and self.frame == "whitened" and self.flow.learnable:
            log.info("%s cannot absorb an affine correction: its flow acts in raw coordinates", type(self.latent).__name__)

    @property
    def traceable(self) -> bool:
        return self.latent.traceable

    @property
    def raw(self) -> bool:
        """True if the flow acts in raw coordinates."""
        return self.frame == "raw" or not self.latent.absorbs

    @property
    def can_curve(self) -> bool:
        """True if the latent can follow a curve: its frame must be able to turn, and its draws must have a variance."""
        return not self.raw and not self.latent.diagonal and self.latent.base == GAUSSIAN

    @property
    def inner(self) -> Flow:
        """The flow that `step` moves: without the shear, where that belongs to the frame."""
        return self.flow.inner if isinstance(self.flow, Shear) and self.can_curve else self.flow

    @property
    def distribution(self) -> SearchDistribution:
        """The family of search distributions around the frame."""
        return SearchDistribution(self.inner, self.latent.base, self.raw)

    def population(self, d: int) -> int:
        return self.latent.population(d)

    def init(self, key: Key, x0: Array, sigma0: Array | float) -> GNNState:
        x0 = jnp.asarray(x0)
        latent = self.latent.init(key, x0, sigma0)
        if not self.flow.learnable:
            return GNNState(latent, None)
        d, n = x0.shape[-1], self.population(x0.shape[-1])
        key_flow, key_design = jax.random.split(jax.random.fold_in(key, 1))
        params = self.inner.init(key_flow, d, x0.dtype)
        latent_frame = self.latent.frame(latent)
        diagonal = latent_frame.scale.ndim == 1
        design = design_points(key_design, d, self.points or max(64, min(n // 2, 5 * d)), x0.dtype, diagonal=diagonal)
        if diagonal != self.latent.diagonal:
            raise ValueError(
                f"{type(self.latent).__name__}.diagonal must be {diagonal}, as its root has shape {latent_frame.scale.shape}"
            )
        frame, affine_inverse, valley = None, None, None
        if not self.raw:
            frame, affine_inverse = self.latent.solved(latent), Frame.identity(d, x0.dtype, diagonal=diagonal).solved()
        if self.inner is not self.flow:
            frame = CurvedFrame.straight(latent_frame)
            precision = jnp.zeros((), x0.dtype) if self.valley.by_values else None
            valley = ValleyState(frame, self.valley.init(n, d, x0.dtype), precision)
        step = self.step.init(self.distribution, params, n, d)
        window, every = self.schedule(n, d)
        gathered = Gathered.empty(window, n, d, x0.dtype) if window > 1 else None
        waited, shown = None, None
        if every > 1:
            names = (*self.step.shows, *(() if self.raw else ("nonlinearity",)), *(() if valley is None else ("bow",)))
            waited, shown = jnp.asarray(0), {name: jnp.zeros((), x0.dtype) for name in names}
        return GNNState(latent, FlowState(params, frame, affine_inverse, step, design, valley, gathered, waited, shown))

    def schedule(self, n: int, d: int) -> Schedule:
        """Return how many generations of n points the flow learns from, and how often; a bend that a model sets, each time."""
        window, every = self.step.schedule(n, d)
        return Schedule(window, 1 if self.valley.by_values else every)

    def started(self, state: GNNState, mean: Array, root: Array) -> GNNState:
        """Return a state before the first generation with another latent's frame, and the frame of the flow with it."""
        latent, flow = self.latent.started(state.latent, mean, root), state.flow
        if flow is None or self.raw:
            return GNNState(latent, flow)
        frame, valley = self.latent.solved(latent), flow.valley
        if valley is not None:
            frame = CurvedFrame.straight(frame.frame)
            valley = valley._replace(frame=frame)
        return GNNState(latent, flow._replace(frame=frame, valley=valley))

    def ask(self, state: GNNState) -> tuple[Array, Array, GNNState]:
        e, z, latent = self.latent.ask(state.latent)
        if state.flow is None:
            return e, z, GNNState(latent, None)
        return e, self.distribution.forward(state.flow.params, self.flow_frame(state), e), GNNState(latent, state.flow)

    def tell(self, state: GNNState, e: Array, x: Array, f: Array) -> tuple[GNNState, Info]:
        if state.flow is None:
            latent, info = self.latent.tell(state.latent, e, x, f)
            return GNNState(latent, None), info
        drawn_from = state.flow.frame or self.latent.solved(state.latent)
        latent, latent_info = self.latent.tell(state.latent, e, x, f)  # a latent learns from the draws alone
        # under a trace the strategy itself may hold traced hyper-parameters; beside a Python latent this part is compiled alone
        follow = _follow if self.traceable else _follow_compiled
        draw = jax.random.fold_in(latent.key, 2)  # 0 and 1 may be those of the latent's own split
        frame, flow, info = follow(self, drawn_from, self.latent.solved(latent), state.flow, e, x, f, draw)
        if not self.raw:
            latent = self.latent.absorb(latent, frame)
        return GNNState(latent, flow), latent_info | info

    def absorbed(self, latent: SolvedFrame) -> bool:
        """Return whether the latent holds the whole flow, an affine map, so that none is left of it after a generation."""
        return self.inner.affine and latent.inverse_scale.ndim == 2

    def place(self, state: GNNState, e: Array) -> Array:
        if state.flow is None:
            return self.latent.place(state.latent, e)
        return self.distribution.forward(state.flow.params, self.flow_frame(state), e)

    def invert(self, state: GNNState, x: Array) -> Array:
        if state.flow is None:
            return self.latent.invert(state.latent, x)
        return self.distribution.inverse(state.flow.params, self.flow_frame(state), x)

    def log_prob(self, state: GNNState, x: Array) -> Array:
        if state.flow is None:
            return self.latent.log_prob(state.latent, x)
        return self.distribution.log_prob(state.flow.params, self.flow_frame(state), x)

    def for_model(self) -> "GNNES":
        """Return this strategy with a bow that a model may set, if it has one that belongs to the frame.

        An affine flow inside the bow is left out: the latent learns as much from the values of a model.
        """
        bends = self.can_curve and isinstance(self.flow, Shear) and self.inner.affine
        return replace(self, flow=Shear(), valley=replace(self.valley, by_values=True)) if bends else self

    def bow(self, state: GNNState) -> tuple[Array, Array] | None:
        """Return axis and bow of the frame, docs/math.md (25); None where no model may set them."""
        valley = None if state.flow is None else state.flow.valley
        return None if valley is None or valley.precision is None else (valley.frame.axis, valley.frame.bow)

    def bent(self, state: GNNState, bow: Array, precision: Array) -> GNNState:
        """Return the state with another bow, which has this precision."""
        flow = state.flow
        if flow is None or flow.valley is None:
            raise ValueError("state has no bow")
        frame = flow.valley.frame._replace(bow=bow)
        return state._replace(flow=flow._replace(frame=frame, valley=flow.valley._replace(frame=frame, precision=precision)))

    def balanced(self, state: GNNState) -> GNNState:
        """Return the same state with a root of the latent near 1, once it has drifted away."""
        latent = self.latent.balanced(state.latent)
        return state if latent is state.latent else state._replace(latent=latent)

    def squeezed(self, state: GNNState, factors: Array) -> GNNState:
        """Return the state with the latent and the frame multiplied by factors around the mean; the bend stays as it is."""
        return self._around(state, self.latent.squeezed(state.latent, factors), factors)

    def resized(self, before: GNNState, state: GNNState, free: Array) -> GNNState:
        """Return the state with the latent's step size that the coordinates `free` alone ask for, and the frame with it."""
        latent = self.latent.resized(before.latent, state.latent, free)
        if latent is state.latent:
            return state
        return self._around(state, latent, jnp.full(free.shape, latent.sigma / state.latent.sigma))

    def _around(self, state: GNNState, latent: State, factors: Array) -> GNNState:
        """Return the state with another latent, which was multiplied by factors, and the frame with it."""
        flow, centre = state.flow, state.latent.mean
        if flow is None or flow.frame is None:
            return state._replace(latent=latent)
        flow = flow._replace(frame=flow.frame.squeezed(factors, centre))
        if flow.valley is not None:
            flow = flow._replace(valley=flow.valley._replace(frame=flow.valley.frame.squeezed(factors, centre)))
        return GNNState(latent, flow)

    def shifted(self, state: GNNState, shift: Array) -> GNNState:
        """Return the state with the search distribution translated; where the flow acts in raw coordinates, inside it."""
        latent, flow = self.latent.shifted(state.latent, shift), state.flow
        if flow is None or flow.frame is None:
            return state._replace(latent=latent)
        flow = flow._replace(frame=flow.frame.shifted(shift))
        if flow.valley is not None:
            flow = flow._replace(valley=flow.valley._replace(frame=flow.valley.frame.shifted(shift)))
        return GNNState(latent, flow)

    def spread(self, state: GNNState) -> tuple[Array, Array]:
        return self.latent.spread(state.latent)

    def affine_scale(self, state: GNNState) -> Array:
        return self.latent.affine_scale(state.latent)

    def flow_frame(self, state: GNNState) -> FrameLike:
        """Return the map around the flow, or in raw coordinates inside it, docs/math.md (9)."""
        frame = None if state.flow is None else state.flow.frame
        return self.latent.frame(state.latent) if frame is None else frame


def _follow(
    self: GNNES,
    drawn_from: SolvedFrame | CurvedFrame,
    latent: SolvedFrame,
    old: FlowState,
    e: Array,
    x: Array,
    f: Array,
    draw: Key,
) -> tuple[SolvedFrame, FlowState, Info]:
    """Follow the latent to its new frame, and learn from the generation or keep it; return what the latent absorbs as well."""
    n, d = x.shape
    log_q = self.distribution.log_prob_of_draw(old.params, drawn_from, e)
    schedule = self.schedule(n, d)
    gathered = None if old.gathered is None else old.gathered.add(e, x, f, log_q)

    def learn() -> tuple[SolvedFrame, FlowState, Info]:
        known = Gathered.one(e, x, f, log_q) if gathered is None else gathered.filled()
        utility = jax.vmap(lambda f: ranking.assign(f, ranking.nes_utilities(n)))(known.f)
        batch = Batch(
            e=known.e.reshape(-1, d),
            x=known.x.reshape(-1, d),
            f=known.f.reshape(-1),
            utility=utility.reshape(-1),
            log_q=known.log_q.reshape(-1),
            frame=drawn_from,
            design=old.design,
            key=draw,
            weight=known.weight,
        )
        return _learn(self, latent, old, batch, known.x[: schedule.every], known.f[: schedule.every])

    def move() -> tuple[SolvedFrame, FlowState, Info]:
        frame, flow = _move(self, latent, old)
        sigma = Info() if self.raw else Info(sigma=jnp.exp(frame.log_det() / d))
        return frame, flow, cast("Info", (old.shown or {}) | sigma)

    if old.waited is None:
        frame, flow, info = learn()
    else:
        waited = (old.waited + 1) % schedule.every
        frame, flow, info = jax.lax.cond(waited == 0, learn, move)
        flow = flow._replace(waited=waited, shown={name: number for name, number in info.items() if name != "sigma"})
    return frame, flow._replace(gathered=gathered), info


def _move(self: GNNES, latent: SolvedFrame, old: FlowState) -> tuple[SolvedFrame, FlowState]:
    """Move the frame of the flow with the latent; the flow itself stays as it is."""
    if self.raw or old.affine_inverse is None:
        return latent, old
    complete = latent if old.valley is None else old.valley.frame.moved_to(latent)
    valley = None if old.valley is None else old.valley._replace(frame=complete)
    frame = complete if self.absorbed(latent) else complete.after(old.affine_inverse)
    return _affine(complete), old._replace(frame=frame, valley=valley)


def _learn(
    self: GNNES, latent: SolvedFrame, old: FlowState, batch: Batch, x: Array, f: Array
) -> tuple[SolvedFrame, FlowState, Info]:
    """Move eta after the latent has moved to its new frame; return the frame that the latent absorbs and the new state.

    x (generations, n, d) and f (generations, n) are the points of the batch by generation.
    """
    distribution, flow, design = self.distribution, self.inner, old.design
    d, diagonal = x.shape[-1], latent.inverse_scale.ndim == 1
    params, step = old.params, old.step
    if flow.learnable:
        params, step = self.step.reconsider(distribution, params, old.affine_inverse, step, batch)
    if self.raw:
        params, step, info = self.step.step(distribution, params, latent, step, batch)
        return latent, old._replace(params=params, step=step), info

    # the latent holds the affine part: B = A L^-1 and b = m - B c, docs/math.md (9)
    frame = latent if old.valley is None else old.valley.frame.moved_to(latent)
    if not self.absorbed(latent):
        frame = frame.after(fit_affine_part(design, flow.forward(params, design), diagonal=diagonal).solved().inverse())
    info: Info = {}
    if flow.learnable:
        params, step, info = self.step.step(distribution, params, frame, step, batch)

    # docs/math.md (16): x is unchanged, its affine part belongs to the latent
    y = flow.forward(params, design)
    affine = fit_affine_part(design, y, diagonal=diagonal).solved()
    affine_inverse = affine.inverse()
    bend = nonlinearity(design, y, affine_inverse.frame)
    # an absorbed map changes the latent's root but not its step size, which alone would mislead
    info["sigma"] = jnp.exp((frame.log_det() + affine.log_det()) / d)
    complete, valley = frame.after(affine).refreshed(), None
    frame = complete.after(affine_inverse)
    if old.valley is not None and isinstance(complete, CurvedFrame):
        complete, elites, bow = self.valley.fit(complete, old.valley.elites, x, f, old.valley.precision)
        valley = ValleyState(complete, elites, old.valley.precision)
        frame = complete.after(affine_inverse)
        # the square of a standard coordinate less its mean has the variance 2: the bow is a root mean square by itself
        bend, info["bow"] = jnp.hypot(bend, bow / sqrt(d)), bow
    info["nonlinearity"] = bend
    if self.absorbed(latent):  # begin again from the identity
        params = jax.tree.map(jnp.zeros_like, params)
        frame, affine_inverse = complete, Frame.identity(d, x.dtype, diagonal=diagonal).solved()
    return (
        _affine(complete),
        old._replace(params=params, frame=frame, affine_inverse=affine_inverse, step=step, valley=valley),
        info,
    )


def _affine(frame: SolvedFrame | CurvedFrame) -> SolvedFrame:
    """Return the affine part of a frame, which the latent absorbs."""
    return frame.affine if isinstance(frame, CurvedFrame) else frame


_follow_compiled = jax.jit(_follow, static_argnums=0)

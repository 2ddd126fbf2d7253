"""The trust-region step: a natural-gradient step of bounded KL in the flow's parameters; docs/math.md (14), (17) to (19)."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from thalweg._common.checks import as_count
from thalweg.strategies.distribution import SearchDistribution
from thalweg.strategies.flowsteps.base import Batch, FlowStep
from thalweg.strategies.flowsteps.gathered import Schedule
from thalweg.strategies.latents.bases import GAUSSIAN
from thalweg.strategies.latents.frame import FrameLike
from thalweg.strategies.strategy import Array, Info, Params, State


class TrustRegionState(NamedTuple):
    gradient: Array
    """The sum of the gradients of the last generations, weighted by powers of `momentum`."""
    last: Array
    """The last step, which the next generation judges."""
    log_radius: Array
    """The logarithm of the radius relative to its start."""
    evidence: tuple[Array, Array]
    """Evidence of the newest points for the last step and for the bend: positive is good, within +-1 is noise."""


class Settings(NamedTuple):
    """The constants of a step for a population size and a dimension."""

    radius: float
    adapt: float
    bar: float
    momentum: float
    generations: int
    every: int
    clip: float


@dataclass(frozen=True)
class TrustRegion(FlowStep):
    """A step of bounded KL along the (natural) gradient; its radius adapts to the evidence of new points for the last step.

    For None, `settings` computes the value from the population size n and the dimension d. Every constant was chosen on
    development seeds by `studies/benchmarks/tune_trust_region.py`; docs/trust_region.md has the measurements.
    """

    shows: ClassVar[tuple[str, ...]] = ("kl", "radius", "effective_samples", "step_evidence", "bend_evidence")

    radius: float | None = None
    """Initial KL radius; by default min(0.03, 0.001 (n/d)^2)."""
    radius_range: tuple[float, float] = (0.03, 10.0)
    """Range of the adapted radius, as factors of its start."""
    adapt: float | None = None
    """Rate at which the logarithm of the radius follows the evidence; by default min(0.3, 30 radius)."""
    bar: float | None = None
    """Evidence for the last step at which the radius stays; by default -0.1 with one generation to learn from, else 0.1."""
    momentum: float | None = None
    """Factor of the gradients of former generations; by default 0.5 with one generation to learn from, else 0."""
    generations: int | None = None
    """Number of generations to learn from; by default as many as hold 10 d points, but at most 5, or `every` up to 20."""
    every: int | None = None
    """Number of generations from one step to the next; by default d / 10, at most as many as hold 10 d points."""
    clip: float | None = None
    """Largest importance weight; by default 20 with one generation to learn from, else 5."""
    tempering: float = 0.3
    """Rate at which a bend without evidence shrinks in a generation."""
    bend_bar: float = 1.0
    """Evidence for the bend above which it does not shrink."""
    products: int = 1
    """Conjugate-gradient iterations for the natural direction. One keeps the plain gradient and only sets its length:
    stopping early keeps the step from fitting noise."""
    damping: float = 1e-2
    """Added to the metric, relative to a standard draw's own scale of 1."""

    def __post_init__(self) -> None:
        for name in ("generations", "every"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, as_count(getattr(self, name), name))

    def settings(self, n: int, d: int) -> Settings:
        """Return the constants for populations of n in dimension d.

        >>> TrustRegion().settings(100, 10)
        Settings(radius=0.03, adapt=0.3, bar=-0.1, momentum=0.5, generations=1, every=1, clip=20.0)
        """
        given = {name: value for name in Settings._fields if (value := getattr(self, name)) is not None}
        enough = ceil(10 * d / n)
        every = given.get("every", max(1, min(d // 10, enough)))
        generations = given.get("generations", min(20, max(every, min(5, enough))))
        radius = min(0.03, 0.001 * (every * n / d) ** 2)
        bar, momentum, clip = (-0.1, 0.5, 20.0) if generations == 1 else (0.1, 0.0, 5.0)
        return Settings(radius, min(0.3, 30 * radius), bar, momentum, generations, every, clip)._replace(**given)

    def schedule(self, n: int, d: int) -> Schedule:
        settings = self.settings(n, d)
        return Schedule(settings.generations, settings.every)

    def init(self, distribution: SearchDistribution, params: Params, n: int, d: int) -> TrustRegionState:
        flat = ravel_pytree(params)[0]
        zero, nothing = jnp.zeros_like(flat), jnp.zeros((), flat.dtype)
        return TrustRegionState(zero, zero, nothing, (nothing, nothing))

    def reconsider(
        self, distribution: SearchDistribution, params: Params, affine_inverse: FrameLike | None, state: State, batch: Batch
    ) -> tuple[Params, TrustRegionState]:
        s, n = self.settings(batch.weight.shape[1], batch.e.shape[-1]), batch.weight.shape[1]
        flat, unravel = ravel_pytree(params)
        inner = distribution.inner_frame(batch.frame)
        e, x, utility = (part[: s.every * n] for part in (batch.e, batch.x, batch.utility))  # those since the last step
        y = x if distribution.raw else distribution.flow.forward(params, e)

        # did the last step help? its effect on the log-density of new points, against their ranks, docs/math.md (18)
        if distribution.base == GAUSSIAN:
            effect = distribution.log_prob(params, inner, y) - distribution.log_prob(unravel(flat - state.last), inner, y)
        else:  # in heavy tails the difference over a whole step overrates it: use the derivative at its end
            effect = jax.jvp(lambda params: distribution.log_prob(params, inner, y), (params,), (unravel(state.last),))[1]
        of_step = evidence(utility, effect)
        log_radius = state.log_radius + s.adapt * (of_step - s.bar) * jnp.any(state.last != 0)
        low, high = jnp.log(jnp.asarray(self.radius_range, log_radius.dtype))
        log_radius = jnp.clip(log_radius, low, high)
        if affine_inverse is None or distribution.flow.affine:
            return params, state._replace(log_radius=log_radius, evidence=(of_step, jnp.zeros_like(of_step)))

        # does the bend help? the same for its amplitude; a bend without evidence fades, docs/math.md (17)
        bend = affine_inverse.place(y) - e
        of_bend = evidence(utility, jnp.sum(e * bend, -1))
        factor = jnp.exp(-self.tempering * s.every * jnp.maximum(0.0, self.bend_bar - of_bend))
        return distribution.flow.temper(params, factor), state._replace(log_radius=log_radius, evidence=(of_step, of_bend))

    def step(
        self, distribution: SearchDistribution, params: Params, frame: FrameLike, state: TrustRegionState, batch: Batch
    ) -> tuple[Params, TrustRegionState, Info]:
        s = self.settings(batch.weight.shape[1], batch.e.shape[-1])
        flat, unravel = ravel_pytree(params)

        # gradient of the self-normalised, clipped importance-weighted utility, docs/math.md (11), (19); with respect to the
        # pytree, since slices of a flat vector would each be padded in the backward pass
        def objective(params: Params) -> tuple[Array, Array]:
            log_w = distribution.log_prob(params, frame, batch.x) - batch.log_q
            w = batch.weight.reshape(-1) * jnp.minimum(jnp.exp(jnp.minimum(log_w, 50.0)), s.clip)
            return jnp.sum(w * batch.utility) / jnp.sum(w), jnp.sum(w) ** 2 / jnp.sum(w**2)

        slopes, ess = jax.grad(objective, has_aux=True)(params)
        gradient = s.momentum * state.gradient + jnp.nan_to_num(ravel_pytree(slopes)[0], posinf=0.0, neginf=0.0)

        # direction by conjugate gradients on the Gauss-Newton product, length by the radius, docs/math.md (14)
        inner = distribution.inner_frame(frame)
        e, z = metric_draws(distribution, params, inner, batch)
        _, forward = jax.linearize(lambda params: distribution.inverse(params, inner, z), params)
        precision = distribution.base.precision(e)[:, None] / len(e)

        def product(v: Array) -> Array:
            transpose = jax.linear_transpose(forward, params)
            return ravel_pytree(transpose(precision * forward(unravel(v)))[0])[0] + self.damping * v

        def curvature(v: Array) -> Array:
            return jnp.sum(precision * forward(unravel(v)) ** 2) + self.damping * (v @ v)

        direction = conjugate_gradients(product, curvature, gradient, self.products)
        slope = direction @ gradient
        radius = s.radius * jnp.exp(state.log_radius)
        step = direction * jnp.sqrt(2 * radius / jnp.maximum(slope, 1e-300))
        step = jnp.where(jnp.all(jnp.isfinite(step)) & (slope > 0), step, 0.0)

        # the hard bound: halve until the measured KL is at most twice the radius, else stay, docs/math.md (12)
        log_old = distribution.log_prob_of_draw(params, inner, e)

        def divergence(step: Array) -> Array:
            log_ratio = distribution.log_prob(unravel(flat + step), inner, z) - log_old
            return jnp.mean(jnp.expm1(log_ratio) - log_ratio)

        step, kl = backtrack(divergence, step, 2 * radius)
        of_step, of_bend = state.evidence
        info = Info(kl=kl, radius=radius, effective_samples=ess, step_evidence=of_step, bend_evidence=of_bend)
        return unravel(flat + step), state._replace(gradient=gradient, last=step), info


def metric_draws(distribution: SearchDistribution, params: Params, inner: FrameLike, batch: Batch) -> tuple[Array, Array]:
    """Return standard draws for the metric and the KL divergence, and their images by the flow; they cost no evaluation.

    They are one half of the design points (the other half has the opposite signs), whose images are needed for the affine part
    anyway and are computed once. In raw coordinates or with heavy tails fixed points would leave too much unseen, generation
    after generation: there new ones are drawn.
    """
    if distribution.raw or distribution.base != GAUSSIAN:
        n, d = batch.e.shape
        e = distribution.base.sample(batch.key, (max(n, 32), d), batch.design.dtype)
        return e, distribution.forward(params, inner, e)
    half = len(batch.design) // 2
    return batch.design[:half], distribution.forward(params, inner, batch.design)[:half]


def evidence(utilities: Array, effect: Array) -> Array:
    """Return sum a q / sqrt(sum a^2 q^2): about standard normal if the effect q is independent of the utilities a."""
    product = utilities * effect
    total = jnp.sqrt(jnp.sum(product**2))
    return jnp.where(total > 0, jnp.sum(product) / jnp.where(total > 0, total, 1.0), 0.0)


def conjugate_gradients(
    product: Callable[[Array], Array], curvature: Callable[[Array], Array], b: Array, iterations: int
) -> Array:
    """Approximate the solution of product(v) = b from v = 0, up to a residual of 0.

    The last iteration needs only curvature(v) = v . product(v), which is cheaper: a single iteration needs no product.
    """

    def quotient(a: Array, b: Array) -> Array:
        return jnp.where(b > 0, a / jnp.where(b > 0, b, 1.0), 0.0)

    def body(_: int, carry: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        v, r, p, rr = carry
        image = product(p)
        alpha = quotient(rr, p @ image)
        v, r = v + alpha * p, r - alpha * image
        new = r @ r
        return v, r, r + quotient(new, rr) * p, new

    start = (jnp.zeros_like(b), b, b, b @ b)
    v, _, p, rr = jax.lax.fori_loop(0, iterations - 1, body, start) if iterations > 1 else start
    return v + quotient(rr, curvature(p)) * p


def backtrack(divergence: Callable[[Array], Array], step: Array, limit: Array, halvings: int = 8) -> tuple[Array, Array]:
    """Halve the step until its divergence is within the limit; return a step of 0 if that does not help."""

    def too_far(carry: tuple[Array, Array, Array]) -> Array:
        _, kl, count = carry
        return ~(kl <= limit) & (count < halvings)

    def halve(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        step, _, count = carry
        return step / 2, divergence(step / 2), count + 1

    # begun one halving early, so that the compiled program contains the divergence only once
    step, kl, _ = jax.lax.while_loop(too_far, halve, (2 * step, jnp.full_like(limit, jnp.inf), jnp.asarray(-1)))
    accepted = kl <= limit
    return jnp.where(accepted, step, 0.0), jnp.where(accepted, kl, 0.0)

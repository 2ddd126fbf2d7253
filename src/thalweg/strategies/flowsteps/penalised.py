"""The paper's flow step (Faury et al. 2019, Algorithm 2): importance sampling with a KL penalty; docs/math.md (11) to (13)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from thalweg.strategies import ranking
from thalweg.strategies.distribution import SearchDistribution
from thalweg.strategies.flowsteps.base import Batch, FlowStep
from thalweg.strategies.flowsteps.history import History
from thalweg.strategies.flowsteps.lbfgs import minimise
from thalweg.strategies.latents.frame import FrameLike
from thalweg.strategies.strategy import Array, Info, Params

Denominator = Literal["sampling", "box"]
Shaping = Literal["standardised", "ranks"]
Estimator = Literal["plain", "low-variance"]


class PenalisedState(NamedTuple):
    penalty: Array
    """lambda_t, the factor of the KL divergence."""
    history: History


class Terms(NamedTuple):
    """The terms of the objective, surrogate + lambda KL."""

    surrogate: Array
    """The importance-weighted objective, docs/math.md (11)."""
    kl: Array
    """The estimate of KL(pi_{mu_{t+1}, eta_t} || pi_{mu_{t+1}, eta}), docs/math.md (12)."""
    ess: Array
    """The effective number of points in the surrogate."""


@dataclass(frozen=True)
class Penalised(FlowStep):
    """Algorithm 2 of the paper as printed: minimise the importance-weighted objective plus lambda KL by L-BFGS.

    The defaults are the paper's where it gives them, and otherwise those of the authors' public code.
    """

    radius: float = 0.01
    """epsilon, the KL divergence of a step towards which lambda adapts."""
    penalty: float = 10.0
    """lambda_0, the initial factor of the KL divergence."""
    factor: float = 1.5
    """The factor by which lambda rises or falls when the divergence is outside [radius / 2, 2 radius]."""
    samples: int = 10
    """Number of KL samples per point of a generation, M = samples * N. They cost no evaluation."""
    denominator: Denominator = "sampling"
    """Denominator of the importance ratio: "sampling" is pi_{mu_t, eta_t}, as in the paper's equation, and unbiased; "box" is
    pi_{mu_{t+1}, eta_t}, as in the paper's algorithm box."""
    shaping: Shaping = "standardised"
    """Shaping of f: (f - mean) / (std + 1e-5) as in the authors' code, or the utilities of the ranks."""
    estimator: Estimator = "plain"
    """Estimator of the KL divergence: the mean of log-ratios as in the paper, or mean(r - 1 - log r); docs/math.md (12)."""
    generations: int = 1
    """Number of generations from which the objective is estimated (the paper's "historic data")."""
    iterations: int = 50
    """Largest number of L-BFGS iterations."""

    def __post_init__(self) -> None:
        for name, choices in (("denominator", Denominator), ("shaping", Shaping), ("estimator", Estimator)):
            if getattr(self, name) not in get_args(choices):
                raise ValueError(f"{name} must be one of {get_args(choices)}, got {getattr(self, name)!r}")

    def init(self, distribution: SearchDistribution, params: Params, n: int, d: int) -> PenalisedState:
        dtype = ravel_pytree(params)[0].dtype
        return PenalisedState(jnp.asarray(self.penalty, dtype), History.empty(self.generations, n, d, dtype))

    def step(
        self, distribution: SearchDistribution, params: Params, frame: FrameLike, state: PenalisedState, batch: Batch
    ) -> tuple[Params, PenalisedState, Info]:
        n, d = batch.e.shape
        data, history = state.history.join(batch.x, self.shape(batch.f), batch.log_q)
        draws = distribution.base.sample(batch.key, (self.samples * n, d), batch.x.dtype)
        flat, unravel = ravel_pytree(params)
        evaluate = self.terms(distribution, params, frame, data, draws)

        def objective(flat: Array) -> Array:
            terms = evaluate(unravel(flat))
            return terms.surrogate + state.penalty * terms.kl

        new, after, before, _ = minimise(objective, flat, self.iterations)

        # on failure the old parameters are kept, as in the authors' code
        accepted = jnp.isfinite(after) & jnp.all(jnp.isfinite(new)) & (after < before)
        params = unravel(jnp.where(accepted, new, flat))
        terms = evaluate(params)
        penalty = self.adapt(state.penalty, terms.kl)
        gain = jnp.where(accepted, before - after, 0.0)
        info: Info = {"kl": terms.kl, "penalty": penalty, "effective_samples": terms.ess, "gain": gain}
        return params, PenalisedState(penalty, history), info

    def shape(self, f: Array) -> Array:
        """Return the utility of each point, of order 1 and large for good points: the negative of the shaped f."""
        if self.shaping == "standardised":
            return -ranking.standardise(f)
        return ranking.assign(f, len(f) * ranking.nes_utilities(len(f)))

    def terms(
        self, distribution: SearchDistribution, params: Params, frame: FrameLike, data: History, draws: Array
    ) -> Callable[[Params], Terms]:
        """Return the terms of the objective as a function of eta, for eta_t = params; `draws` (M, d) are the KL samples."""
        x, utility, log_q, weight = data
        if self.denominator == "box":
            log_q = distribution.log_prob(params, frame, x)
        # one evaluation of the flow serves both terms
        points = jnp.concatenate([x, distribution.forward(params, frame, draws)])
        log_prob = log_density(distribution, frame, points)
        log_old = jnp.concatenate([log_q, distribution.log_prob_of_draw(params, frame, draws)])

        def evaluate(params: Params) -> Terms:
            log_ratio = log_prob(params) - log_old
            ratio = jnp.exp(jnp.minimum(log_ratio, 50.0))  # far beyond any radius, where it only has to be finite
            w = weight * ratio[: len(x)]
            kl = -log_ratio[len(x) :]
            if self.estimator == "low-variance":
                kl = ratio[len(x) :] - 1 + kl
            return Terms(-jnp.sum(utility * w) / jnp.sum(weight), jnp.mean(kl), jnp.sum(w) ** 2 / jnp.sum(w**2))

        return evaluate

    def adapt(self, penalty: Array, kl: Array) -> Array:
        """Return lambda_{t+1}, docs/math.md (13)."""
        return jnp.where(
            kl > 2 * self.radius, penalty * self.factor, jnp.where(kl < self.radius / 2, penalty / self.factor, penalty)
        )


def log_density(distribution: SearchDistribution, frame: FrameLike, x: Array) -> Callable[[Params], Array]:
    """Return distribution.log_prob at fixed points as a function of eta, with all that does not depend on eta computed once."""
    flow, log_det = distribution.flow, frame.log_det()
    y = x if distribution.raw else frame.whiten(x)

    def evaluate(params: Params) -> Array:
        inner = flow.inverse(params, y)
        e = frame.whiten(inner) if distribution.raw else inner
        return distribution.base.log_prob(e) - flow.log_det(params, inner) - log_det

    return evaluate

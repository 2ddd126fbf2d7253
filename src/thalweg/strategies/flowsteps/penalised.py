"""The paper's flow step (Faury et al. 2019, Algorithm 2): importance sampling with a KL penalty; docs/math.md (11) to (13)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from thalweg.strategies import ranking
from thalweg.strategies.distribution import Bent
from thalweg.strategies.flowsteps.base import Batch, FlowStep
from thalweg.strategies.flowsteps.history import History, Known
from thalweg.strategies.flowsteps.lbfgs import minimise
from thalweg.strategies.latents.frame import Place
from thalweg.strategies.strategy import Array, Info, Key, Params

Denominator = Literal["sampling", "box"]
Shaping = Literal["standardised", "ranks"]
Estimator = Literal["plain", "low-variance"]


class PenalisedState(NamedTuple):
    penalty: Array
    """lambda_t."""
    history: History


class Terms(NamedTuple):
    """The objective of the step is surrogate + lambda KL."""

    surrogate: Array
    """The importance-weighted objective, docs/math.md (11)."""
    kl: Array
    """The estimate of KL(pi_{mu_{t+1}, eta_t} || pi_{mu_{t+1}, eta}), docs/math.md (12)."""
    ess: Array
    """The effective number of points behind the surrogate."""


@dataclass(frozen=True)
class Penalised(FlowStep):
    """Algorithm 2 of the paper to the letter: minimise the importance-weighted objective plus lambda KL by L-BFGS.

    The defaults are the paper's where it says, and those of the authors' public code where it does not.
    """

    radius: float = 0.01
    """epsilon: lambda moves so that the KL divergence of a step ends near it."""

    penalty: float = 10.0
    """lambda_0."""

    factor: float = 1.5
    """What lambda is multiplied with, or divided by, outside [radius / 2, 2 radius]."""

    samples: int = 10
    """KL samples per point of a generation, M = samples * N. They cost no evaluation."""

    denominator: Denominator = "sampling"
    """Of the importance ratio: "sampling" is pi_{mu_t, eta_t}, the paper's equation, unbiased; "box" is pi_{mu_{t+1}, eta_t},
    the paper's algorithm box."""

    shaping: Shaping = "standardised"
    """What stands for f: (f - mean) / (std + 1e-5) as in the authors' code, or the utilities of the ranks."""

    estimator: Estimator = "plain"
    """Of the KL divergence: the mean of log-ratios as in the paper, or mean(r - 1 - log r); docs/math.md (12)."""

    generations: int = 1
    """How many generations the objective is estimated from ("using historic data")."""

    iterations: int = 50
    """Of L-BFGS, at most."""

    def __post_init__(self) -> None:
        for name, choices in (("denominator", Denominator), ("shaping", Shaping), ("estimator", Estimator)):
            if getattr(self, name) not in get_args(choices):
                raise ValueError(f"{name} must be one of {get_args(choices)}, got {getattr(self, name)!r}")

    def init(self, bent: Bent, params: Params, n: int, d: int) -> PenalisedState:
        dtype = ravel_pytree(params)[0].dtype
        return PenalisedState(jnp.asarray(self.penalty, dtype), History.empty(self.generations, n, d, dtype))

    def step(
        self, bent: Bent, params: Params, frame: Place, state: PenalisedState, batch: Batch, points: Array, key: Key
    ) -> tuple[Params, PenalisedState, Info]:
        n, d = batch.e.shape
        known, history = state.history.join(batch.x, self.shape(batch.f), batch.log_q)
        draws = bent.base.sample(key, (self.samples * n, d), batch.x.dtype)
        flat, unravel = ravel_pytree(params)
        evaluate = self.terms(bent, params, frame, known, draws)

        def objective(flat: Array) -> Array:
            terms = evaluate(unravel(flat))
            return terms.surrogate + state.penalty * terms.kl

        new, after, before, _ = minimise(objective, flat, self.iterations)

        # on failure the old weights are kept, as in the authors' code
        accepted = jnp.isfinite(after) & jnp.all(jnp.isfinite(new)) & (after < before)
        params = unravel(jnp.where(accepted, new, flat))
        terms = evaluate(params)
        penalty = self.adapt(state.penalty, terms.kl)
        gain = jnp.where(accepted, before - after, 0.0)
        info = {"kl": terms.kl, "penalty": penalty, "effective_samples": terms.ess, "gain": gain}
        return params, PenalisedState(penalty, history), info

    def shape(self, f: Array) -> Array:
        """What a point is worth, large for good ones, of order 1: the negative of what stands for f in the objective."""
        if self.shaping == "standardised":
            return -ranking.standardise(f)
        return ranking.assign(f, len(f) * ranking.nes_utilities(len(f)))

    def terms(self, bent: Bent, params: Params, frame: Place, known: Known, draws: Array) -> Callable[[Params], Terms]:
        """The two terms of the objective as functions of eta, for eta_t = params; `draws` (M, d) are the KL samples."""
        x, worth, log_q, weight = known
        if self.denominator == "box":
            log_q = bent.log_prob(params, frame, x)
        points = jnp.concatenate([x, bent.forward(params, frame, draws)])  # one evaluation of the flow serves both terms
        log_prob = log_density(bent, frame, points)
        log_old = jnp.concatenate([log_q, bent.log_prob_of_draw(params, frame, draws)])

        def evaluate(params: Params) -> Terms:
            log_ratio = log_prob(params) - log_old
            ratio = jnp.exp(jnp.minimum(log_ratio, 50.0))  # far beyond any radius: there, finite is all it need be
            w = weight * ratio[: len(x)]
            kl = -log_ratio[len(x) :]
            if self.estimator == "low-variance":
                kl = ratio[len(x) :] - 1 + kl
            return Terms(-jnp.sum(worth * w) / jnp.sum(weight), jnp.mean(kl), jnp.sum(w) ** 2 / jnp.sum(w**2))

        return evaluate

    def adapt(self, penalty: Array, kl: Array) -> Array:
        """lambda_{t+1}, docs/math.md (13)."""
        return jnp.where(
            kl > 2 * self.radius, penalty * self.factor, jnp.where(kl < self.radius / 2, penalty / self.factor, penalty)
        )


def log_density(bent: Bent, frame: Place, x: Array) -> Callable[[Params], Array]:
    """bent.log_prob at fixed points as a function of eta: what does not depend on it is computed once, not 60 times a step."""
    flow, log_det = bent.flow, frame.log_det()
    y = x if bent.raw else frame.whiten(x)

    def evaluate(params: Params) -> Array:
        inner = flow.inverse(params, y)
        e = frame.whiten(inner) if bent.raw else inner
        return bent.base.log_prob(e) - flow.log_det(params, inner) - log_det

    return evaluate

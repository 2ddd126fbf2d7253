"""The search distribution of runs in dimension 2, generation by generation, for figures 1 to 3."""

from collections.abc import Sequence
from functools import partial
from math import log, pi, sqrt
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from thalweg.compiled.keys import make_keys
from thalweg.objectives import Objective
from thalweg.strategies.gnnes import GNNES
from thalweg.strategies.latents.base import Latent
from thalweg.strategies.latents.frame import FrameLike
from thalweg.strategies.strategy import Array, Key, State, Strategy

CORNERS = 400
"""Corners of the polygon that stands for an isoline."""


class DistributionTrajectory(NamedTuple):
    """Runs of one algorithm: the distribution after 0, 1, ... generations, and the points drawn from it."""

    points: Any
    """The points, (runs, generations + 1, n, 2)."""
    isolines: Any
    """Lines of equal density, (runs, generations + 1, radii, corners, 2)."""
    mean: Any
    """The mean of the latent, (runs, generations + 1, 2)."""
    entropy: Any
    """The entropy in nats, (runs, generations + 1)."""
    best: Any
    """The best value so far, the points of the generation included, (runs, generations + 1)."""
    cells: Any
    """The number of unit cells around integer points that hold points, (runs, generations + 1)."""


def record(
    strategy: Strategy,
    objective: Objective,
    x0: Sequence[float],
    sigma0: float,
    *,
    seeds: Sequence[int],
    generations: int,
    radii: Sequence[float] = (1.0,),
) -> DistributionTrajectory:
    """Run a strategy, which is a latent or GNN-ES over one, from every seed, and record its distributions.

    >>> from thalweg import make_strategy
    >>> from thalweg.objectives import OBJECTIVES
    >>> trajectory = record(make_strategy("xnes"), OBJECTIVES["sphere"], (3.0, 0.0), 1.0, seeds=[1], generations=2)
    >>> trajectory.isolines.shape, round(float(trajectory.entropy[0, 0]), 3)
    ((1, 3, 1, 400, 2), 2.838)
    """
    if not (strategy.flow.volume_preserving if isinstance(strategy, GNNES) else isinstance(strategy, Latent)):
        raise ValueError(f"strategy must be a latent, or GNN-ES with a volume-preserving flow, got {strategy!r}")
    with jax.enable_x64(True):
        keys, start = make_keys(seeds), jnp.asarray(x0, float)
        seen = _record(strategy, objective, keys, start, jnp.float64(sigma0), generations, tuple(radii))
        points, values, lines, mean, entropy = jax.device_get(seen)
    return DistributionTrajectory(
        points, lines, mean, entropy, np.minimum.accumulate(values.min(-1), axis=-1), occupied_cells(points)
    )


def occupied_cells(points: np.ndarray) -> np.ndarray:
    """Return the number of unit cells around integer points that hold one of the points (..., n, 2).

    >>> occupied_cells(np.array([[[0.1, 0.2], [-0.3, 0.4], [0.9, 2.2]]])).tolist()
    [2.0]
    """
    each = [len(np.unique(cells, axis=0)) for cells in np.rint(points).reshape(-1, *points.shape[-2:])]
    return np.array(each, float).reshape(points.shape[:-2])


def enclosing(mass: float) -> float:
    """Return the radius of the circle that holds this share of the standard normal distribution in the plane.

    A volume-preserving flow does not change densities, so the image of the circle is an isoline around the same share.

    >>> round(enclosing(0.5), 4)
    1.1774
    """
    return sqrt(-2 * log(1 - mass))


@partial(jax.jit, static_argnums=(0, 1, 5, 6))
def _record(
    strategy: Strategy, objective: Objective, keys: Key, x0: Array, sigma0: Array, generations: int, radii: tuple[float, ...]
) -> tuple[Array, ...]:
    """Return points, values, isolines, means and entropies, with leading axes for runs and generations."""
    angle = jnp.linspace(0, 2 * pi, CORNERS)
    circles = jnp.asarray(radii)[:, None, None] * jnp.stack([jnp.cos(angle), jnp.sin(angle)], -1)

    def generation(state: State, _: None) -> tuple[State, tuple[Array, ...]]:
        e, x, asked = strategy.ask(state)
        f = objective(x)
        return strategy.tell(asked, e, x, f)[0], (x, f, *_observe(strategy, state, circles))

    def run(key: Key) -> tuple[Array, ...]:  # one run after another: L-BFGS takes its own time in each
        return jax.lax.scan(generation, strategy.init(key, x0, sigma0), None, generations + 1)[1]

    return jax.lax.map(run, keys)


def _observe(strategy: Any, state: Any, circles: Array) -> tuple[Array, Array, Array]:
    """Return the isolines, the mean of the latent, and the entropy, which is that of the Gaussian: the flow keeps volumes."""
    if isinstance(strategy, GNNES):
        latent, frame = strategy.latent.frame(state.latent), strategy.flow_frame(state)
        lines = strategy.distribution.forward(state.flow.params, frame, circles)
    else:
        latent = frame = strategy.frame(state)
        lines = frame.place(circles)
    return lines, latent.mean, gaussian_entropy(frame, len(latent.mean))


def gaussian_entropy(frame: FrameLike, d: int) -> Array:
    """Return 0.5 log det (2 pi e C) of mean + A e in dimension d, with C = A A'."""
    return frame.log_det() + 0.5 * d * (1 + log(2 * pi))

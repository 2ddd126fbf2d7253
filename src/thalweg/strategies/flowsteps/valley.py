"""The valley fit: a parabola through the best points of recent generations bends the frame; docs/math.md (27) to (29)."""

from dataclasses import dataclass, field
from math import ceil, floor, sqrt
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from thalweg._common.checks import as_count
from thalweg.strategies import ranking
from thalweg.strategies.curved_frame import CurvedFrame
from thalweg.strategies.strategy import Array


class Elites(NamedTuple):
    """The better half of the last generations, newest first."""

    x: Array
    """The points (generations, elites, d)."""
    weight: Array
    """The weights (generations, elites), by rank and age; 0 where there is no point yet."""


@dataclass(frozen=True)
class Valley:
    """Bends a frame along its longest axis by a weighted least-squares fit of a parabola to the elites.

    The fit uses differences within a generation only: the path of the mean, which bends on any ill-conditioned function while
    the covariance adapts, says nothing of the landscape. The bow is shrunk by its estimated error, to 0 where that explains
    all of it, which keeps straight valleys straight. Constants were chosen on development seeds, docs/valley.md.
    """

    window: float = 50.0
    """Number of points in the fit, in units of the dimension."""
    generations: int = 7
    """Least number of generations in the fit; d + 2 if that is less."""
    strict: float = 2.0
    """Margin of significance: standard deviations by which the squared bow must exceed the mean of pure error."""
    reach: float = 3.0
    """Distance from the mean, in units of a typical draw's length, beyond which points count for little."""
    work: float = 1e7
    """Limit of multiplications per fit, d^2 for each point. Large dimensions and populations look back less far."""
    longest: float = 10.0
    """Largest length of the bow, as a root mean square in standard coordinates."""
    by_values: bool = field(default=False, repr=False)
    """True if a model estimates the bow as well, from values; the two estimates are combined by their errors."""

    def __post_init__(self) -> None:
        as_count(self.generations, "generations", least=2)
        for name in ("window", "reach", "work", "longest"):
            value = getattr(self, name)  # a traced value cannot be checked
            if isinstance(value, int | float) and not value > 0:
                raise ValueError(f"{name} must be above 0, got {value!r}; without a shear the frame stays straight")

    def look_back(self, n: int, d: int) -> int:
        """Return the number of generations of n points that are kept.

        >>> [Valley().look_back(n, d) for n, d in ((10, 10), (100, 10), (1000, 100))]
        [50, 7, 2]
        """
        wanted = max(min(self.generations, 2 + d), ceil(self.window * d / n))
        return min(wanted, max(2, floor(self.work / (len(elite_weights(n)) * d**2))))

    def init(self, n: int, d: int, dtype: Any) -> Elites:
        """Return the elites before the first generation."""
        shape = self.look_back(n, d), len(elite_weights(n))
        return Elites(jnp.zeros((*shape, d), dtype), jnp.zeros(shape, dtype))

    def fit(
        self, curved: CurvedFrame, elites: Elites, x: Array, f: Array, precision: Array | None = None
    ) -> tuple[CurvedFrame, Elites, Array]:
        """Return the frame with a bow fitted to the elites and new generations, the new elites, and the bow's length.

        x (generations, n, d) and f (generations, n) are the new points, newest first, and their values.
        `precision` is that of the present bow as an estimate by values: 1 over its squared error, 0 if it is none.
        """
        x, f = x[: len(elites.weight)], f[: len(elites.weight)]
        new, n, d = x.shape
        weights = jnp.asarray(elite_weights(n), x.dtype)
        order = jax.vmap(ranking.ascending)(f)[:, : len(weights), None]
        best = jnp.take_along_axis(x, order, 1)
        fade = 1 - 1 / len(elites.weight)
        ages = jnp.asarray(fade ** np.arange(new + 1.0), x.dtype)
        elites = Elites(
            jnp.concatenate([best, elites.x[:-new]]),
            jnp.concatenate([ages[:new, None] * weights, ages[new] * elites.weight[:-new]]),
        )
        curved = aligned(curved)
        e = curved.whiten(elites.x)
        along = e @ curved.axis
        weight = elites.weight * jnp.exp(-jnp.sum(e**2, -1) / (2 * d * self.reach**2))
        weight = weight / jnp.sum(weight)
        bow, own = residual_bow(along, e - along[..., None] * curved.axis, weight)
        # docs/math.md (29): James and Stein's shrinkage, with a margin
        total = curved.bow + bow
        margin = 1 + self.strict * sqrt(2 / max(d - 1, 1))
        squared = jnp.sum(total**2)
        kept = jnp.where(squared > margin * own, 1 - margin * own / jnp.maximum(squared, own), 0.0)
        total = total * kept * jnp.minimum(1.0, self.longest / jnp.sqrt(jnp.maximum(squared, self.longest**2)))
        if precision is not None:
            # docs/math.md (45): a generation brings as much as its part of the elites; the rest is known since before
            total = curved.bow + (total - curved.bow) / (1 + precision * len(elites.weight) * own)
        return curved._replace(bow=total), elites, jnp.sqrt(jnp.sum(total**2))


def residual_bow(along: Array, across: Array, weight: Array) -> tuple[Array, Array]:
    """Return the least-squares w in across = c_g + a s + w (s^2 - 1) / sqrt(2) and its squared error, docs/math.md (28).

    `along` is s, (generations, elites); each generation g has its own constant c_g.
    """
    each = jnp.sum(weight, 1)
    share = weight / jnp.where(each > 0, each, 1.0)[:, None]

    def centred(values: Array) -> Array:
        return (values - jnp.einsum("gi,gi...->g...", share, values)[:, None]).reshape(-1, values.shape[-1])

    features = centred(jnp.stack([along, along**2 / sqrt(2)], -1))
    across, flat = centred(across), weight.reshape(-1)
    gram = features.T @ (flat[:, None] * features)
    ridge = 1e-6 * (1 + gram[1, 1])  # far above rounding, far below any spread that could bend
    slope = gram[0, 1] / (gram[0, 0] + ridge)
    square = features[:, 1] - slope * features[:, 0]  # the part of the square that the slope does not explain
    pull = flat * square / (jnp.sum(flat * square**2) + ridge)
    bow = pull @ across
    line = (flat * features[:, 0]) @ across / (gram[0, 0] + ridge) - slope * bow
    rest = across - features[:, :1] * line - features[:, 1:] * bow
    # the effective number of points by their weights, and the degrees of freedom that the constants use up
    number, used = 1 / jnp.sum(flat**2), 1 / jnp.sum(each**2) + 2
    correction = number / jnp.maximum(number - used, 1.0)
    error = correction * (pull**2) @ jnp.sum(rest**2, -1)
    return jnp.where(number > used + 2, bow, 0.0), error


def aligned(curved: CurvedFrame) -> CurvedFrame:
    """Return the frame with its axis turned to its longest one, by power iteration, and its bow orthogonal to it."""
    scale, axis = curved.frame.scale, curved.axis
    for _ in range(3):
        axis = scale.T @ (scale @ axis)
        axis = axis / jnp.linalg.norm(axis)
    return curved._replace(axis=axis, bow=curved.bow - axis * (axis @ curved.bow))


def elite_weights(n: int) -> np.ndarray:
    """Return the weights of the better half of n points, best first: those of NES without the constant, docs/math.md (3)."""
    weights = ranking.nes_utilities(n) + 1 / n
    return weights[weights > 1e-12]

"""The covariance of a search distribution in the coordinates of the objective's argument."""

from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from thalweg.space import SpaceMap
from thalweg.strategies.strategy import HasAffineScale, HasPlace, State, Strategy


class Covariance:
    """The linearised search distribution, found when it is first asked for: the argument is about x + root e, e standard.

    The root is the Jacobian of the map from e to the argument: of the strategy's part where e = 0, with its flow and its bend,
    times that of the space at the mean.
    """

    def __init__(self, strategy: Strategy, state: State, mean: np.ndarray, std: np.ndarray, space: SpaceMap) -> None:
        self.taken: Any = strategy, state, mean, std, space
        if not strategy.traceable:
            self.root  # noqa: B018 - the object inside moves on

    def __getstate__(self) -> dict[str, Any]:
        return {"root": self.root}

    @cached_property
    def root(self) -> np.ndarray:
        """A with A A' = the covariance: a row for each coordinate of the argument, a column for each that is searched."""
        strategy, state, mean, std, space = self.taken
        with jax.enable_x64(True):
            return space.linearised(mean, np.array(_search_root(strategy, state, jnp.asarray(std))))


def _search_root(strategy: Strategy, state: State, std: Any) -> Any:
    if isinstance(strategy, HasPlace) and strategy.traceable:
        return jax.jacfwd(lambda e: strategy.place(state, e))(jnp.zeros_like(std))
    scale = strategy.affine_scale(state) if isinstance(strategy, HasAffineScale) else None
    scale = std if scale is None else scale
    return jnp.diag(scale) if scale.ndim == 1 else scale

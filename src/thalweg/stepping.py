"""The compiled steps of the front door, in double precision whatever the user's JAX flags say.

The strategy is a static argument of functions at module level: a second problem of the same make and size compiles nothing. A
strategy with a Python object inside cannot be traced and is called as it is.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from thalweg.gnnes import GNNES
from thalweg.latents.base import Latent
from thalweg.types import Array, Key, State, Strategy


class View(NamedTuple):
    """What the host looks at after a generation."""

    mean: Any
    std: Any
    scale: Any
    """The affine part of the search distribution, where the strategy has one: (d, d), (d,) or None."""
    finite: Any
    info: Any


def make_keys(seeds: Sequence[int]) -> Key:
    """Random keys from seeds of any size, whatever generator the user's JAX flags prefer."""
    words = [np.random.SeedSequence(seed).generate_state(2, np.uint32) for seed in seeds]
    return jax.random.wrap_key_data(jnp.asarray(np.stack(words)), impl="threefry2x32")


def init(strategy: Strategy, seed: int, x0: np.ndarray, sigma0: float) -> State:
    """The state before the first generation."""
    return _call(_init, strategy, make_keys([seed])[0], x0, np.float64(sigma0))


def ask(strategy: Strategy, state: State) -> tuple[Array, Array, State]:
    """Draws e, points x and the state that has drawn them."""
    return _call(_ask, strategy, state)


def tell(strategy: Strategy, state: State, e: Array, x: Array, f: np.ndarray) -> tuple[State, View]:
    """The state after a generation, and what to look at."""
    state, view = _call(_tell, strategy, state, e, x, f)
    return state, jax.device_get(view)


def invert(strategy: Strategy, state: State, x: np.ndarray) -> np.ndarray:
    """The draws that give the points x."""
    return np.array(_call(_invert, strategy, state, x))


def covariance_condition(scale: Any) -> float:
    """The condition number of scale scale'; NaN where it is unknown."""
    if scale is None or not np.all(np.isfinite(scale)):
        return float("nan")
    scale = np.asarray(scale)
    values = np.abs(scale) if scale.ndim == 1 else np.linalg.svd(scale, compute_uv=False)
    return float((values.max() / values.min()) ** 2) if values.min() > 0 else float("inf")


def is_finite(tree: State) -> Array:
    """Whether all floating-point numbers of a state are finite."""
    arrays = [leaf for leaf in jax.tree.leaves(tree) if hasattr(leaf, "dtype")]  # a third-party object is a leaf too
    floats = [leaf for leaf in arrays if jnp.issubdtype(leaf.dtype, jnp.floating)]
    return jnp.all(jnp.asarray([jnp.all(jnp.isfinite(leaf)) for leaf in floats]))


def _scale(strategy: Strategy, state: Any) -> Array | None:
    latent, inner = (strategy.latent, state.latent) if isinstance(strategy, GNNES) else (strategy, state)
    return latent.frame(inner).scale if isinstance(latent, Latent) else None


def _init(strategy: Strategy, key: Key, x0: Array, sigma0: Array) -> State:
    return strategy.init(key, jnp.asarray(x0), sigma0)


def _ask(strategy: Strategy, state: State) -> tuple[Array, Array, State]:
    return strategy.ask(state)


def _tell(strategy: Strategy, state: State, e: Array, x: Array, f: Array) -> tuple[State, View]:
    state, info = strategy.tell(state, e, x, jnp.asarray(f))
    mean, std = strategy.spread(state)
    return state, View(mean, std, _scale(strategy, state), is_finite(state) & is_finite((mean, std)), info)


def _invert(strategy: Strategy, state: State, x: Array) -> Array:
    return strategy.invert(state, jnp.asarray(x))


_compiled: dict[Callable[..., Any], Callable[..., Any]] = {
    step: partial(jax.jit, static_argnums=0)(step) for step in (_init, _ask, _tell, _invert)
}


def _call(step: Callable[..., Any], strategy: Strategy, *arguments: Any) -> Any:
    with jax.enable_x64(True):
        return (_compiled[step] if strategy.traceable else step)(strategy, *arguments)

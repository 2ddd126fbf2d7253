"""The compiled steps of the front door, in double precision whatever the user's JAX flags say.

The steps of a strategy in a dimension are compiled once: a second problem of the same make and size compiles nothing. A
strategy with a Python object inside cannot be traced and is called as it is.
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from thalweg import compile_cache
from thalweg.gnnes import GNNES
from thalweg.latents.base import Latent
from thalweg.programs import Program
from thalweg.types import Array, Key, State, Strategy


class View(NamedTuple):
    """What the host looks at after a generation."""

    mean: np.ndarray
    std: np.ndarray
    finite: bool
    info: dict[str, float]
    scale: Any
    """The affine part of the search distribution, where the strategy has one: (d, d), (d,) or None. Still on the device."""


def make_keys(seeds: Sequence[int]) -> Key:
    """Random keys from seeds of any size, whatever generator the user's JAX flags prefer."""
    return _key(jnp.asarray(np.stack([_words(seed) for seed in seeds])))


class Steps:
    """The steps of a strategy in dimension d.

    >>> from thalweg.latents.cmaes import CMAES
    >>> steps = steps_of(CMAES(), 2)
    >>> state = steps.init(1, np.zeros(2), 0.5)
    >>> e, x, state = steps.ask(state)
    >>> state, view = steps.tell(state, e, x, np.asarray(x).sum(1))
    >>> view.finite, view.mean.shape
    (True, (2,))
    """

    def __init__(self, strategy: Strategy, d: int) -> None:
        self.strategy, self.d = strategy, d
        self.names: list[str] = []
        """Of the info, in the order in which the numbers come."""
        self._init: Callable[..., State] = partial(_init, strategy)
        self._ask: Callable[..., tuple[Array, Array, State]] = strategy.ask
        self._tell: Callable[..., tuple[State, Array, Any]] = self._learn
        self._invert: Callable[..., Array] = strategy.invert
        if strategy.traceable and not compile_cache.setting("jax_disable_jit"):
            # the programs are compiled at the same time, and this goes on meanwhile
            point, number = jax.ShapeDtypeStruct((d,), float), jax.ShapeDtypeStruct((), float)
            self._init = Program(self._init, jax.ShapeDtypeStruct((2,), np.uint32), point, number)
            self._ask = Program(self._ask, self._init.shapes)
            e, x, state = self._ask.shapes
            self._tell = Program(self._tell, state, e, x, jax.ShapeDtypeStruct(e.shape[:1], float))
            self._invert = jax.jit(self._invert)

    def init(self, seed: int, x0: np.ndarray, sigma0: float) -> State:
        """The state before the first generation."""
        with jax.enable_x64(True):
            return self._init(_words(seed), x0, np.float64(sigma0))

    def ask(self, state: State) -> tuple[Array, Array, State]:
        """Draws e, points x and the state that has drawn them."""
        with jax.enable_x64(True):
            return self._ask(state)

    def tell(self, state: State, e: Array, x: Array, f: np.ndarray) -> tuple[State, View]:
        """The state after a generation, and what to look at: one array comes from the device."""
        with jax.enable_x64(True):
            state, numbers, scale = self._tell(state, e, x, f)
        mean, std, (finite, *info) = np.split(np.array(numbers), (self.d, 2 * self.d))
        return state, View(mean, std, bool(finite), dict(zip(self.names, map(float, info), strict=True)), scale)

    def invert(self, state: State, x: np.ndarray) -> np.ndarray:
        """The draws that give the points x."""
        with jax.enable_x64(True):
            return np.array(self._invert(state, x))

    def _learn(self, state: State, e: Array, x: Array, f: Array) -> tuple[State, Array, Any]:
        state, info = self.strategy.tell(state, e, x, jnp.asarray(f))
        mean, std = self.strategy.spread(state)
        finite = is_finite((state, mean, std))
        self.names = sorted(info)
        numbers = [jnp.asarray(each, float) for each in (finite, *(info[name] for name in self.names))]
        return state, jnp.concatenate([mean, std, jnp.stack(numbers)]), _scale(self.strategy, state)


def steps_of(strategy: Strategy, d: int) -> Steps:
    """The steps, made at the first call with such arguments under such settings of JAX."""
    with jax.enable_x64(True), _lock:
        key = (strategy, d, compile_cache.settings())
        if key not in _steps:
            _steps[key] = Steps(strategy, d)
        return _steps[key]


def covariance_condition(scale: Any) -> float:
    """The condition number of scale scale'; NaN where it is unknown."""
    if scale is None:
        return float("nan")
    scale = np.asarray(scale)
    if not np.all(np.isfinite(scale)):
        return float("nan")
    values = np.abs(scale) if scale.ndim == 1 else np.linalg.svd(scale, compute_uv=False)
    return float((values.max() / values.min()) ** 2) if values.min() > 0 else float("inf")


def is_finite(tree: State) -> Array:
    """Whether all floating-point numbers of a state are finite."""
    arrays = [leaf for leaf in jax.tree.leaves(tree) if hasattr(leaf, "dtype")]  # a third-party object is a leaf too
    floats = [leaf for leaf in arrays if jnp.issubdtype(leaf.dtype, jnp.floating)]
    if not floats:
        return jnp.asarray(True)
    return jnp.all(jnp.isfinite(jnp.concatenate([jnp.ravel(leaf) for leaf in floats])))  # one reduction, not one each


def _scale(strategy: Strategy, state: Any) -> Array | None:
    latent, inner = (strategy.latent, state.latent) if isinstance(strategy, GNNES) else (strategy, state)
    return latent.frame(inner).scale if isinstance(latent, Latent) else None


def _init(strategy: Strategy, words: Array, x0: Array, sigma0: Array) -> State:
    return strategy.init(_key(words), jnp.asarray(x0), sigma0)


def _words(seed: int) -> np.ndarray:
    return np.random.SeedSequence(seed).generate_state(2, np.uint32)


def _key(words: Any) -> Key:
    return jax.random.wrap_key_data(words, impl="threefry2x32")


_steps: dict[Any, Steps] = {}
_lock = threading.Lock()

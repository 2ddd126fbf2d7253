"""The compiled steps of the front door, in double precision whatever the user's JAX flags say.

The steps of a strategy in a dimension are compiled once: a second problem of the same make and size compiles nothing. A
strategy with a Python object inside cannot be traced and is called as it is.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from thalweg.compiled import disk_cache as compile_cache
from thalweg.compiled.program import Program
from thalweg.strategies.strategy import Array, HasAffineScale, Key, State, Strategy


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
    return as_key(jnp.asarray(np.stack([seed_words(seed) for seed in seeds])))


class Drawn(NamedTuple):
    """A generation, and the state that has drawn it."""

    e: Any
    x: Any
    state: State


class Steps:
    """The steps of a strategy in dimension d.

    The next generation is drawn along with the update, so that a generation is one call of one program: calls are what small
    problems spend their time on.

    >>> from thalweg.strategies.latents.cmaes import CMAES
    >>> steps = steps_of(CMAES(), 2)
    >>> state, drawn = steps.begin(1, np.zeros(2), 0.5)
    >>> state, drawn, view = steps.tell(drawn, np.asarray(drawn.x).sum(1))
    >>> view.finite, view.mean.shape
    (True, (2,))
    """

    def __init__(self, strategy: Strategy, d: int) -> None:
        self.strategy, self.d = strategy, d
        self.names: list[str] = []
        """Of the info, in the order in which the numbers come."""
        self.impls: list[Any] = []
        """Of the random keys among the leaves of the state; None for other leaves."""
        self.moved: list[int] = []
        """Which leaves of the state change when a generation is drawn."""
        self.compiles = strategy.traceable and not compile_cache.setting("jax_disable_jit")
        self._begin: Callable[..., Any] = self._started
        self._turn: Callable[..., Any] = self._learned
        self._ask: Callable[..., tuple[Array, Array, State]] | None = None if self.compiles else self._asked
        self._invert: Callable[..., Array] = jax.jit(self._inverted) if self.compiles else self._inverted
        self._look: Callable[..., tuple[Array, Array]] = jax.jit(self._looked) if self.compiles else self._looked
        if self.compiles:  # both at the same time, and this goes on meanwhile
            point, number = jax.ShapeDtypeStruct((d,), float), jax.ShapeDtypeStruct((), float)
            self._begin = Program(self._started, jax.ShapeDtypeStruct((2,), np.uint32), point, number)
            self.shapes, (e, x, _) = self._begin.shapes
            self._turn = Program(self._learned, self.shapes, e, x, jax.ShapeDtypeStruct(e.shape[:1], float))

    def begin(self, seed: int, x0: np.ndarray, sigma0: float) -> tuple[State, Drawn | None]:
        """The state before the first generation, and that generation if it can be drawn ahead."""
        with jax.enable_x64(True):
            state, drawn = self._begin(seed_words(seed), x0, np.float64(sigma0))
        return state, self._unpacked(state, drawn)

    def ask(self, state: State) -> Drawn:
        """A generation; for those that were not drawn ahead."""
        with jax.enable_x64(True):
            if self._ask is None:
                self._ask = Program(self._asked, self.shapes)
            return Drawn(*self._ask(self.hidden(state)))

    def tell(self, drawn: Drawn, f: np.ndarray) -> tuple[State, Drawn | None, View]:
        """The state after a generation, the next one, and what to look at: that is one array from the device."""
        with jax.enable_x64(True):
            state, ahead, numbers, scale = self._turn(drawn.state, drawn.e, drawn.x, f)
        seen, d = np.array(numbers), self.d
        finite, *info = seen[2 * d :].tolist()
        view = View(seen[:d], seen[d : 2 * d], bool(finite), dict(zip(self.names, info, strict=True)), scale)
        return state, self._unpacked(state, ahead), view

    def invert(self, state: State, x: np.ndarray) -> np.ndarray:
        """The draws that give the points x."""
        with jax.enable_x64(True):
            return np.array(self._invert(self.hidden(state), x))

    def look(self, state: State, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The draws that give the points x, and the log-densities of these points."""
        with jax.enable_x64(True):
            e, density = self._look(self.hidden(state), x)
            return np.array(e), np.array(density)

    def shown(self, state: State) -> State:
        """A state of these steps as the strategy knows it."""
        if not self.compiles:
            return state
        leaves, tree = jax.tree.flatten(state)
        keys = zip(leaves, self.impls, strict=True)
        return jax.tree.unflatten(
            tree, [leaf if impl is None else jax.random.wrap_key_data(leaf, impl=impl) for leaf, impl in keys]
        )

    def hidden(self, state: State) -> State:
        """A state of the strategy as these steps keep it: random keys as plain numbers, which cost less to hand over."""
        if not self.compiles:
            return state
        leaves, tree = jax.tree.flatten(state)
        leaves = [leaf if hasattr(leaf, "dtype") else jnp.asarray(leaf) for leaf in leaves]
        self.impls = self.impls or [jax.random.key_impl(leaf) if _is_key(leaf) else None for leaf in leaves]
        return jax.tree.unflatten(tree, [jax.random.key_data(leaf) if _is_key(leaf) else leaf for leaf in leaves])

    def _started(self, words: Array, x0: Array, sigma0: Array) -> tuple[State, Any]:
        return self._ahead(self.strategy.init(as_key(words), jnp.asarray(x0), sigma0))

    def _asked(self, state: State) -> tuple[Array, Array, State]:
        e, x, state = self.strategy.ask(self.shown(state))
        return e, x, self.hidden(state)

    def _inverted(self, state: State, x: Array) -> Array:
        return self.strategy.invert(self.shown(state), x)

    def _looked(self, state: State, x: Array) -> tuple[Array, Array]:
        shown, x = self.shown(state), jnp.asarray(x)
        return self.strategy.invert(shown, x), self.strategy.log_prob(shown, x)

    def _learned(self, state: State, e: Array, x: Array, f: Array) -> tuple[State, Any, Array, Any]:
        state, info = self.strategy.tell(self.shown(state), e, x, jnp.asarray(f))
        mean, std = self.strategy.spread(state)
        finite = is_finite((state, mean, std))
        self.names = sorted(info)
        numbers = [jnp.asarray(each, float) for each in (finite, *(info[name] for name in self.names))]
        shown, scale = jnp.concatenate([mean, std, jnp.stack(numbers)]), scale_of(self.strategy, state)
        return (*self._ahead(state), shown, scale)

    def _ahead(self, state: State) -> tuple[State, Any]:
        """The state and the generation that it draws next; not beside a Python object, which may want to be asked later."""
        if not self.compiles:
            return state, None
        # behind a barrier the compiler makes of it what it makes of `ask` alone, to the last bit: see a run that is resumed
        state = jax.lax.optimization_barrier(self.hidden(state))
        e, x, after = self._asked(state)
        leaves = list(zip(jax.tree.leaves(state), jax.tree.leaves(after), strict=True))
        self.moved = [i for i, (old, new) in enumerate(leaves) if old is not new]
        return state, (e, x, [leaves[i][1] for i in self.moved])

    def _unpacked(self, state: State, ahead: Any) -> Drawn | None:
        if ahead is None:
            return None
        e, x, moved = ahead
        leaves, tree = jax.tree.flatten(state)
        for i, leaf in zip(self.moved, moved, strict=True):
            leaves[i] = leaf
        return Drawn(e, x, jax.tree.unflatten(tree, leaves))


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


def scale_of(strategy: Strategy, state: Any) -> Array | None:
    """Return the scale of the affine part of the search distribution, (d, d) or (d,); None where it is unknown."""
    return strategy.affine_scale(state) if isinstance(strategy, HasAffineScale) else None


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def seed_words(seed: int) -> np.ndarray:
    """What a random key is made of, from a seed of any size."""
    return np.random.SeedSequence(seed).generate_state(2, np.uint32)


def as_key(words: Any) -> Key:
    """A random key, or many."""
    return jax.random.wrap_key_data(words, impl="threefry2x32")


_steps: dict[Any, Steps] = {}
_lock = threading.Lock()

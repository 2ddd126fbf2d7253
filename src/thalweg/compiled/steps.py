"""Compiled steps of a strategy, in double precision whatever the user's JAX flags say.

The steps of a strategy in a dimension are compiled once: a second search with the same strategy and dimension compiles nothing.
A strategy that holds a Python object cannot be traced and is called as it is.
"""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from thalweg.compiled import disk_cache
from thalweg.compiled.generation import Learned, is_finite, learn, squeeze
from thalweg.compiled.keys import as_key, seed_words
from thalweg.compiled.program import Program
from thalweg.compiled.transfer import to_device, to_host
from thalweg.compiled.whole import whole_coordinates
from thalweg.space import SpaceMap
from thalweg.strategies.strategy import Array, HasAffineScale, HasBalance, HasPlace, HasSqueeze, HasWarmStart, State, Strategy


class Drawn(NamedTuple):
    """A generation: standard draws, points of R^d, and the state that has drawn them."""

    e: Any
    y: Any
    state: State

    def __reduce__(self) -> tuple[Any, ...]:
        return _drawn, to_host(tuple(self))


class Observation(NamedTuple):
    """The numbers that the host needs after a generation."""

    mean: np.ndarray
    std: np.ndarray
    finite: bool
    info: dict[str, float]
    scale: Any
    """The affine root of the search distribution, (d, d) or (d,), still on the device; None where the strategy has none."""


class Steps:
    """The compiled steps of a strategy in dimension d.

    The next generation is drawn along with the update, so that a generation is one call of one program: calls are what small
    problems spend their time on.

    >>> from thalweg.strategies.latents.cmaes import CMAES
    >>> steps = steps_of(CMAES(), 2)
    >>> state, drawn = steps.begin(1, np.zeros(2), 0.5)
    >>> state, drawn, seen = steps.tell(drawn, np.asarray(drawn.y).sum(1))
    >>> seen.finite, seen.mean.shape
    (True, (2,))
    """

    def __init__(self, strategy: Strategy, d: int) -> None:
        self.strategy, self.d = strategy, d
        self.names: list[str] = []
        """Names of the info's entries, in the order in which the program returns them."""
        self.key_kinds: list[Any] = []
        """The kind of each leaf of the state that is a random key; None for other leaves."""
        self.moved: list[int] = []
        """Indices of the leaves of the state that drawing a generation changes."""
        self.compiles = strategy.traceable and not disk_cache.setting("jax_disable_jit")
        self._begin: Callable[..., Any] = self._first
        self._tell: Callable[..., Any] = self._next
        self._tells_whole: dict[str, Callable[..., Any]] = {}
        self._ask: Callable[..., tuple[Array, Array, State]] | None = None if self.compiles else self._draw
        self._invert: Callable[..., Array] = jax.jit(self._draws_of) if self.compiles else self._draws_of
        self._place: Callable[..., Array] = jax.jit(self._points_of) if self.compiles else self._points_of
        self._locate: Callable[..., tuple[Array, Array]] = jax.jit(self._located) if self.compiles else self._located
        self._start: Callable[..., Any] = jax.jit(self._started) if self.compiles else self._started
        self._squeeze: Callable[..., Any] = jax.jit(self._squeezed) if self.compiles else self._squeezed
        if self.compiles:  # both compile at the same time, while the caller goes on
            point, number = jax.ShapeDtypeStruct((d,), float), jax.ShapeDtypeStruct((), float)
            self._begin = Program(self._first, jax.ShapeDtypeStruct((2,), np.uint32), point, number)
            self.shapes, (e, y, _) = self._begin.shapes
            self._tell = Program(self._next, self.shapes, e, y, jax.ShapeDtypeStruct(e.shape[:1], float))

    def __reduce__(self) -> tuple[Any, ...]:
        return steps_of, (self.strategy, self.d)

    def begin(self, seed: int, x0: np.ndarray, sigma0: float) -> tuple[State, Drawn | None]:
        """Return the state before the first generation, and that generation if it can be drawn ahead."""
        with jax.enable_x64(True):
            state, ahead = self._begin(seed_words(seed), x0, np.float64(sigma0))
        return state, self._rebuilt(state, ahead)

    def begin_with(self, seed: int, mean: np.ndarray, root: np.ndarray) -> tuple[State, Drawn | None]:
        """Return what `begin` does, with the search distribution N(mean, root root') where the strategy can have it.

        Others begin with the standard deviation of a ball of that volume.
        """
        size = np.exp(np.linalg.slogdet(root)[1] / self.d)
        state, ahead = self.begin(seed, mean, size)
        if not isinstance(self.strategy, HasWarmStart):
            return state, ahead
        with jax.enable_x64(True):
            state, ahead = self._start(state, mean, root)
        return state, self._rebuilt(state, ahead)

    def ask(self, state: State) -> Drawn:
        """Draw a generation, where none was drawn ahead."""
        with jax.enable_x64(True):
            if self._ask is None:
                self._ask = Program(self._draw, self.shapes)
            return Drawn(*self._ask(self.packed(state)))

    def tell(self, drawn: Drawn, f: np.ndarray, whole: SpaceMap | None = None) -> tuple[State, Drawn | None, Observation]:
        """Return the state after a generation, the next generation, and what the host needs: one array from the device.

        `whole` is the space if it has whole numbers.
        """
        with jax.enable_x64(True):
            if whole is None:
                state, ahead, numbers, scale = self._tell(drawn.state, drawn.e, drawn.y, f)
            else:
                state, ahead, numbers, scale = self._tell_whole(whole)(drawn.state, drawn.e, drawn.y, f, whole)
        seen, d = np.array(numbers), self.d
        finite, *info = seen[2 * d :].tolist()
        view = Observation(seen[:d], seen[d : 2 * d], bool(finite), dict(zip(self.names, info, strict=True)), scale)
        return state, self._rebuilt(state, ahead), view

    def squeeze(self, state: State, seen: Observation, factors: np.ndarray) -> tuple[State, Observation]:
        """Multiply the search distribution by factors around its mean; return the state and what the host needs."""
        with jax.enable_x64(True):
            state, std, info, scale = self._squeeze(self.packed(state), seen.mean, seen.std, seen.info, factors)
        shown = {name: float(value) for name, value in info.items()}
        return state, seen._replace(std=np.array(std), info=shown, scale=scale)

    def balanced(self, state: State) -> State:
        """Return the state, or one with the same distribution if step size and root have drifted apart."""
        if not isinstance(self.strategy, HasBalance) or not self.strategy.traceable:
            return state
        with jax.enable_x64(True):
            own = self.unpacked(state)
            balanced = self.strategy.balanced(own)
            return state if balanced is own else self.packed(balanced)

    def invert(self, state: State, y: np.ndarray) -> np.ndarray:
        """Return the standard draws that give the points y."""
        with jax.enable_x64(True):
            return np.array(self._invert(self.packed(state), y))

    def place(self, state: State, e: np.ndarray) -> np.ndarray:
        """Return the points that the standard draws e give."""
        with jax.enable_x64(True):
            return np.array(self._place(self.packed(state), e))

    def locate(self, state: State, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the standard draws that give the points y, and the log-densities of these points."""
        with jax.enable_x64(True):
            e, density = self._locate(self.packed(state), y)
            return np.array(e), np.array(density)

    def unpacked(self, state: State) -> State:
        """Return a state of these steps as the strategy knows it."""
        if not self.compiles:
            return state
        leaves, tree = jax.tree.flatten(state)
        keys = zip(leaves, self.key_kinds, strict=True)
        return jax.tree.unflatten(
            tree, [leaf if kind is None else jax.random.wrap_key_data(leaf, impl=kind) for leaf, kind in keys]
        )

    def packed(self, state: State) -> State:
        """Return a state of the strategy as these steps keep it: random keys as plain numbers, which cost less to pass."""
        if not self.compiles:
            return state
        leaves, tree = jax.tree.flatten(state)
        keys = [leaf for leaf, kind in zip(leaves, self.key_kinds, strict=False) if kind is not None]
        if keys and not any(map(_is_key, keys)) and all(hasattr(leaf, "dtype") for leaf in leaves):
            return state  # it is one of these steps already
        leaves = [leaf if hasattr(leaf, "dtype") else jnp.asarray(leaf) for leaf in leaves]
        self.key_kinds = self.key_kinds or [jax.random.key_impl(leaf) if _is_key(leaf) else None for leaf in leaves]
        return jax.tree.unflatten(tree, [jax.random.key_data(leaf) if _is_key(leaf) else leaf for leaf in leaves])

    def _first(self, words: Array, x0: Array, sigma0: Array) -> tuple[State, Any]:
        return self._ahead(self.strategy.init(as_key(words), jnp.asarray(x0), sigma0))

    def _started(self, state: State, mean: Array, root: Array) -> tuple[State, Any]:
        if not isinstance(self.strategy, HasWarmStart):
            raise TypeError(f"{type(self.strategy).__name__} has no method `started`, which starts from a covariance")
        return self._ahead(self.strategy.started(self.unpacked(state), jnp.asarray(mean), jnp.asarray(root)))

    def _draw(self, state: State) -> tuple[Array, Array, State]:
        e, y, state = self.strategy.ask(self.unpacked(state))
        return e, y, self.packed(state)

    def _draws_of(self, state: State, y: Array) -> Array:
        return self.strategy.invert(self.unpacked(state), y)

    def _points_of(self, state: State, e: Array) -> Array:
        if not isinstance(self.strategy, HasPlace):
            raise TypeError(f"{type(self.strategy).__name__} has no method `place`, which maps standard draws to points")
        return self.strategy.place(self.unpacked(state), jnp.asarray(e))

    def _located(self, state: State, y: Array) -> tuple[Array, Array]:
        own, y = self.unpacked(state), jnp.asarray(y)
        return self.strategy.invert(own, y), self.strategy.log_prob(own, y)

    def _squeezed(self, state: State, mean: Array, std: Array, info: Any, factors: Array) -> tuple[State, Array, Any, Any]:
        if not isinstance(self.strategy, HasSqueeze):
            raise TypeError(f"{type(self.strategy).__name__} has no method `squeezed`, which makes its distribution narrower")
        learned = squeeze(self.strategy, Learned(self.unpacked(state), mean, std, info), factors)
        return self.packed(learned.state), learned.std, learned.info, scale_of(self.strategy, learned.state)

    def _tell_whole(self, whole: SpaceMap) -> Callable[..., Any]:
        """Return the program of `tell` for spaces of this kind."""
        if not self.compiles:
            return self._next
        shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(np.shape(leaf), np.asarray(leaf).dtype), whole)
        kind = str(shapes)
        if kind not in self._tells_whole:
            point = jax.ShapeDtypeStruct((self.strategy.population(self.d), self.d), float)
            self._tells_whole[kind] = Program(
                self._next, self.shapes, point, point, jax.ShapeDtypeStruct(point.shape[:1], float), shapes
            )
        return self._tells_whole[kind]

    def _next(self, state: State, e: Array, y: Array, f: Array, whole: SpaceMap | None = None) -> tuple[State, Any, Array, Any]:
        state, mean, std, info = learn(self.strategy, self.unpacked(state), e, y, jnp.asarray(f), whole)
        finite = is_finite((state, mean, std))
        self.names = sorted(info)
        numbers = [jnp.asarray(each, float) for each in (finite, *(info[name] for name in self.names))]
        shown, scale = jnp.concatenate([mean, std, jnp.stack(numbers)]), scale_of(self.strategy, state, whole)
        return (*self._ahead(state), shown, scale)

    def _ahead(self, state: State) -> tuple[State, Any]:
        """Draw the next generation, unless a Python object is inside, which may want to be asked later."""
        if not self.compiles:
            return state, None
        # behind a barrier the compiler makes of it what it makes of `ask` alone, to the last bit: a resumed run needs that
        state = jax.lax.optimization_barrier(self.packed(state))
        e, y, after = self._draw(state)
        leaves = list(zip(jax.tree.leaves(state), jax.tree.leaves(after), strict=True))
        self.moved = [i for i, (old, new) in enumerate(leaves) if old is not new]
        return state, (e, y, [leaves[i][1] for i in self.moved])

    def _rebuilt(self, state: State, ahead: Any) -> Drawn | None:
        if ahead is None:
            return None
        e, y, moved = ahead
        leaves, tree = jax.tree.flatten(state)
        for i, leaf in zip(self.moved, moved, strict=True):
            leaves[i] = leaf
        return Drawn(e, y, jax.tree.unflatten(tree, leaves))


def steps_of(strategy: Strategy, d: int) -> Steps:
    """Return the steps of a strategy, made at the first call with these arguments and these settings of JAX."""
    with jax.enable_x64(True), _lock:
        key = (strategy, d, disk_cache.settings())
        steps = _steps[key] = _steps.pop(key, None) or Steps(strategy, d)  # the newest one comes last
        if len(_steps) > KEPT:
            del _steps[next(iter(_steps))]
        return steps


def axis_lengths(scale: Any) -> tuple[float, float]:
    """Return the standard deviations along the longest and the shortest axis of N(0, scale scale'); NaN if unknown."""
    if scale is None:
        return float("nan"), float("nan")
    scale = np.asarray(scale)
    if not np.all(np.isfinite(scale)):
        return float("nan"), float("nan")
    values = np.abs(scale) if scale.ndim == 1 else np.linalg.svd(scale, compute_uv=False)
    return float(values.max()), float(values.min())


def covariance_condition(axes: tuple[float, float]) -> float:
    """Return the condition number of a covariance with these longest and shortest axes; NaN where they are unknown."""
    longest, shortest = axes
    ratio = float("inf") if shortest == 0 else longest / shortest
    return ratio * ratio  # a power would raise an error where it overflows


def scale_of(strategy: Strategy, state: Any, space: SpaceMap | None = None) -> Array | None:
    """Return the scale of the affine part of the search distribution, (d, d) or (d,); None where it is unknown.

    Whole numbers of the space get the smallest standard deviation of the other coordinates, as their own do not become smaller.
    """
    scale = strategy.affine_scale(state) if isinstance(strategy, HasAffineScale) else None
    whole = None if scale is None or space is None else whole_coordinates(space, strategy.spread(state)[0])
    if scale is None or whole is None:
        return scale
    std = jnp.abs(scale) if scale.ndim == 1 else jnp.linalg.norm(scale, axis=1)
    least = jnp.min(jnp.where(whole, jnp.inf, std))
    factors = jnp.where(whole, jnp.where(jnp.isfinite(least), least, 1.0) / std, 1.0)
    return factors * scale if scale.ndim == 1 else factors[:, None] * scale


def _drawn(*parts: Any) -> Drawn:
    return Drawn(*to_device(parts))


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


_steps: dict[Any, Steps] = {}
KEPT = 16
"""Number of strategies whose steps are kept: each population has its own, which take some 10 to 30 MiB."""
_lock = threading.Lock()

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
from thalweg.compiled.drawn import Ahead, Drawn, moved_on
from thalweg.compiled.generation import Learned, is_finite, learn, squeeze
from thalweg.compiled.identity import identity
from thalweg.compiled.keys import as_key, seed_words
from thalweg.compiled.layout import Layout
from thalweg.compiled.program import Program
from thalweg.compiled.whole import whole_coordinates
from thalweg.space import SpaceMap
from thalweg.strategies.strategy import Array, HasAffineScale, HasBalance, HasPlace, HasSqueeze, HasWarmStart, State, Strategy


class Observation(NamedTuple):
    """The numbers that the host needs after a generation."""

    mean: np.ndarray
    std: np.ndarray
    finite: bool
    info: dict[str, float]
    scale: Any
    """The affine root of the search distribution, (d, d) or (d,), still on the device; None where the strategy has none."""


class ChangedShapeError(Exception):
    """Raised for a strategy whose state changes its shape."""


class Steps:
    """The compiled steps of a strategy in dimension d.

    The next generation is drawn along with the update, so that a generation is one call of one program, and state and draws are
    in few arrays: calls and their arguments are what small problems spend their time on.

    >>> from thalweg.strategies.latents.cmaes import CMAES
    >>> steps = steps_of(CMAES(), 2)
    >>> _, drawn = steps.begin(1, np.zeros(2), 0.5)
    >>> _, drawn, seen = steps.tell(drawn, drawn.y.sum(1))
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
        self.layout: Layout
        """The places of a state and its next generation in the arrays that programs take and return."""
        self.points_at: int | None = None
        """The place of the points among these arrays; None where they are a part of the first one."""
        self.compiles = strategy.traceable and not disk_cache.setting("jax_disable_jit")
        self.identity = identity(strategy) if self.compiles else None
        self._begin: Callable[..., Any] = self._first
        self._tell: Callable[..., Any] | None = None
        self._tells_whole: dict[str, Callable[..., Any] | None] = {}
        self._tell_tree: Callable[..., Any] = jax.jit(self._next) if self.compiles else self._next
        """The update of generations that do not fit `layout`."""
        self._ask: Callable[..., tuple[Array, Array, State]] | None = None if self.compiles else self._draw
        self._invert: Callable[..., Array] = jax.jit(self._draws_of) if self.compiles else self._draws_of
        self._place: Callable[..., Array] = jax.jit(self._points_of) if self.compiles else self._points_of
        self._locate: Callable[..., tuple[Array, Array]] = jax.jit(self._located) if self.compiles else self._located
        self._start: Callable[..., Any] = jax.jit(self._started_flat) if self.compiles else self._started
        self._squeeze: Callable[..., Any] | None = None if self.compiles else self._squeezed
        if self.compiles:  # both compile at the same time, while the caller goes on
            point, number = jax.ShapeDtypeStruct((d,), float), jax.ShapeDtypeStruct((), float)
            self._begin = self._program("first", self._first_flat, jax.ShapeDtypeStruct((2,), np.uint32), point, number)
            self._tell = self._compiled()

    def __reduce__(self) -> tuple[Any, ...]:
        return steps_of, (self.strategy, self.d)

    def begin(self, seed: int, x0: np.ndarray, sigma0: float) -> tuple[State | None, Ahead | None]:
        """Return the state before the first generation, or that generation, which holds it, if it can be drawn ahead."""
        with jax.enable_x64(True):
            return self._begun(self._begin(seed_words(seed), x0, np.float64(sigma0)))

    def begin_with(self, seed: int, mean: np.ndarray, root: np.ndarray) -> tuple[State | None, Ahead | None]:
        """Return what `begin` does, with the search distribution N(mean, root root') where the strategy can have it.

        Others begin with the standard deviation of a ball of that volume.
        """
        size = np.exp(np.linalg.slogdet(root)[1] / self.d)
        state, ahead = self.begin(seed, mean, size)
        if not isinstance(self.strategy, HasWarmStart):
            return state, ahead
        with jax.enable_x64(True):
            return self._begun(self._start(state if ahead is None else ahead.before, mean, root))

    def ask(self, state: State) -> Drawn:
        """Draw a generation, where none was drawn ahead."""
        with jax.enable_x64(True):
            if self._ask is None:
                self._ask = self._program("draw", self._draw, self.layout.shapes[0])
            return Drawn(*self._ask(self.packed(state)))

    def tell(
        self, drawn: Drawn | Ahead, f: np.ndarray, whole: SpaceMap | None = None
    ) -> tuple[State | None, Ahead | Drawn | None, Observation]:
        """Return the state after a generation, the next generation, and what the host needs: one array from the device.

        The state is None where the next generation holds it. `whole` is the space if it has whole numbers.
        """
        flat, more = self._flat(drawn), () if whole is None else (whole,)
        with jax.enable_x64(True):
            tell = None if flat is None else self._tell if whole is None else self._tell_whole(whole)
            if flat is None or tell is None:
                state, ahead, numbers, scale = self._tell_tree(self.packed(drawn.state), drawn.e, drawn.y, f, *more)
                after = None if ahead is None else Drawn(ahead[0], ahead[1], moved_on(state, self.moved, ahead[2]))
                return state, after, self._observed(np.array(numbers), scale)
            flat, numbers, scale = tell(flat, f, *more)
        shown = np.asarray(numbers)
        if self.points_at is None:
            n = len(f) * self.d
            y, shown = shown[:n].reshape(-1, self.d), shown[n:]
        else:
            y = np.asarray(flat[self.points_at])
        return None, Ahead(flat, y, self.layout, self.moved), self._observed(shown.copy(), scale)

    def squeeze(self, state: State, seen: Observation, factors: np.ndarray) -> tuple[State, Observation]:
        """Multiply the search distribution by factors around its mean; return the state and what the host needs."""
        info = {name: np.float64(value) for name, value in seen.info.items()}
        with jax.enable_x64(True):
            if self._squeeze is None:
                shapes = jax.tree.map(
                    lambda part: jax.ShapeDtypeStruct(np.shape(part), float), (seen.mean, seen.std, info, factors)
                )
                self._squeeze = self._program("squeeze", self._squeezed, self.layout.shapes[0], *shapes)
            state, std, info, scale = self._squeeze(self.packed(state), seen.mean, seen.std, info, factors)
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

    def _first_flat(self, words: Array, x0: Array, sigma0: Array) -> tuple[Any, Array]:
        """Do what `_first` does, and return the arrays of `layout`, which is made here, and the points."""
        state, ahead = self._first(words, x0, sigma0)
        self.layout = Layout((state, ahead))
        self.points_at = self.layout.alone(len(jax.tree.leaves(state)) + 1)
        return self.layout.pack((state, ahead)), ahead[1]

    def _started(self, state: State, mean: Array, root: Array) -> tuple[State, Any]:
        if not isinstance(self.strategy, HasWarmStart):
            raise TypeError(f"{type(self.strategy).__name__} has no method `started`, which starts from a covariance")
        return self._ahead(self.strategy.started(self.unpacked(state), jnp.asarray(mean), jnp.asarray(root)))

    def _started_flat(self, state: State, mean: Array, root: Array) -> tuple[Any, Array]:
        made = self._started(state, mean, root)
        return self.layout.pack(made), made[1][1]

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

    def _program(self, name: str, function: Callable[..., Any], *shapes: Any) -> Program:
        """Return a program of this strategy, found by its name where that says all about it."""
        own = None if self.identity is None else f"{name} {self.d} {shapes} {self.identity}"
        return Program(function, *shapes, name=own, owner=self, notes=("layout", "points_at", "moved", "key_kinds", "names"))

    def _compiled(self, *more: Any) -> Callable[..., Any] | None:
        """Return the program of `tell`, which may take the shapes of a space too; None for a state that changes its shape."""
        n = self.layout.shapes[1][0].shape[0]
        try:
            return self._program("next", self._next_flat, self.layout.flat_shapes, jax.ShapeDtypeStruct((n,), float), *more)
        except ChangedShapeError:
            return None

    def _tell_whole(self, whole: SpaceMap) -> Callable[..., Any] | None:
        """Return the program of `tell` for spaces of this kind."""
        shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(np.shape(leaf), np.asarray(leaf).dtype), whole)
        kind = str(shapes)
        if kind not in self._tells_whole:
            self._tells_whole[kind] = self._compiled(shapes)
        return self._tells_whole[kind]

    def _next(self, state: State, e: Array, y: Array, f: Array, whole: SpaceMap | None = None) -> tuple[State, Any, Array, Any]:
        state, mean, std, info = learn(self.strategy, self.unpacked(state), e, y, jnp.asarray(f), whole)
        finite = is_finite((state, mean, std))
        self.names = sorted(info)
        numbers = [jnp.asarray(each, float) for each in (finite, *(info[name] for name in self.names))]
        shown, scale = jnp.concatenate([mean, std, jnp.stack(numbers)]), scale_of(self.strategy, state, whole)
        return (*self._ahead(state), shown, scale)

    def _next_flat(self, flat: tuple[Array, ...], f: Array, whole: SpaceMap | None = None) -> tuple[Any, Array, Any]:
        """Do what `_next` does, on arrays as `layout` has them; the next points, if they are in the vector, are shown first."""
        before, (e, y, moved) = self.layout.unpack(flat)
        *after, shown, scale = self._next(moved_on(before, self.moved, moved), e, y, f, whole)
        if not self.layout.fits(tuple(after)):
            raise ChangedShapeError
        if self.points_at is None:
            shown = jnp.concatenate([jnp.ravel(after[1][1]), shown])
        return self.layout.pack(after), shown, scale

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

    def _begun(self, made: tuple[Any, Any]) -> tuple[State | None, Ahead | None]:
        if not self.compiles:
            return made
        flat, y = made
        return None, Ahead(flat, np.array(y), self.layout, self.moved)

    def _flat(self, drawn: Drawn | Ahead) -> tuple[Any, ...] | None:
        """Return a generation as the programs take it; None where there is no program for it."""
        if isinstance(drawn, Ahead):
            return drawn.flat
        if not self.compiles or self._tell is None:
            return None
        state = self.packed(drawn.state)
        leaves = jax.tree.leaves(state)
        tree = jax.tree.map(np.asarray, (state, (drawn.e, drawn.y, [leaves[i] for i in self.moved])))
        return self.layout.pack(tree, np) if self.layout.fits(tree) else None

    def _observed(self, numbers: np.ndarray, scale: Any) -> Observation:
        d = self.d
        finite, *info = numbers[2 * d :].tolist()
        return Observation(numbers[:d], numbers[d : 2 * d], bool(finite), dict(zip(self.names, info, strict=True)), scale)


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


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


_steps: dict[Any, Steps] = {}
KEPT = 16
"""Number of strategies whose steps are kept: each population has its own, which take some 10 to 30 MiB."""
_lock = threading.Lock()

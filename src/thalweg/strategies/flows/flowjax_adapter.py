"""Any bijection of flowjax as a flow (extra `flows`); slower to build than the flows of this package."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from thalweg._common.extras import require
from thalweg.strategies.flows.base import Flow
from thalweg.strategies.strategy import Array, Key

Leaves = tuple[Array, ...]
"""The trained arrays of a bijection, in the order of its pytree."""


@dataclass(frozen=True)
class FlowjaxFlow(Flow):
    """A flowjax bijection b as the flow e -> b(b0^-1(e)), where b0 is b as built, so that the flow starts as the identity.

    `factory(key, d)` builds a bijection of shape (d,) without condition, for instance
    `lambda key, d: flowjax.flows.coupling_flow(key, base_dist=StandardNormal((d,))).bijection`. It is called once per
    dimension with the key of `seed`: a bijection may hold integer arrays (permutations), which no gradient step can carry, so
    its structure and b0 are constants of the adapter and only the arrays to be trained are parameters. The key of `init`
    therefore has no effect. Arrays that flowjax marks as not trainable stay as built.
    """

    factory: Callable[[Key, int], Any]
    seed: int = 0

    def init(self, key: Key, d: int, dtype: Any = float) -> Leaves:
        return tuple(jnp.asarray(leaf, dtype) for leaf in self._built(d)[0])

    def forward(self, params: Leaves, e: Array) -> Array:
        return self._each(lambda bent, start, u: bent.transform(start.inverse(u)), params, e)

    def inverse(self, params: Leaves, y: Array) -> Array:
        return self._each(lambda bent, start, u: start.transform(bent.inverse(u)), params, y)

    def log_det(self, params: Leaves, e: Array) -> Array:
        def one(bent: Any, start: Any, u: Array) -> Array:
            back, log_det = start.inverse_and_log_det(u)
            return log_det + bent.transform_and_log_det(back)[1]

        return self._each(one, params, e)

    def _each(self, function: Callable[[Any, Any, Array], Array], params: Leaves, points: Array) -> Array:
        """Return function(b, b0, point) for each of the points (..., d); flowjax itself takes one point at a time."""
        d = points.shape[-1]
        leaves, rebuild = self._built(d)
        bent, start = rebuild(params), rebuild(tuple(jnp.asarray(leaf, points.dtype) for leaf in leaves))
        values = jax.vmap(lambda u: function(bent, start, u))(points.reshape(-1, d))
        return values.reshape(points.shape[:-1] + values.shape[1:]).astype(points.dtype)

    def _built(self, d: int) -> tuple[tuple[np.ndarray, ...], Callable[[Leaves], Any]]:
        return build(self.factory, self.seed, d, bool(jax.config.read("jax_enable_x64")))


@lru_cache(maxsize=64)
def build(
    factory: Callable[[Key, int], Any], seed: int, d: int, x64: bool
) -> tuple[tuple[np.ndarray, ...], Callable[[Leaves], Any]]:
    """Return the trained arrays of a new bijection, in double precision if `x64`, and a function from arrays to a bijection."""
    _, eqx, paramax = (require(name, extra="flows", purpose="FlowjaxFlow") for name in ("flowjax", "equinox", "paramax"))

    def construct() -> Any:
        with jax.enable_x64(x64):
            return factory(jax.random.key(seed), d)

    # The first call may come from inside a trace, and the cache must not hold tracers. Traces belong to a thread, so another
    # thread builds concrete arrays (`jax.ensure_compile_time_eval` would do, but equinox' run-time checks fail under it).
    with ThreadPoolExecutor(1) as outside:
        bijection = outside.submit(construct).result()
    if bijection.shape != (d,) or bijection.cond_shape is not None:
        raise ValueError(
            f"factory must build a bijection of shape ({d},) without condition in dimension {d}, but it built one of shape "
            f"{bijection.shape} with the condition shape {bijection.cond_shape}."
        )

    def frozen(node: Any) -> bool:
        return isinstance(node, paramax.NonTrainable)

    trained, rest = eqx.partition(bijection, eqx.is_inexact_array, is_leaf=frozen)
    leaves, treedef = jax.tree.flatten(trained)

    def rebuild(arrays: Leaves) -> Any:
        return eqx.combine(jax.tree.unflatten(treedef, arrays), rest, is_leaf=frozen)

    return tuple(np.asarray(leaf) for leaf in leaves), rebuild

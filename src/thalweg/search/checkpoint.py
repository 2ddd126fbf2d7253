"""Checkpoints: one file of plain arrays and JSON, never a pickle, replaced atomically.

The state's leaves are stored by their names in the strategy's tree, random keys as the numbers they are made of, so that a file
written under one version of JAX can be read under another.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from thalweg._common.checks import shortened
from thalweg.storage import archive
from thalweg.search.checkpoint_contents import check as find_wrong
from thalweg.storage.archive import Target
from thalweg.strategies.strategy import State, Strategy

if TYPE_CHECKING:
    from thalweg.search.run import Optimizer

HISTORY = ("recent", "bests", "medians")
COUNTERS = ("nit", "flat", "failed", "first", "reasons")
FLIGHT = "flight"
"""Points that were asked one by one, under `extra`."""
STATE = "state."
"""What the names of the state's leaves begin with."""


def save(es: "Optimizer", path: Target, extra: Mapping[str, Any] | None = None) -> None:
    """Write an optimiser to a file, and with it whatever else is of JSON's types."""
    check(es, path)
    leaves = _named(es.state)
    history = {name: np.asarray(getattr(es.tests, name), float) for name in HISTORY}
    arrays = {"best_x": es.best.x, "mean": es.mean, "std": es.std, "injected": es.injected}
    meta = {
        "identity": identity(es),
        "config": _config(es),
        "tests": {name: getattr(es.tests, name) for name in COUNTERS},
        "best": {"f": es.best.f, "nfev": es.best.nfev},
        "nfev": es.nfev,
        "failures": es.failures,
        "elapsed": es.elapsed,
        "info": es.info,
        "extra": {**(extra or {}), FLIGHT: es.flight.pack() if es.flight else None},
    }
    archive.write(Path(path), {**leaves, **history, **arrays}, meta)


def restore(es: "Optimizer", path: Target) -> dict[str, Any]:
    """Bring an optimiser of the same make to where the file was written; returns what else the file holds."""
    meta, arrays = read(path)
    compare(identity(es), meta["identity"], path)
    _check_arrays(es, arrays, path)
    leaves, tree = jax.tree.flatten(es.state)
    es.state = jax.tree.unflatten(
        tree, [_like(leaf, arrays[name]) for leaf, name in zip(leaves, _named(es.state), strict=True)]
    )
    for name in HISTORY:
        setattr(es.tests, name, arrays[name].tolist())
    for name in COUNTERS:
        setattr(es.tests, name, meta["tests"][name])
    es.best = es.best._replace(x=arrays["best_x"], **meta["best"])
    es.mean, es.std, es.injected = arrays["mean"], arrays["std"], arrays["injected"]
    es.nfev, es.failures, es.info = meta["nfev"], meta["failures"], meta["info"]
    es.started -= meta["elapsed"]
    flight = meta["extra"].pop(FLIGHT, None)
    try:
        es.flight.unpack(flight or {}, es.d)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"checkpoint {os.fspath(path)!r} is damaged: its open points are none ({error})") from None
    return meta["extra"]


def check(es: "Optimizer", path: Target) -> None:
    """Complain, before a run has cost anything, where a checkpoint could not be written."""
    if not es.strategy.traceable:
        raise ValueError(f"{shortened(es.strategy)} holds a third-party object that a checkpoint cannot store; leave it out")
    if not Path(path).parent.is_dir():
        raise ValueError(f"checkpoint {os.fspath(path)!r} lies in a directory that does not exist; make it first")
    archive.check_file(Path(path))


def identity(es: "Optimizer") -> dict[str, Any]:
    """What two runs must share for one to continue the other. Budgets and tolerances may change."""
    return {
        "strategy": repr(es.strategy),
        "dimension": es.d,
        "popsize": es.popsize,
        "x0": es.x0.tolist(),
        "sigma0": es.sigma0,
        "bounds": _pairs(es),
        "seed": es.seed,
    }


def compare(ours: Mapping[str, Any], theirs: Mapping[str, Any], path: Target) -> None:
    """Complain about a checkpoint of another identity."""
    for name, value in ours.items():
        if theirs.get(name) != value:
            raise ValueError(
                f"checkpoint {os.fspath(path)!r} belongs to another problem: its {name} is {shortened(theirs.get(name))}, here "
                f"it is {shortened(value)}; use the same or another file"
            )


def configuration(path: Target, method: str | Strategy | None) -> dict[str, Any]:
    """The arguments that make an optimiser like the one in the file."""
    meta, _ = read(path)
    config = meta["config"]
    config["method"] = config["method"] if method is None else method
    if config["method"] is None:
        raise ValueError(
            f"checkpoint {os.fspath(path)!r} was written by {shortened(meta['identity']['strategy'])}, which has no name; "
            "pass it as method"
        )
    return config


def read(path: Target) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The JSON part and the arrays of a checkpoint."""
    meta, arrays = archive.read(path)
    wrong = find_wrong(meta)
    if wrong is not None:
        raise ValueError(f"checkpoint {os.fspath(path)!r} is damaged: {wrong}; take a copy of it, or remove it to begin anew")
    return meta, arrays


def _config(es: "Optimizer") -> dict[str, Any]:
    options, method = es.options, es.method if isinstance(es.method, str) else None
    try:
        json.dumps(options, default=archive.plain)
    except TypeError:  # a flow or a step is among them
        options, method = {name: value for name, value in options.items() if name.startswith("tol")}, None
    common = {"x0": es.x0.tolist(), "sigma0": es.sigma0, "bounds": _pairs(es), "seed": es.seed}
    return {**common, **es.limits, "method": method, "options": options}


def _pairs(es: "Optimizer") -> list[list[float | None]] | None:
    if es.box is None:
        return None
    sides = [[value if np.isfinite(value) else None for value in side.tolist()] for side in (es.box.low, es.box.high)]
    return [list(pair) for pair in zip(*sides, strict=True)]


def _plain(leaf: Any) -> np.ndarray:
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _named(state: State) -> dict[str, np.ndarray]:
    """The leaves by names such as "state.latent.mean": put together here, as JAX's own way to write them may change."""
    parts = ("name", "key", "idx")  # of a field, a dictionary's value, a sequence's item
    return {
        STATE + ".".join(str(next(getattr(step, part) for part in parts if hasattr(step, part))) for step in steps): _plain(
            leaf
        )
        for steps, leaf in jax.tree.leaves_with_path(state)
    }


def _check_arrays(es: "Optimizer", arrays: Mapping[str, np.ndarray], path: Target) -> None:
    """Complain about arrays that are not those of such an optimiser."""
    ours = {**_named(es.state), "best_x": es.best.x, "mean": es.mean, "std": es.std, "injected": es.injected}
    ours |= {name: np.empty(0) for name in HISTORY}
    strange = f"checkpoint {os.fspath(path)!r} does not fit the strategy's state, was it written by another version?"
    for name in sorted(ours.keys() ^ arrays.keys()):
        raise ValueError(f"{strange} {shortened(name)} is only {'here' if name in ours else 'in the file'}")
    for name, array in arrays.items():
        grows = name in HISTORY or name == "injected"
        dtype, shape = ours[name].dtype, ours[name].shape
        if grows and array.ndim:
            shape = array.shape[:1] + shape[1:]
        if array.dtype != dtype or array.shape != shape:
            raise ValueError(f"{strange} {name} is {array.dtype} of shape {array.shape}, here {dtype} of shape {shape}")


def _like(leaf: Any, array: np.ndarray) -> State:
    with jax.enable_x64(True):
        plain = jnp.asarray(array)
        return jax.random.wrap_key_data(plain, impl=jax.random.key_impl(leaf)) if _is_key(leaf) else plain


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)

"""Checkpoints: one file of plain arrays and JSON, never a pickle, replaced atomically.

The state's leaves are stored in order; their tree comes from the strategy, so that a file written under one version of JAX can
be read under another.
"""

import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from thalweg.types import State, Strategy
from thalweg.validation import shortened

if TYPE_CHECKING:
    from thalweg.optimizer import Optimizer

FORMAT = 1
Target = str | os.PathLike[str]
HISTORY = ("recent", "bests", "medians")
COUNTERS = ("nit", "flat", "failed", "first", "reasons")


def save(es: "Optimizer", path: Target, extra: Mapping[str, Any] | None = None) -> None:
    """Write an optimiser to a file, and with it whatever else is of JSON's types."""
    check(es, path)
    leaves = {f"state{i}": _plain(leaf) for i, leaf in enumerate(jax.tree.leaves(es.state))}
    history = {name: np.asarray(getattr(es.tests, name), float) for name in HISTORY}
    arrays = {"best_x": es.best.x, "mean": es.mean, "std": es.std, "injected": es.injected}
    meta = {
        "format": FORMAT,
        "identity": identity(es),
        "config": _config(es),
        "tests": {name: getattr(es.tests, name) for name in COUNTERS},
        "best": [es.best.f, es.best.nfev],
        "nfev": es.nfev,
        "failures": es.failures,
        "elapsed": es.elapsed,
        "info": es.info,
        "extra": dict(extra or {}),
    }
    _write(Path(path), {**leaves, **history, **arrays}, meta)


def restore(es: "Optimizer", path: Target) -> dict[str, Any]:
    """Bring an optimiser of the same make to where the file was written; returns what else the file holds."""
    meta, arrays = read(path)
    compare(identity(es), meta["identity"], path)
    leaves, tree = jax.tree.flatten(es.state)
    es.state = jax.tree.unflatten(tree, [_like(leaf, arrays.get(f"state{i}"), path) for i, leaf in enumerate(leaves)])
    for name in HISTORY:
        setattr(es.tests, name, arrays[name].tolist())
    for name in COUNTERS:
        setattr(es.tests, name, meta["tests"][name])
    es.best = es.best._replace(x=arrays["best_x"], f=meta["best"][0], nfev=meta["best"][1])
    es.mean, es.std, es.injected = arrays["mean"], arrays["std"], arrays["injected"]
    es.nfev, es.failures, es.info = meta["nfev"], meta["failures"], meta["info"]
    es.started -= meta["elapsed"]
    return meta["extra"]


def check(es: "Optimizer", path: Target) -> None:
    """Complain, before a run has cost anything, where a checkpoint could not be written."""
    if not es.strategy.traceable:
        raise ValueError(f"{shortened(es.strategy)} holds a third-party object that a checkpoint cannot store; leave it out")
    if not Path(path).parent.is_dir():
        raise ValueError(f"checkpoint {os.fspath(path)!r} lies in a directory that does not exist; make it first")


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
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        meta = json.loads(arrays.pop("meta").tobytes())
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"checkpoint {os.fspath(path)!r} cannot be read ({error}); remove it to begin anew") from error
    if meta["format"] != FORMAT:
        raise ValueError(f"checkpoint {os.fspath(path)!r} has format {meta['format']}, this version reads {FORMAT}")
    return meta, arrays


def _config(es: "Optimizer") -> dict[str, Any]:
    options, method = es.options, es.method if isinstance(es.method, str) else None
    try:
        json.dumps(options)
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


def _like(leaf: Any, array: np.ndarray | None, path: Target) -> State:
    wanted = _plain(leaf)
    if array is None or array.shape != wanted.shape or array.dtype != wanted.dtype:
        raise ValueError(
            f"checkpoint {os.fspath(path)!r} does not fit the strategy's state; was it written by another version?"
        )
    with jax.enable_x64(True):
        return (
            jax.random.wrap_key_data(jnp.asarray(array), impl=jax.random.key_impl(leaf))
            if _is_key(leaf)
            else jnp.asarray(array)
        )


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _write(path: Path, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """Replace the file in one step: whenever the power fails, there is a whole old or a whole new one."""
    text = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, meta=text, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

"""Calls as users write them, for pyright alone: right ones check, and wrong ones are errors. Nothing here runs.

An `ignore` that ignores nothing is an error, so that each of them says that pyright refuses the line.
"""

# pyright: basic, reportUnnecessaryTypeIgnoreComment=true
import concurrent.futures as futures
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, OptimizeResult

import thalweg
from thalweg import CMAES, Constraints, Integer, Known, Method, Optimizer, Quadratic, Real, Space, Strategy


def sphere(x: np.ndarray, shift: float = 0.0) -> float:
    return float(((x - shift) ** 2).sum())


def named(point: Mapping[str, Any]) -> float | None:
    return point["rate"] ** 2 if point["width"] else None


def right_calls(path: Path, method: Method, own: Strategy, word: str, pool: futures.Executor) -> tuple[object, ...]:
    results: list[OptimizeResult] = [
        thalweg.minimize(sphere, [0.0, 1.0], 0.5, method="cma", seed=1),
        thalweg.minimize(sphere, np.zeros(3), [0.1, None, 2], method=method, model="quadratic", rng=np.random.default_rng(1)),
        thalweg.minimize(sphere, (0, 1), method=own, model=Quadratic(), args=(1.0,), bounds=(-5, None), scale=[1, 1e-3]),
        thalweg.minimize(sphere, None, method=word, bounds=[(0, 1), (None, 3.5)], integers=[1], log=[True, False]),
        thalweg.minimize(sphere, lambda rng: rng.normal(size=2), bounds=Bounds(0, 1), restarts=3, bipop=True),
        thalweg.minimize(sphere, bounds=np.array([[0, 1], [0, 2]]), workers=pool, progress=True, log=path, checkpoint="run"),
        thalweg.minimize(named, Space(rate=Real(1e-5, 1, log=True), width=Integer(1, 9)), workers="ray", log=False, trust=True),
        thalweg.minimize(sphere, [0.0], constraints=NonlinearConstraint(sphere, -np.inf, 0), known="run.jsonl"),
        thalweg.minimize(sphere, [0.0], constraints=[LinearConstraint([[1]], -1, 1), "returned"], known=([[0.0]], [None])),
        thalweg.minimize(sphere, [0.0], constraints=Constraints("returned", tolerance=1e-9), known=thalweg.read_log(path)),
        thalweg.minimize(sphere, [0.0], known=Known([{"rate": 0.1}], [1.0], similar=True), options={"tolx": 0}, workers=map),
        thalweg.resume(path, sphere, workers=thalweg.Dask(), max_evals=1e4, callback=lambda result: result.fun < 0),
    ]
    es = Optimizer([1.0, 2.0], method="gnn-cma", popsize=6, ftarget=1e-9)
    while not es.stop():
        X = es.ask()
        es.tell(X, [sphere(x) if x[0] else None for x in X])
    es.tell([[1.0, 2.0]], jnp.ones(1), G=[[0.0]], foreign=True)
    es.tell(es.ask(2), es.ask().sum(1))
    es.inject([1.0, 2.0])
    es.save(path, {"note": 1})
    step: dict[str, float] = Optimizer.load(path).stop()
    runs = thalweg.run_many(CMAES(), lambda x: (x**2).sum(), jnp.zeros(2), seeds=3, generations=9, dtype=np.float32)
    found = thalweg.run_restarts("cma", lambda x: (x**2).sum(), [0, 0], seeds=[1, 2], max_evals=100, targets=[1e-3, 1e-8])
    return step, runs.fun.min(), found.x.shape, Space([Real(0, 1)]).point([0.5]), thalweg.reevaluate(results[0], sphere).fun


def wrong_calls(path: Path) -> None:
    thalweg.minimize([0.0, 1.0], sphere)  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, {"rate": 1})  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, [0.0], method=3)  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, [0.0], method=CMAES)  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, [0.0], model=True)  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, [0.0], bounds=5)  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, [0.0], bounds=("low", "high"))  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, [0.0], integers="first")  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, [0.0], constraints=sphere)  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, [0.0], constraints=Bounds(0, 1))  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, [0.0], constraints="return")  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, [0.0], known=[1.0, 2.0])  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, [0.0], workers=2.5)  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, [0.0], checkpoint=True)  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, [0.0], log=3)  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, [0.0], popsize="10")  # pyright: ignore[reportArgumentType]
    thalweg.minimize(sphere, [0.0], maxiter=3)  # pyright: ignore[reportCallIssue]
    thalweg.resume(path, sphere, seed=3)  # pyright: ignore[reportCallIssue]
    thalweg.resume(path, sphere, retries="two")  # pyright: ignore[reportArgumentType]
    Optimizer([0.0]).tell([[0.0]], ["1"])  # pyright: ignore[reportArgumentType]
    Optimizer([0.0]).tell([[0.0]], 1.0)  # pyright: ignore[reportArgumentType]
    Optimizer([0.0]).ask("all")  # pyright: ignore[reportArgumentType]
    thalweg.run_many("cma", sphere, [0.0], seeds=3, generations=9, log="run.jsonl")  # pyright: ignore[reportArgumentType]
    Space(rate=(0, 1))  # pyright: ignore[reportArgumentType]
    Real("0", 1)  # pyright: ignore[reportArgumentType]

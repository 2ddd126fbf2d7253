"""Cost of a generation: ask and tell on one core as ratios to pycma, and compiled runs as ratios to evosax.

    OMP_NUM_THREADS=1 python studies/benchmarks/per_generation.py --out studies/benchmarks/results/per_generation.json

The objective is a sum of squares, which costs next to nothing. All methods take turns, a round of some generations
each, so that a busy machine slows them alike; the numbers are medians over the rounds, after a round to warm up. The process
keeps to one core where the system lets it. This takes about eight minutes. evosax (pip install evosax==0.3.2) is in no extra of
thalweg, as it has many dependencies.
"""

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import cma
import jax
import jax.numpy as jnp
import numpy as np
from shared import Report, Row, cost_report, measure_or_show

import thalweg
from thalweg.compiled.keys import make_keys
from thalweg_studies.report.files import markdown

SIZES = ((2, 6), (5, 8), (10, 10), (20, 12), (40, 15), (100, 17), (2, 20), (10, 100), (40, 400), (100, 1000))
"""Dimension and population, first the default ones."""
SMALL = (10, 10)
"""Size at which arithmetic is the smallest part of the cost, and the parts are shown."""
BARS = {"gnn-cma": 1.0, "cma": 0.4, "xnes": 0.4}
"""Goals: largest ratio to pycma."""
ROUNDS = 21
LONGEST = 300
"""Number of generations of a search in a round."""

Generation = Callable[[], None]
Make = Callable[[], Generation]
"""Begins a search; its calls are generations, or runs of several."""


def sphere(x: Any) -> Any:
    return (x * x).sum(-1)


def by_pycma(d: int, n: int) -> Generation:
    es = cma.CMAEvolutionStrategy(np.ones(d), 1.0, {"popsize": n, "verbose": -9, "seed": 1})

    def generation() -> None:
        x = es.ask()
        es.tell(x, sphere(np.asarray(x)))

    return generation


def by_optimizer(method: str, d: int, n: int) -> Generation:
    es = thalweg.Optimizer(np.ones(d), 1.0, method=method, popsize=n, seed=1, max_iter=10**9)

    def generation() -> None:
        x = es.ask()
        es.tell(x, sphere(x))

    return generation


def by_program(method: str, d: int, n: int) -> Generation:
    """Return only the call of the compiled update, which also draws the next generation, and the transfer of its numbers."""
    es = thalweg.Optimizer(np.ones(d), 1.0, method=method, popsize=n, seed=1, max_iter=10**9)
    drawn, f = es.run.draw(es.injected).drawn, np.arange(float(n))

    def generation() -> None:
        es.run.steps.tell(drawn, f)

    return generation


def scanned(init: Callable[[], Any], step: Callable[[Any], Any], length: int) -> Callable[[], None]:
    """Return a call that runs `length` generations in one compiled loop, each time from the start."""
    run = jax.jit(lambda state: jax.lax.scan(lambda s, _: (step(s), None), state, None, length)[0])
    with jax.enable_x64(True):
        state = init()

    def chunk() -> None:
        with jax.enable_x64(True):
            jax.block_until_ready(run(state))

    return chunk


def functions(strategy: Any, d: int) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    """Return two functions for JAX to trace: the first state of a strategy in dimension d, and a generation."""

    def generation(state: Any) -> Any:
        e, x, state = strategy.ask(state)
        return strategy.tell(state, e, x, sphere(x))[0]

    return lambda: strategy.init(make_keys([1])[0], jnp.ones(d), 1.0), generation


def by_scan(method: str, d: int, n: int, length: int) -> Callable[[], None]:
    return scanned(*functions(thalweg.make_strategy(method, popsize=n), d), length)


def by_evosax(d: int, n: int, length: int) -> Callable[[], None]:
    from evosax.algorithms import CMA_ES

    with jax.enable_x64(True):
        es = CMA_ES(population_size=n, solution=jnp.zeros(d, jnp.float64))
        params = es.default_params

    def init() -> Any:
        key = make_keys([1])[0]
        return key, es.init(key, jnp.ones(d), params)

    def step(carry: Any) -> Any:
        key, state = carry
        key, ask, tell = jax.random.split(key, 3)
        x, state = es.ask(ask, state, params)
        state, _ = es.tell(tell, x, sphere(x), state, params)
        return key, state

    return scanned(init, step, length)


def per_generation(candidates: dict[str, tuple[Make, int]], rounds: int) -> dict[str, list[float]]:
    """Return milliseconds a generation for each round; candidates are what makes a call, and its number of generations.

    Each round begins a search anew: one that has converged computes with the smallest numbers there are, which takes longer.
    """
    taken: dict[str, list[float]] = {name: [] for name in candidates}
    for i in range(rounds + 1):
        for name, (make, length) in candidates.items():
            call, repeats = make(), max(1, LONGEST // length)
            call()
            start = time.perf_counter()
            for _ in range(repeats):
                call()
            if i:  # the first round compiles
                taken[name].append(1e3 * (time.perf_counter() - start) / repeats / length)
    return taken


def measure(rounds: int) -> Report:
    return cost_report(("jax", "numpy", "cma", "evosax"), rounds, measure_rows(rounds))


def measure_rows(rounds: int) -> Iterator[Row]:
    for d, n in SIZES:
        length = min(LONGEST, max(5, 20_000 // (d * n)))
        print(f"d = {d}, N = {n}", flush=True)
        pycma = {"pycma": (partial(by_pycma, d, n), 1)}
        yield row("ask and tell", d, n, {m: (partial(by_optimizer, m, d, n), 1) for m in BARS} | pycma, "pycma", rounds)
        scans = {m: by_scan(m, d, n, length) for m in BARS} | {"evosax": by_evosax(d, n, length)}
        yield row("compiled run", d, n, {m: (same(scan), length) for m, scan in scans.items()}, "evosax", rounds)
        if (d, n) == SMALL:
            yield row("one call", d, n, {m: (partial(by_program, m, d, n), 1) for m in BARS} | pycma, "pycma", rounds)


def same(call: Generation) -> Make:
    """Return what gives one call again and again: each begins a search of its own."""
    return lambda: call


def row(kind: str, d: int, n: int, candidates: dict[str, tuple[Make, int]], peer: str, rounds: int) -> Row:
    """Measure candidates: medians, and ratios to the peer within each round, which are robust to a drift of the machine."""
    taken = per_generation(candidates, rounds)
    ratios = {name: np.array(times) / np.array(taken[peer]) for name, times in taken.items() if name != peer}
    return {
        "kind": kind,
        "d": d,
        "n": n,
        "peer": peer,
        "ms": {name: float(np.median(times)) for name, times in taken.items()},
        "ratio": {name: [float(q) for q in np.quantile(each, [0.25, 0.5, 0.75])] for name, each in ratios.items()},
    }


def show(report: Report) -> str:
    """Return tables of times and of ratios with their quartiles over the rounds, and one of the parts of a small generation."""
    parts: list[str] = []
    for kind, title in (
        ("ask and tell", "`Optimizer.ask` and `tell`, as a ratio to pycma's"),
        ("compiled run", "A compiled run, as a ratio to evosax' CMA-ES"),
    ):
        rows = [each for each in report["rows"] if each["kind"] == kind]
        peer = rows[0]["peer"]
        head = ["d / N", f"{peer} (ms)", *(f"{method} (ms)" for method in BARS), *(f"{method} / {peer}" for method in BARS)]
        body = [
            [
                f"{each['d']} / {each['n']}",
                *(f"{each['ms'][name]:.3g}" for name in (peer, *BARS)),
                *("{1:.2f} [{0:.2f}, {2:.2f}]".format(*each["ratio"][name]) for name in BARS),
            ]
            for each in rows
        ]
        parts.append(f"{title}:\n\n{markdown(head, body)}")
    total, inside, call = (
        next(each["ms"] for each in report["rows"] if (each["d"], each["n"]) == SMALL and each["kind"] == kind)
        for kind in ("ask and tell", "compiled run", "one call")
    )
    head = ["10 / 10", "in a compiled run (ms)", "one call of the program (ms)", "ask and tell (ms)"]
    body = [[method, *(f"{part[method]:.3g}" for part in (inside, call, total))] for method in BARS]
    return "\n\n".join([*parts, f"Where the time goes in a small generation:\n\n{markdown(head, body)}"])


if __name__ == "__main__":
    measure_or_show(__doc__, measure, show, ROUNDS)

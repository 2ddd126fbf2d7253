"""Bounds: what they cost `cma` and `gnn-cma`, beside the same problems without bounds and beside pycma with bounds.

    python studies/benchmarks/bounds.py                            # into results/bounds.json
    python studies/benchmarks/bounds.py --table docs/bounds.md     # runs nothing, writes the tables into a page

98 functions in 2 to 20 dimensions (thalweg_studies.bounded). Each run starts at a random point of the box with a first standard
deviation of 0.3 box widths in each coordinate and searches the box scaled to the unit cube. It ends at the minimum + 1e-8
(relative where the minimum is above 1), when the values of recent generations differ by less than 1e-11, or after 2,000 d
evaluations; no restarts. Without bounds: the functions that have the same minimum in all of R^d, from the same starts. Report
seeds 1000 to 1011; development used seeds below 1,000.
"""

import warnings
from collections.abc import Sequence
from functools import cache
from math import ceil
from typing import Any

import cma
import jax
import jax.numpy as jnp
import numpy as np
from shared import Row, add_table, deliver, interval, load_rows, make_parser, markdown, provenance, read_rows, save_rows

from thalweg.compiled.generation import Learned, learn, squeeze
from thalweg.compiled.keys import make_keys
from thalweg.space import make_space
from thalweg.strategies.registry import make_strategy
from thalweg_studies.bounded.bounded_function import BoundedFunction
from thalweg_studies.bounded.functions import FUNCTIONS

METHODS = ("cma", "gnn-cma")
BUDGET = 2000
SIGMA0 = 0.3
LEAST = 0.25
"""The least share of runs that must reach the target for a function to count."""
REPORT = range(1000, 1012)
Runs = list[tuple[int, bool]]
"""Evaluations of each run, and whether it reached the target."""


def start(problem: BoundedFunction, seed: int) -> np.ndarray:
    """Return a random point of the unit cube."""
    return np.random.default_rng((seed, problem.d)).uniform(size=problem.d)


def values(problem: BoundedFunction, z: np.ndarray) -> np.ndarray:
    """Return the values at points of the unit cube."""
    with np.errstate(all="ignore"):
        return problem.fun(problem.low + z * (problem.high - problem.low))


def run_pycma(problem: BoundedFunction, seeds: Sequence[int]) -> Runs:
    """Return what pycma needs with bounds."""
    runs: Runs = []
    for seed in seeds:
        options = {"verbose": -9, "seed": seed + 1, "maxfevals": BUDGET * problem.d, "ftarget": problem.target}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            es = cma.CMAEvolutionStrategy(start(problem, seed), SIGMA0, options | {"bounds": [0, 1]})
            while not es.stop():
                points = es.ask()
                f = values(problem, np.stack(points))
                if np.any(f <= problem.target):
                    runs.append((es.countevals + int(np.argmax(f <= problem.target)) + 1, True))
                    break
                es.tell(points, f.tolist())
            else:
                runs.append((es.countevals, False))
    return runs


@cache
def steps(method: str, d: int, lanes: int) -> Any:
    """Return the start of a strategy, its draws, and its update with a limit on the spread, for many runs at once."""
    strategy: Any = make_strategy(method)

    def tell(state: Any, e: Any, y: Any, f: Any, widest: Any) -> Any:
        learned = learn(strategy, state, e, y, f)
        factors = jnp.minimum(1.0, widest / learned.std)
        narrower = squeeze(strategy, learned, factors)
        chosen: Learned = jax.tree.map(lambda new, old: jnp.where(jnp.any(factors < 1), new, old), narrower, learned)
        return chosen.state, chosen.std

    begin = jax.jit(jax.vmap(lambda key, x0: strategy.init(key, x0, SIGMA0)))
    return begin, jax.jit(jax.vmap(strategy.ask)), jax.jit(jax.vmap(tell, (0, 0, 0, 0, None)))


def run_side_by_side(problem: BoundedFunction, method: str, seeds: Sequence[int], *, bounded: bool) -> Runs:
    """Return what a method needs: the strategy's own steps, for all seeds at once, with the values of numpy."""
    d, lanes = problem.d, len(seeds)
    space = make_space((0.0, 1.0) if bounded else None, d)
    widest = np.broadcast_to(np.asarray(space.widest, float), (d,))
    runs: list[tuple[int, bool] | None] = [None] * lanes
    recent: list[np.ndarray] = []
    with jax.enable_x64(True):
        begin, ask, tell = steps(method, d, lanes)
        state = begin(make_keys(list(seeds)), space.to_search(np.stack([start(problem, seed) for seed in seeds])))
        for generation in range(10**9):
            e, y, state = ask(state)
            f = values(problem, space.to_objective(np.asarray(y)))
            n = f.shape[1]
            f = np.where(np.isfinite(f), f, 1e300)
            hit = f <= problem.target
            recent = [*recent, f.min(1)][-(10 + ceil(30 * d / n)) :]
            flat = (np.ptp(recent, 0) < 1e-11) & (np.ptp(f, 1) < 1e-11) if len(recent) > 10 else np.zeros(lanes, bool)
            over = flat | ((generation + 1) * n >= BUDGET * d)
            for i in np.flatnonzero(hit.any(1) | over).tolist():
                if runs[i] is None:
                    solved = bool(hit[i].any())
                    runs[i] = (generation * n + (int(np.argmax(hit[i])) + 1 if solved else n), solved)
            done = [each for each in runs if each is not None]
            if len(done) == lanes:
                return done
            state, _ = tell(state, e, y, f, widest)
    raise AssertionError


def measure(problem: BoundedFunction, method: str, seeds: Sequence[int], *, bounded: bool) -> Row:
    """Return a row: the evaluations of each run, and whether it reached the target."""
    runs = run_pycma(problem, seeds) if method == "pycma" else run_side_by_side(problem, method, seeds, bounded=bounded)
    evaluations, solved = zip(*runs, strict=True)
    return {"function": problem.name, "method": method, "bounded": bounded, "evaluations": evaluations, "solved": solved}


def expected(evaluations: np.ndarray, solved: np.ndarray) -> float:
    """Return the evaluations of all runs for each that reached the target: what repeated runs need on average."""
    return float(evaluations.sum() / solved.sum()) if solved.any() else np.inf


def ratio(pairs: Sequence[tuple[Row, Row]], seed: int = 0) -> list[float] | None:
    """Return the geometric mean over functions of the ratio of expected evaluations, and its 95% interval over the runs.

    Functions on which one of the two reached the target in less than a quarter of the runs are left out.
    """
    kept = [pair for pair in pairs if all(np.mean(row["solved"]) >= LEAST for row in pair)]
    if not kept:
        return None
    rng = np.random.default_rng(seed)
    samples: list[float] = []
    for sample in range(501):
        logs: list[float] = []
        for pair in kept:
            counts: list[float] = []
            for row in pair:
                n = len(row["solved"])
                index = rng.integers(n, size=n) if sample else np.arange(n)
                counts.append(expected(np.asarray(row["evaluations"])[index], np.asarray(row["solved"])[index]))
            if np.isfinite(counts).all():
                logs.append(float(np.log(counts[0] / counts[1])))
        samples.append(float(np.exp(np.mean(logs))))
    return [samples[0], *np.percentile(samples[1:], (2.5, 97.5)).tolist()]


def longest(row: Row) -> float:
    """Return the longest run that reached the target, in medians of these runs."""
    needed = np.asarray(row["evaluations"])[np.asarray(row["solved"])]
    return float(needed.max() / np.median(needed)) if len(needed) else 0.0


def show(rows: Sequence[Row]) -> str:
    """Return a table by the place of the minimum: ratios, solved runs, and the longest run."""
    found = {(row["function"], row["method"], row["bounded"]): row for row in rows}
    head = ["minimum", "method", "to no bounds (functions)", "to pycma (functions)", "solved", "pycma", "longest run / median"]
    lines: list[list[str]] = []
    for place, multimodal in (*((p, m) for p in ("inside", "face", "corner") for m in (False, True)), ("all", None)):
        names = [
            name for name, each in FUNCTIONS.items() if place == "all" or (each.place, each.multimodal) == (place, multimodal)
        ]
        kind = "all" if place == "all" else f"{place}, {'several' if multimodal else 'one'}"
        for method in METHODS:
            with_bounds = [found[name, method, True] for name in names if (name, method, True) in found]
            cells: list[str] = []
            for other in ((method, False), ("pycma", True)):
                pairs = [(row, found[row["function"], *other]) for row in with_bounds if (row["function"], *other) in found]
                counted = sum(all(np.mean(row["solved"]) >= LEAST for row in pair) for pair in pairs)
                cells.append(f"{interval(ratio(pairs))} ({counted})" if counted else "-")
            pairs = [
                (row, found[row["function"], "pycma", True]) for row in with_bounds if (row["function"], "pycma", True) in found
            ]
            shares = (
                [f"{np.mean([row['solved'] for row in each]):.0%}" for each in zip(*pairs, strict=True)]
                if pairs
                else ["-", "-"]
            )
            lines.append([kind, f"`{method}`", *cells, *shares, f"{max(map(longest, with_bounds), default=0.0):.2f}"])
    return markdown(head, lines)


def main() -> None:
    parser = make_parser(__doc__, "bounds")
    parser.add_argument("--number", type=int, default=len(REPORT), help=f"number of seeds (default: {len(REPORT)})")
    parser.add_argument("--methods", nargs="+", default=["pycma", *METHODS], help="methods to run (default: all)")
    add_table(parser)
    options = parser.parse_args()
    if options.table is None:
        meta = provenance("bounds", ("thalweg", "jax", "numpy", "cma"), number=options.number, budget=BUDGET, sigma0=SIGMA0)
        rows = load_rows(options.out, meta)
        done = {(row["function"], row["method"], row["bounded"]) for row in rows}
        for method in options.methods:
            for problem in sorted(FUNCTIONS.values(), key=lambda each: each.d):
                for bounded in (True, False) if problem.everywhere and method != "pycma" else (True,):
                    if (problem.name, method, bounded) not in done:
                        rows.append(measure(problem, method, REPORT[: options.number], bounded=bounded))
                        save_rows(options.out, meta, rows)
    deliver(show(read_rows(options.out)), options.table, "bounds")


if __name__ == "__main__":
    main()

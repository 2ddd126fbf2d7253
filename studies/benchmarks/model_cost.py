"""The mode `cost` of `model.py`: wall time for each true evaluation, with the objective, on one core.

The algorithms take turns in one process, a round of some evaluations each, so that a busy machine slows them alike. The
function is the bent cigar, on which runs are long. Rounds begin when the archive holds twice as many points as the full
quadratic has coefficients, so that it is the full quadratic that is paid for; ours gets there by itself, and lq-CMA-ES, which
takes minutes for it in dimension 40, is given points drawn from its first distribution. A run that ends is followed by a new
one, whose way to a full archive is not counted.
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import cma
import numpy as np
from cma.fitness_models import SurrogatePopulation
from model_landscapes import landscape
from model_runs import LQ, arguments
from shared import Report, Row, cost_report, deliver, markdown, write_json

import thalweg

FUNCTION = "bent-cigar"
LEAST = {40: 3}
"""True evaluations of a round by dimension; else `USUAL`."""
USUAL = 20
BARS = {10: 1.0, 20: 5.0, 40: 50.0}
"""The largest times aimed at, in ms, by dimension."""
BAR = 0.3
"""The largest ratio to lq-CMA-ES aimed at."""

Turn = Callable[[int], float]
"""Makes at least so many true evaluations, and returns the time of one in ms."""


def archive_size(d: int) -> int:
    """Return twice the number of coefficients of a full quadratic.

    >>> [archive_size(d) for d in (2, 10, 40)]
    [12, 132, 1722]
    """
    return d * (d + 3) + 2


def by_optimizer(algorithm: str, d: int) -> Turn:
    """Return turns of one of ours, by `ask` and `tell`."""
    method, model = arguments(algorithm)

    def steps() -> Iterator[int]:
        """Yield the number of true evaluations of each step once the archive is full, run after run."""
        seed = 0
        while True:
            f = landscape(FUNCTION, d, seed)
            es = thalweg.Optimizer(np.zeros(d), 1.0, method=method, seed=seed, **model)
            yield -1  # a run begins
            while not es.stop():
                X = es.ask()
                es.tell(X, [f(x) for x in X])
                yield len(X) if es.nfev > archive_size(d) else 0
            seed += 1

    return turns(steps())


def by_lq(d: int) -> Turn:
    """Return turns of pycma's lq-CMA-ES: the loop of its `fmin_lq_surr2`."""

    def steps() -> Iterator[int]:
        seed = 0
        while True:
            f, rng = landscape(FUNCTION, d, seed), np.random.default_rng(seed)
            es = cma.CMAEvolutionStrategy(np.zeros(d), 1.0, {"verbose": -9, "verb_log": 0, "seed": seed + 1})
            surrogate = SurrogatePopulation(f)
            for x in rng.standard_normal((archive_size(d), d)):
                surrogate.model.add_data_row(x, f(x))
            yield -1
            while not es.stop():
                before = surrogate.evaluations
                X = es.ask()
                es.tell(X, surrogate(X))
                es.inject([surrogate.model.xopt])
                yield int(surrogate.evaluations - before)
            seed += 1

    return turns(steps())


def turns(steps: Iterator[int]) -> Turn:
    """Return a function that makes steps until enough evaluations are counted; their time is that of counted steps alone."""

    def turn(least: int) -> float:
        made, seconds = 0, 0.0
        while made < least:
            began = time.perf_counter()
            number = next(steps)
            if number > 0:
                made, seconds = made + number, seconds + time.perf_counter() - began
        return 1e3 * seconds / made

    return turn


def measure(options: argparse.Namespace) -> Report:
    """Let the algorithms take turns in every dimension; the first round warms up and is not counted."""
    rows: list[Row] = []
    for d in options.dims:
        taking: dict[str, Turn] = {a: by_lq(d) if a == LQ else by_optimizer(a, d) for a in options.algorithms}
        least = LEAST.get(d, USUAL)
        times: dict[str, list[float]] = {a: [] for a in taking}
        for number in range(options.number + 1):
            for algorithm, turn in taking.items():
                taken = turn(least)
                if number:
                    times[algorithm].append(taken)
        for algorithm, own in times.items():
            low, middle, high = (float(q) for q in np.percentile(own, (25, 50, 75)))
            rows.append({"d": d, "algorithm": algorithm, "ms": middle, "low": low, "high": high})
            print(f"d={d} {algorithm}: {middle:.3g} ms", flush=True)
    return cost_report(("jax", "numpy", "cma"), options.number, rows)


def show(report: Report) -> str:
    """Return a table of times with quartiles over the rounds, ratios to lq-CMA-ES, and the exponents of growth with d."""
    found = {(row["d"], row["algorithm"]): row for row in report["rows"]}
    dims, algorithms = (list(dict.fromkeys(row[key] for row in report["rows"])) for key in ("d", "algorithm"))
    ours = [name for name in algorithms if name != LQ and LQ in algorithms]
    head = ["d", *(f"`{name}` (ms)" for name in algorithms), *(f"`{name}` / lq" for name in ours), "aim: ms, ratio"]
    lines: list[list[str]] = []
    for d in dims:
        shown = [found[d, name] for name in algorithms]
        cells = [f"{row['ms']:.3g} [{row['low']:.3g}, {row['high']:.3g}]" for row in shown]
        ratios = [f"{found[d, name]['ms'] / found[d, LQ]['ms']:.2f}" for name in ours]
        lines.append([str(d), *cells, *ratios, f"{f'{BARS[d]:g}' if d in BARS else '-'}, {BAR}"])
    if len(dims) > 2:
        half = dims[len(dims) // 2 :]
        slopes = [np.polyfit(np.log(half), np.log([found[d, name]["ms"] for d in half]), 1)[0] for name in algorithms]
        empty = [""] * (len(ours) + 1)
        lines.append([f"exponent, d = {half[0]} to {half[-1]}", *(f"{slope:.1f}" for slope in slopes), *empty])
    return markdown(head, lines)


def carry_out(options: argparse.Namespace) -> None:
    """Measure on one core, unless only the table is wanted; then print it or write it into a page."""
    if options.table is None:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report: Any = measure(options)
        write_json(options.out, report)
    deliver(show(json.loads(options.out.read_text())), options.table, "model_cost")

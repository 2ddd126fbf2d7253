"""Start-up: time from a cold process to the end of a search of 1,000 evaluations, and the cost of importing.

    python studies/benchmarks/start_up.py --out studies/benchmarks/results/start_up.json

The objective is a sum of squares in dimension 10, the populations are the defaults. Each run is a process of its own, timed
from its start to its end: first with an empty folder of compiled programs, then with the programs that the first run has left
there. The last search has five restarts with twice the population each, on Rastrigin's function in dimension 5. All kinds take
turns, so that a busy machine slows them alike. CPU seconds count all threads of a process. Imports are timed inside the
process. This takes about four minutes.
"""

import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from shared import Report, Row, measure_or_show, versions

from thalweg_studies.report.files import markdown

METHODS = ("gnn-cma", "cma", "xnes")
GOALS = {"empty cache": 3.0, "warm cache": 1.2}
"""Goals: seconds of a search with `gnn-cma` on two idle cores."""

Timing = tuple[str, str, float, float | None]
"""Kind of run, state of the cache, seconds by the clock, CPU seconds where they are known."""

IPOP = """
import numpy, thalweg
rastrigin = lambda x: float(10 * len(x) + numpy.sum(x * x - 10 * numpy.cos(2 * numpy.pi * x)))
thalweg.minimize(rastrigin, bounds=[(-5, 5)] * 5, seed=1, restarts=5)
"""
"""Six populations, and so six sets of programs."""
SEARCH = "import thalweg; thalweg.minimize(lambda x: float(x @ x), [1.0] * 10, method={!r}, seed=1, max_evals=1000)"
PYCMA = "import cma; cma.fmin2(lambda x: float(x @ x), [1.0] * 10, 1.0, dict(maxfevals=1000, verbose=-9, seed=1))"
IMPORT = """
import time
start = time.perf_counter()
import jax
middle = time.perf_counter()
import thalweg
print(middle - start, time.perf_counter() - middle)
"""


def timed(code: str, folder: str) -> tuple[float, float, str]:
    """Return wall-clock and CPU seconds of a fresh interpreter, and its output."""
    # one BLAS thread, and no other cache than the folder
    given = {name: value for name, value in os.environ.items() if name != "JAX_COMPILATION_CACHE_DIR"}
    environment = given | {"OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu", "THALWEG_COMPILATION_CACHE": folder}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stdout


def timings(rounds: int) -> Iterator[Timing]:
    """Time all kinds of runs in turns."""
    timed(IMPORT, "off")  # so that the files are in the cache of the operating system
    for _ in range(rounds):
        first, second = map(float, timed(IMPORT, "off")[2].split())
        yield "import jax", "", first, None
        yield "import thalweg, after jax", "", second, None
        yield "pycma", "", *timed(PYCMA, "off")[:2]
        for method in METHODS:
            with tempfile.TemporaryDirectory() as folder:
                for state in GOALS:
                    yield method, state, *timed(SEARCH.format(method), folder)[:2]
        with tempfile.TemporaryDirectory() as folder:
            for state in GOALS:
                yield "gnn-cma, five restarts", state, *timed(IPOP, folder)[:2]


def rows_of(measured: list[Timing]) -> list[Row]:
    """Return one row for each kind and state."""
    kinds = dict.fromkeys((what, state) for what, state, _, _ in measured)
    return [
        {
            "what": what,
            "state": state,
            "seconds": [round(wall, 3) for name, when, wall, _ in measured if (name, when) == (what, state)],
            "cpu_seconds": [
                round(cpu, 3) for name, when, _, cpu in measured if (name, when) == (what, state) and cpu is not None
            ],
        }
        for what, state in kinds
    ]


def measure(rounds: int) -> Report:
    load = os.getloadavg()[0]
    return {
        "versions": versions("thalweg", "jax", "jaxlib", "numpy", "scipy", "cma"),
        "python": platform.python_version(),
        "cpu_count": os.cpu_count(),
        "load_before": round(load, 2),
        "goals": GOALS,
        "rows": rows_of(list(timings(rounds))),
    }


def show(report: Report) -> str:
    """Return a table of medians with the smallest and the largest."""

    def spread(values: list[float]) -> str:
        return "" if not values else f"{statistics.median(values):.2f} [{min(values):.2f}, {max(values):.2f}]"

    body = [[row["what"], row["state"], spread(row["seconds"]), spread(row["cpu_seconds"])] for row in report["rows"]]
    return markdown(["", "compiled programs", "seconds", "CPU seconds"], body)


if __name__ == "__main__":
    measure_or_show(__doc__, measure, show, rounds=5)

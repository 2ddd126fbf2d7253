"""A million generations in one process: the time of a generation and the memory, every 10,000 generations.

    python studies/benchmarks/soak.py                          # all paths side by side; goes on for some minutes
    python studies/benchmarks/soak.py --path "ask and tell"    # this one anew; the rows of the others are kept
    python studies/benchmarks/soak.py --table docs/reliability.md

In dimension 2 with 6 points, each path in a process of its own. "ask and tell" is one search after a target that moves in a
circle, so that it never converges; "minimize" is the same with a log, and a checkpoint after each generation, for a tenth of
the generations, because it writes two files in each; "run_many" is a compiled run of 10,000 generations on a noisy bowl, again
and again. All stop tolerances are off. Linux only.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from shared import Row, add_table, deliver, make_parser, markdown, provenance, read_rows, save_rows

import thalweg

EVERY = 10_000
POPSIZE = 6
OFF = {**dict.fromkeys(thalweg.Tolerances().values, 0.0), "tolflatfitness": np.inf}


def target(generation: int) -> np.ndarray:
    return 10 * np.array([np.cos(generation / 100), np.sin(generation / 100)])


def bowl(x: Any) -> Any:
    return jnp.sum((x - 0.3) ** 2) + 0.1 * jnp.sin(1e6 * x[0] + 1e7 * x[1])


def ask_and_tell(generations: int, _: Path) -> Iterator[int]:
    """Yield the number of the generation, every so often."""
    es = thalweg.Optimizer([1.0, 2.0], 0.5, method="cma", popsize=POPSIZE, seed=1, max_evals=np.inf, options=OFF)
    for generation in range(generations):
        X = es.ask()
        es.tell(X, np.sum((X - target(generation)) ** 2, axis=1))
        if es.stop():
            raise RuntimeError(f"the search has ended: {es.result.message}")
        if (generation + 1) % EVERY == 0:
            yield generation + 1


def minimize(generations: int, folder: Path) -> Iterator[int]:
    """Yield the number of the generation, every so often; each part continues the one before in the same process."""
    evaluations = 0

    def fun(x: np.ndarray) -> float:
        nonlocal evaluations
        evaluations += 1
        return float(np.sum((x - target((evaluations - 1) // POPSIZE)) ** 2))

    for generation in range(EVERY, generations + 1, EVERY):
        more: dict[str, Any] = {"checkpoint": folder / "run.ckpt", "log": folder / "run.jsonl", "options": OFF}
        result = thalweg.minimize(
            fun, [1.0, 2.0], 0.5, method="cma", popsize=POPSIZE, seed=1, max_evals=POPSIZE * generation, **more
        )
        if result.nit != generation:
            raise RuntimeError(f"the search has ended: {result.message}")
        yield generation


def run_many(generations: int, _: Path) -> Iterator[int]:
    """Yield the number of generations so far, every so often."""
    for generation in range(EVERY, generations + 1, EVERY):
        strategy = thalweg.make_strategy("cma", popsize=POPSIZE)
        found = thalweg.run_many(strategy, bowl, [1.0, 2.0], 0.5, seeds=[generation], generations=EVERY)
        if not np.isfinite(found.best).all() or found.best.shape != (1, EVERY):
            raise RuntimeError("the run has ended")
        yield generation


PATHS: dict[str, tuple[Callable[[int, Path], Iterator[int]], int]] = {
    "ask and tell": (ask_and_tell, 1),
    "minimize": (minimize, 10),
    "run_many": (run_many, 1),
}
"""Each path with its share of the generations."""


def resident() -> float:
    """Return the memory of this process in MiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def soak(path: str, generations: int) -> Iterator[Row]:
    """Yield time and memory every so often."""
    steps, share = PATHS[path]
    with tempfile.TemporaryDirectory(prefix="thalweg-soak-") as folder:
        before, began = time.process_time(), time.process_time()
        for generation in steps(generations // share, Path(folder)):
            now = time.process_time()
            ms = 1e3 * (now - before) / EVERY
            yield {
                "path": path,
                "generation": generation,
                "ms": round(ms, 5),
                "mib": round(resident(), 1),
                "s": round(now - began, 1),
            }
            before = time.process_time()


def growth(rows: list[Row], name: str) -> float:
    """Return the ratio of the medians over the last tenth, and over a tenth after the first tenth, where programs compile."""
    values, tenth = [row[name] for row in rows], max(1, len(rows) // 10)
    return float(np.median(values[-tenth:]) / np.median(values[tenth : 2 * tenth] or values))


def show(rows: list[Row]) -> str:
    """Return a table of time and memory at some generations, and their growth."""
    body: list[list[str]] = []
    for path in PATHS:
        mine = [row for row in rows if row["path"] == path]
        if not mine:
            continue
        for share in (0.02, 0.1, 0.25, 0.5, 1.0):
            row = mine[max(0, round(share * len(mine)) - 1)]
            body.append([path, f"{row['generation']:,}", f"{row['ms']:.3g}", f"{row['mib']:.1f}"])
        body.append([path, "growth", f"x {growth(mine, 'ms'):.3f}", f"x {growth(mine, 'mib'):.4f}"])
    return markdown(["path", "generation", "ms of CPU for each", "resident MiB"], body)


def main() -> None:
    parser = make_parser(__doc__, "soak")
    parser.add_argument("--generations", type=int, default=1_000_000, help="number of generations (default: 1000000)")
    parser.add_argument("--path", choices=list(PATHS), help="this path alone, in this process")
    add_table(parser)
    options = parser.parse_args()
    if options.table is not None:
        deliver(show(read_rows(options.out)), options.table, "soak")
    elif options.path:
        others = [row for row in read_rows(options.out) if row["path"] != options.path] if options.out.exists() else []
        rows: list[Row] = []
        for row in soak(options.path, options.generations):
            rows.append(row)
            save_rows(options.out, {**provenance("soak"), "generations": options.generations}, [*others, *rows])
    else:
        with tempfile.TemporaryDirectory(prefix="thalweg-soak-") as folder:
            files = [Path(folder) / f"{i}.json" for i in range(len(PATHS))]
            common = [sys.executable, __file__, "--generations", str(options.generations)]
            started = [
                subprocess.Popen([*common, "--path", path, "--out", str(file)]) for path, file in zip(PATHS, files, strict=True)
            ]
            codes = [process.wait() for process in started]
            if any(codes):
                raise SystemExit(f"paths ended with {codes}")
            rows = [row for file in files for row in read_rows(file)]
        save_rows(options.out, {**provenance("soak"), "generations": options.generations}, rows)
        print(show(rows))


if __name__ == "__main__":
    main()

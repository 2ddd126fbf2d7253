"""The plain latents against what they re-implement: pycma's CMA-ES and PyBrain's xNES rule, on the same landscapes.

    python studies/benchmarks/peers.py --out studies/benchmarks/results/peers.json

Evaluations to 1e-8 as a ratio of medians with a 95% bootstrap interval, and the p-value of a two-sided Mann-Whitney test: with
about 20 rows, expect one below 0.05 by chance. Report seeds. This takes some minutes on one core.
"""

from collections.abc import Callable
from math import log, sqrt

import cma
import numpy as np
from battery import FUNCTIONS, REPORT, ROTATED, TARGET, landscapes, value
from scipy.linalg import expm
from scipy.stats import mannwhitneyu
from shared import Row, add_show, finite, interval, make_parser, markdown, median_ratio, read_rows, write_json

import thalweg
from thalweg.objectives import rotated, translated
from thalweg.strategies import ranking

SETTINGS = (
    ("cma", 2, 20, 150),
    ("cma", 10, 100, 300),
    ("cma", 2, 6, 500),
    ("cma", 10, 10, 1500),
    ("xnes", 2, 20, 150),
    ("xnes", 10, 100, 900),
)
"""Latent, dimension, population, generations."""

Values = Callable[[np.ndarray], np.ndarray]


def pycma(f: Values, d: int, n: int, generations: int, seed: int) -> float:
    """Return the evaluations of pycma's CMA-ES to the target."""
    rng = np.random.default_rng(seed)
    options = {"popsize": n, "verbose": -9, "seed": np.nan, "randn": lambda *shape: rng.standard_normal(shape)}
    es = cma.CMAEvolutionStrategy(np.zeros(d), 1.0, options)
    for generation in range(1, generations + 1):
        x = es.ask()
        values = f(np.asarray(x))
        if values.min() <= TARGET:
            return generation * n
        es.tell(x, values)
    return np.inf


def pybrain(f: Values, d: int, n: int, generations: int, seed: int) -> float:
    """Return the evaluations of xNES by PyBrain's rule to the target."""
    rng = np.random.default_rng(seed)
    rate, utilities = 0.6 * (3 + log(d)) / (d * sqrt(d)), ranking.nes_utilities(n)
    centre, A = np.zeros(d), np.eye(d)
    for generation in range(1, generations + 1):
        e = rng.standard_normal((n, d))
        values = f(centre + e @ A.T)
        if values.min() <= TARGET:
            return generation * n
        u = np.empty(n)
        u[np.argsort(values, kind="stable")] = utilities
        centre, A = centre + A @ (u @ e), A @ expm(0.5 * rate * ((e * u[:, None]).T @ e - u.sum() * np.eye(d)))
    return np.inf


def measure(latent: str, d: int, n: int, generations: int, seeds: list[int]) -> list[Row]:
    """Compare a latent with its peer at one setting: one row a function."""
    keys = np.tile(np.asarray(seeds), len(FUNCTIONS))
    strategy = thalweg.make_strategy(latent, popsize=n)
    runs = thalweg.run_many(strategy, value, np.zeros(d), seeds=keys, generations=generations, args=(landscapes(d, seeds),))
    ours = runs.evaluations_to(TARGET).reshape(len(FUNCTIONS), len(seeds))
    peer = {"cma": pycma, "xnes": pybrain}[latent]
    rows: list[Row] = []
    for function, own in zip(FUNCTIONS, ours, strict=True):
        problems = [(rotated if function in ROTATED else translated)(function, d, seed) for seed in seeds]
        theirs = np.asarray([peer(f, d, n, generations, seed) for f, seed in zip(problems, seeds, strict=True)])
        rows.append(
            {
                "latent": latent,
                "peer": {"cma": f"pycma {cma.__version__}", "xnes": "PyBrain's rule"}[latent],
                "d": d,
                "popsize": n,
                "function": function,
                "ours": finite(np.median(own)),
                "theirs": finite(np.median(theirs)),
                "ratio": median_ratio(own, theirs, np.random.default_rng(0)),
                "p": float(mannwhitneyu(own, theirs).pvalue),
                "reached": [int(np.isfinite(own).sum()), int(np.isfinite(theirs).sum())],
                "runs": len(seeds),
            }
        )
    return rows


def table(rows: list[Row]) -> str:
    """Return a table with one line for each setting and function."""
    head = ("latent", "peer", "d", "N", "function", "ours / theirs", "p")
    columns = ("latent", "peer", "d", "popsize", "function")
    return markdown(head, [(*(str(row[key]) for key in columns), interval(row["ratio"]), f"{row['p']:.2f}") for row in rows])


def main() -> None:
    parser = make_parser(__doc__, "peers")
    parser.add_argument("--seeds", type=int, default=50, help="number of report seeds (default: 50)")
    add_show(parser)
    options = parser.parse_args()
    if not options.show:
        rows = [row for setting in SETTINGS for row in measure(*setting, list(REPORT[: options.seeds]))]
        write_json(options.out, {"seeds": options.seeds, "rows": rows})
    print(table(read_rows(options.out)))


if __name__ == "__main__":
    main()

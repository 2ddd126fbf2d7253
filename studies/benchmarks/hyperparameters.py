"""Samplers for Optuna: what they have found after so many trials, in tuning models of scikit-learn and on BBOB.

    python studies/benchmarks/hyperparameters.py                               # into results/hyperparameters.json
    python studies/benchmarks/hyperparameters.py --table docs/optuna.md        # runs nothing, writes the tables into a page

The tasks are in tuning_tasks.py; BBOB is that of coco-experiment in dimension 5, all 24 functions. Report seeds of the tasks
are 0 to 19, report instances of BBOB 6 to 15; development seeds begin at 100, development instances are 1 to 5.
"""

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import optuna
from shared import Row, add_table, deliver, load_rows, make_parser, markdown, provenance, read_rows, save_rows
from tuning_tasks import TASKS

from thalweg.integrations.optuna import ThalwegSampler

Sampler = Callable[[int], optuna.samplers.BaseSampler]
SAMPLERS: dict[str, Sampler] = {
    "ThalwegSampler": lambda seed: ThalwegSampler(seed=seed),
    "without a model": lambda seed: ThalwegSampler(seed=seed, model=None),
    "CmaEsSampler": lambda seed: optuna.samplers.CmaEsSampler(seed=seed),
    "TPESampler": lambda seed: optuna.samplers.TPESampler(seed=seed),
}
OTHERS: dict[str, Sampler] = {
    "sigma0 = 0.3": lambda seed: ThalwegSampler(seed=seed, sigma0=0.3),
    "no model, sigma0 = 0.3": lambda seed: ThalwegSampler(seed=seed, sigma0=0.3, model=None),
    "cma": lambda seed: ThalwegSampler(seed=seed, method="cma", model=None),
}
"""Settings that were tried on development seeds."""
TRIALS = {"task": (30, 100), "bbob": (50, 200)}
"""Numbers of trials after which the best value is noted."""
D = 5


def bbob(function: int, instance: int) -> tuple[Callable[[Any], float], Any]:
    """Return a function of BBOB as a function of a trial, and what keeps it alive."""
    import cocoex

    suite = cocoex.Suite("bbob", f"instances:{instance}", f"function_indices:{function} dimensions:{D}")
    problem = suite.get_problem(0)
    return lambda trial: problem([trial.suggest_float(f"x{i}", -5, 5) for i in range(D)]), suite


def study(kind: str, name: str, sampler: str, seed: int) -> Row:
    """Return the best values of a study after the numbers of trials."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    task, _suite = (TASKS[name](), None) if kind == "task" else bbob(int(name), seed)
    made = optuna.create_study(sampler=(SAMPLERS | OTHERS)[sampler](seed))
    made.optimize(task, n_trials=TRIALS[kind][-1])
    best = np.minimum.accumulate([trial.value for trial in made.trials])
    return {"kind": kind, "name": name, "sampler": sampler, "seed": seed, "best": [best[n - 1] for n in TRIALS[kind]]}


def wins(ours: np.ndarray, theirs: np.ndarray, groups: np.ndarray) -> str:
    """Return the share of pairs in which we are better, ties half, and its 95% bootstrap interval over groups and pairs."""
    score = np.where(ours < theirs, 1.0, np.where(ours > theirs, 0.0, 0.5))
    parts = [score[groups == each] for each in sorted(set(groups.tolist()))]
    rng = np.random.default_rng(0)
    sampled = []
    for _ in range(2000):
        chosen = [parts[i] for i in rng.integers(len(parts), size=len(parts))] if len(parts) > 1 else parts
        sampled.append(np.mean([np.mean(part[rng.integers(len(part), size=len(part))]) for part in chosen]))
    low, high = np.percentile(sampled, (2.5, 97.5))
    return f"{100 * score.mean():.0f}% [{100 * low:.0f}, {100 * high:.0f}]"


def best_of(rows: Sequence[Row], kind: str, sampler: str, name: str | None = None) -> dict[tuple[str, int], list[float]]:
    chosen = [row for row in rows if (row["kind"], row["sampler"]) == (kind, sampler) and name in (None, row["name"])]
    return {(row["name"], row["seed"]): row["best"] for row in chosen}


def compare(rows: Sequence[Row], kind: str, name: str | None, ours: str, theirs: str, at: int) -> str:
    """Return the share of studies in which one sampler has found a lower value than another."""
    a, b = best_of(rows, kind, ours, name), best_of(rows, kind, theirs, name)
    both = sorted(a.keys() & b.keys())
    if not both:
        return "-"
    values = [np.array([each[key][at] for key in both]) for each in (a, b)]
    return wins(*values, np.array([key[0] for key in both]))


def show(rows: Sequence[Row]) -> str:
    """Return two tables: mean best values of the tasks, and the shares of studies in which the first samplers are ahead."""
    samplers = list(dict.fromkeys(row["sampler"] for row in rows))
    names = list(dict.fromkeys(row["name"] for row in rows if row["kind"] == "task"))
    lines = []
    for name in names:
        for at, number in enumerate(TRIALS["task"]):
            cells = []
            for sampler in samplers:
                values = np.array([best[at] for best in best_of(rows, "task", sampler, name).values()])
                spread = 1.96 * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
                cells.append(f"{values.mean():.5g} ± {spread:.2g}")
            lines.append([name, str(number), *cells])
    means = markdown(["task", "trials", *samplers], lines)
    ours = [each for each in samplers if each in OTHERS or each in list(SAMPLERS)[:2]]
    theirs = [each for each in samplers if each not in ours] or samplers[1:]
    lines = []
    for kind, name in [*(("task", name) for name in names), ("task", None), ("bbob", None)]:
        label = name or {"task": "all tasks", "bbob": f"BBOB, d = {D}"}[kind]
        for at, number in enumerate(TRIALS[kind]):
            lines.append([label, str(number), *(compare(rows, kind, name, a, b, at) for a in ours for b in theirs if a != b)])
    head = [f"{a} ahead of {b}" for a in ours for b in theirs if a != b]
    return f"{means}\n\n{markdown(['problem', 'trials', *head], lines)}"


def main() -> None:
    parser = make_parser(__doc__, "hyperparameters")
    parser.add_argument("--seeds", type=int, default=20, help="seeds of each task (default: 20)")
    parser.add_argument("--instances", type=int, default=10, help="instances of each function of BBOB (default: 10)")
    parser.add_argument("--development", action="store_true", help="use development seeds and instances")
    parser.add_argument("--samplers", nargs="+", default=list(SAMPLERS), choices=[*SAMPLERS, *OTHERS], help="samplers to run")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    add_table(parser)
    options = parser.parse_args()
    if options.table is None:
        packages = ("thalweg", "jax", "numpy", "optuna", "cmaes", "scikit-learn", "coco-experiment")
        meta = provenance("hyperparameters", packages, development=options.development, trials=TRIALS, d=D)
        meta["trials"] = {kind: list(numbers) for kind, numbers in TRIALS.items()}
        rows = load_rows(options.out, meta)
        done = {(row["kind"], row["name"], row["sampler"], row["seed"]) for row in rows}
        seeds = range(*((100, 100 + options.seeds) if options.development else (0, options.seeds)))
        instances = range(*((1, 1 + min(options.instances, 5)) if options.development else (6, 6 + options.instances)))
        wanted = [("task", name, sampler, seed) for name in TASKS for seed in seeds for sampler in options.samplers]
        wanted += [("bbob", str(i), sampler, k) for i in range(1, 25) for k in instances for sampler in options.samplers]
        with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
            for row in pool.map(study, *zip(*(each for each in wanted if each not in done), strict=True)):
                rows.append(row)
                if len(rows) % 20 == 0:
                    save_rows(options.out, meta, rows)
        save_rows(options.out, meta, rows)
    deliver(show(read_rows(options.out)), options.table, "hyperparameters")


if __name__ == "__main__":
    main()

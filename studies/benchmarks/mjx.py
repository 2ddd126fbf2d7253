"""Rollouts in MJX on an accelerator, against Gymnasium's on one core of the same machine, and searches in one program.

    python studies/benchmarks/mjx.py --out studies/benchmarks/results/mjx.json

Linear policies in the paper's two environments. Rollouts: random policies, the given number of rollouts side by side, the first
call (which compiles) apart. Searches: `run_many` from report seeds, with the sizes of `thalweg reproduce rl` but few
generations; every value is the mean return of 10 rollouts of at most 1000 steps.
"""

import json
import os
import platform
import sys
import time
from pathlib import Path

import numpy as np
from shared import Row, make_parser, versions, write_json

from thalweg.objectives.rl import PolicySearch
from thalweg.objectives.rl.mjx import MjxSearch
from thalweg_studies.common.experiment import FIRST_SEED
from thalweg_studies.report.files import markdown
from thalweg_studies.rl import mjx_tasks
from thalweg_studies.rl.comparison import PolicyComparison
from thalweg_studies.rl.settings import PENDULUM, SWIMMER


def compiled(setting: PolicyComparison, steps: int) -> MjxSearch:
    task = getattr(mjx_tasks, setting.make.__name__)()
    return MjxSearch(task, rollouts=setting.rollouts, bias=False, max_steps=steps)


def gymnasium_core(setting: PolicyComparison, policies: np.ndarray, steps: int) -> Row:
    """Time rollouts of Gymnasium on one core."""
    search = PolicySearch(setting.make, rollouts=setting.rollouts, bias=False, max_steps=steps)
    search(policies[0])
    made, start = search.steps, time.perf_counter()
    for policy in policies:
        search(policy)
    seconds = time.perf_counter() - start
    made = search.steps - made
    return {"what": "Gymnasium, one core", "environment": setting.title, "steps": made, "seconds": seconds}


def rollouts(setting: PolicyComparison, points: np.ndarray, steps: int, dtype: str) -> Row:
    """Time many rollouts in one program."""
    import jax

    search = compiled(setting, steps)
    with jax.enable_x64(dtype == "float64"):
        run = jax.jit(jax.vmap(lambda x: search.episodes(x, search.keys(x))))
        at = jax.device_put(points.astype(dtype))
        seconds: list[float] = []
        for _ in range(2):
            start = time.perf_counter()
            found = jax.device_get(run(at))
            seconds.append(time.perf_counter() - start)
    return {
        "what": f"MJX, {dtype}, {jax.devices()[0].device_kind}",
        "environment": setting.title,
        "rollouts": len(points) * setting.rollouts,
        "steps": int(found.steps.sum()),
        "compile": seconds[0] - seconds[1],
        "seconds": seconds[1],
    }


def searches(setting: PolicyComparison, method: str, runs: int, generations: int, dtype: str) -> Row:
    """Time runs side by side, from seeds to trajectories."""
    import jax

    import thalweg

    search = compiled(setting, setting.steps)
    strategy = thalweg.make_strategy(method, popsize=setting.popsize)
    more = {"seeds": range(FIRST_SEED, FIRST_SEED + runs), "generations": generations, "dtype": dtype}
    start = time.perf_counter()
    found = thalweg.run_many(strategy, search, search.x0, setting.sigma0, **more)
    return {
        "what": f"{method}, {dtype}, {jax.devices()[0].device_kind}",
        "environment": setting.title,
        "runs": runs,
        "generations": generations,
        "rollouts": runs * generations * setting.popsize * setting.rollouts,
        "seconds": time.perf_counter() - start,
        "median_return": np.median(-found.median, 0).round(1).tolist(),
        "quartiles_at_the_end": np.quantile(-found.median[:, -1], (0.25, 0.75)).round(1).tolist(),
    }


def main() -> None:
    parser = make_parser(__doc__)
    text = "numbers of policies, each with 10 rollouts"
    parser.add_argument("--policies", type=int, nargs="+", default=[10, 100, 1000, 10_000], help=text)
    parser.add_argument(
        "--steps", type=int, default=100, help="steps of a rollout where only rollouts are timed (default: 100)"
    )
    parser.add_argument("--runs", type=int, default=100, help="number of runs side by side (default: 100)")
    parser.add_argument("--generations", type=int, default=30, help="generations of a run (default: 30)")
    parser.add_argument("--methods", nargs="*", default=["cma", "gnn-cma"], help="methods of the searches")
    parser.add_argument("--environments", nargs="+", default=["swimmer", "pendulum"], help="swimmer, pendulum (default: both)")
    parser.add_argument("--dtypes", nargs="+", default=["float64", "float32"], help="float64, float32 (default: both)")
    parser.add_argument("--out", type=Path, help="JSON file")
    asked = parser.parse_args()
    command = " ".join(["python", "studies/benchmarks/mjx.py", *sys.argv[1:]])
    about = {"command": command, "python": platform.python_version(), **versions("jax", "mujoco"), "cores": os.cpu_count()}
    rows: list[Row] = []

    def add(row: Row) -> None:
        rows.append(row)
        print(json.dumps(row), flush=True)
        if asked.out:
            write_json(asked.out, {**about, "rows": rows})

    for setting in (known for name, known in {"swimmer": SWIMMER, "pendulum": PENDULUM}.items() if name in asked.environments):
        # the swimmer swims whatever it does; a pendulum stands for long under good policies only, so it is given weak ones
        points = np.random.default_rng(1).normal(size=(max(asked.policies), setting.dimension)) * setting.sigma0
        add(gymnasium_core(setting, points[:10], asked.steps))
        for dtype in asked.dtypes:
            for policies in asked.policies:
                add(rollouts(setting, points[:policies], asked.steps, dtype))
            for method in asked.methods:
                add(searches(setting, method, asked.runs, asked.generations, dtype))
    cells = [
        (row["environment"], row["what"], f"{row.get('rollouts', '')}", f"{row['steps'] / row['seconds']:,.0f}")
        for row in rows
        if "runs" not in row
    ]
    print(markdown(("environment", "what", "rollouts side by side", "steps a second"), cells))


if __name__ == "__main__":
    main()

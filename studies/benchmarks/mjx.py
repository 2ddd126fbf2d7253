"""Rollouts in MJX on an accelerator, against Gymnasium's on one core of the same machine, and whole searches in one program.

    python benchmarks/mjx.py --out benchmarks/results/mjx.json

Linear policies in the paper's two environments. Rollouts: random policies, as many rollouts side by side as it says, the first
call (which compiles) apart. Searches: `run_many` from report seeds, with the sizes of `thalweg reproduce rl` but few
generations; every value is the mean return of 10 rollouts of at most 1000 steps.
"""

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.objectives.rl import PolicySearch
from thalweg.objectives.rl.mjx import MjxSearch
from thalweg_studies.common.experiment import FIRST_SEED
from thalweg_studies.report.files import markdown
from thalweg_studies.rl import mjx_tasks
from thalweg_studies.rl.comparison import PolicyComparison
from thalweg_studies.rl.settings import PENDULUM, SWIMMER

Row = dict[str, Any]


def compiled(race: PolicyComparison, steps: int) -> MjxSearch:
    task = getattr(mjx_tasks, race.make.__name__)()
    return MjxSearch(task, rollouts=race.rollouts, bias=False, max_steps=steps)


def gymnasium_core(race: PolicyComparison, policies: np.ndarray, steps: int) -> Row:
    """Steps a second on one core."""
    search = PolicySearch(race.make, rollouts=race.rollouts, bias=False, max_steps=steps)
    search(policies[0])
    made, start = search.steps, time.perf_counter()
    for policy in policies:
        search(policy)
    seconds = time.perf_counter() - start
    made = search.steps - made
    return {"what": "Gymnasium, one core", "environment": race.title, "steps": made, "seconds": seconds}


def rollouts(race: PolicyComparison, points: np.ndarray, steps: int, dtype: str) -> Row:
    """Steps a second of many rollouts in one program."""
    import jax

    search = compiled(race, steps)
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
        "environment": race.title,
        "rollouts": len(points) * race.rollouts,
        "steps": int(found.steps.sum()),
        "compile": seconds[0] - seconds[1],
        "seconds": seconds[1],
    }


def searches(race: PolicyComparison, method: str, runs: int, generations: int, dtype: str) -> Row:
    """Whole runs side by side, from seeds to trajectories."""
    import jax

    import thalweg

    search = compiled(race, race.steps)
    strategy = thalweg.make_strategy(method, popsize=race.popsize)
    more = {"seeds": range(FIRST_SEED, FIRST_SEED + runs), "generations": generations, "dtype": dtype}
    start = time.perf_counter()
    found = thalweg.run_many(strategy, search, search.x0, race.sigma0, **more)
    return {
        "what": f"{method}, {dtype}, {jax.devices()[0].device_kind}",
        "environment": race.title,
        "runs": runs,
        "generations": generations,
        "rollouts": runs * generations * race.popsize * race.rollouts,
        "seconds": time.perf_counter() - start,
        "median_return": np.median(-found.median, 0).round(1).tolist(),
        "quartiles_at_the_end": np.quantile(-found.median[:, -1], (0.25, 0.75)).round(1).tolist(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policies", type=int, nargs="+", default=[10, 100, 1000, 10_000], help="each has 10 rollouts")
    parser.add_argument("--steps", type=int, default=100, help="of a rollout, where only rollouts are timed")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--generations", type=int, default=30)
    parser.add_argument("--methods", nargs="*", default=["cma", "gnn-cma"])
    parser.add_argument("--environments", nargs="+", default=["swimmer", "pendulum"])
    parser.add_argument("--dtypes", nargs="+", default=["float64", "float32"])
    parser.add_argument("--out", type=Path, help="a JSON file")
    asked = parser.parse_args()
    rows: list[Row] = []

    def note(row: Row) -> None:
        rows.append(row)
        print(json.dumps(row), flush=True)
        if asked.out:
            versions = {"jax": __import__("jax").__version__, "mujoco": __import__("mujoco").__version__}
            asked.out.write_text(
                json.dumps(
                    {
                        "command": " ".join(["python", "benchmarks/mjx.py", *sys.argv[1:]]),
                        "python": platform.python_version(),
                        **versions,
                        "cores": os.cpu_count(),
                        "rows": rows,
                    },
                    indent=1,
                )
                + "\n",
                encoding="utf-8",
            )

    for race in (race for name, race in {"swimmer": SWIMMER, "pendulum": PENDULUM}.items() if name in asked.environments):
        # the swimmer swims whatever it does; a pendulum stands for long under good policies only, so it is given weak ones
        points = np.random.default_rng(1).normal(size=(max(asked.policies), race.dimension)) * race.sigma0
        note(gymnasium_core(race, points[:10], asked.steps))
        for dtype in asked.dtypes:
            for policies in asked.policies:
                note(rollouts(race, points[:policies], asked.steps, dtype))
            for method in asked.methods:
                note(searches(race, method, asked.runs, asked.generations, dtype))
    timed = [row for row in rows if "runs" not in row]
    cells = [
        (row["environment"], row["what"], f"{row.get('rollouts', '')}", f"{row['steps'] / row['seconds']:,.0f}")
        for row in timed
    ]
    print(markdown(("environment", "what", "rollouts side by side", "steps a second"), cells))


if __name__ == "__main__":
    main()

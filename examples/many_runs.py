"""A thousand runs at once: compare population sizes on a function with many minima.

python examples/many_runs.py
"""

import numpy as np

import thalweg
from thalweg.objectives import make_problems

RUNS, BUDGET = 1000, 4000

# the Rastrigin function in dimension 2, with another random shift for each run
fun, transforms = make_problems("rastrigin", 2, seeds=range(RUNS))

for popsize in (6, 20, 80):
    runs = thalweg.run_many(
        thalweg.make_strategy("cma", popsize=popsize),
        fun,
        np.zeros(2),
        sigma0=1.0,
        seeds=RUNS,
        generations=BUDGET // popsize,
        args=(transforms,),
        ftarget=1e-8,
    )
    solved = runs.fun <= 1e-8
    evaluations = np.median(runs.evaluations_to(1e-8)[solved])
    print(f"{popsize:3d} points per generation: {solved.mean():.0%} of {RUNS} runs solved, {evaluations:.0f} evaluations each")

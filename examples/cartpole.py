"""Balance a pole: search for the ten parameters of a linear policy by the returns of whole episodes.

pip install ".[rl,plots]"
python examples/cartpole.py
"""

import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import thalweg
from thalweg.rl import PolicySearch

# minus the mean return of 3 episodes, with a reward of 1 for each of at most 500 steps
search = PolicySearch("CartPole-v1", rollouts=3, seed=1)

es = thalweg.Optimizer(search.x0, sigma0=1.0, seed=1, max_evals=600)
means = []
while not es.stop():
    X = es.ask()
    values = [search(x) for x in X]
    es.tell(X, values)
    means.append(-np.mean(values))
    if means[-1] > 450:  # nearly all policies of the search distribution balance the pole to the end
        break

fresh = search.evaluate(es.mean, seeds=range(20)).returns
print(f"{es.nfev} evaluations, {search.steps:,} steps of the environment")
print(f"in 20 new episodes the pole stands for {fresh.mean():.0f} of 500 steps")

figure = Figure(figsize=(6, 4), layout="constrained")
axes = figure.subplots()
axes.plot(es.popsize * np.arange(1, len(means) + 1), means)
axes.set_xlabel("function evaluations, each 3 episodes")
axes.set_ylabel("mean return of the population")
path = Path(tempfile.mkdtemp()) / "cartpole.png"
figure.savefig(path)
print(f"learning curve: {path}")

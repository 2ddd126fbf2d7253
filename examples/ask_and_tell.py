"""Ask and tell by hand, with evaluations that fail, a point that is known already, and a checkpoint to continue from.

python examples/ask_and_tell.py
"""

import tempfile
from pathlib import Path

import numpy as np

import thalweg


def experiment(x: np.ndarray) -> float | None:
    """Return the result of an experiment, or None in a region of settings where it fails."""
    if x[0] < -1.3:
        return None
    return float(100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2)


file = Path(tempfile.mkdtemp()) / "run.npz"
es = thalweg.Optimizer([-1.0, 1.0], sigma0=0.5, popsize=20, seed=1, ftarget=1e-8)
es.inject([[-1.2, 1.5]])

while not es.stop():
    X = es.ask()
    es.tell(X, [experiment(x) for x in X])
    if es.nit == 20:
        es.save(file)
    if es.nit % 10 == 0:
        bend = es.info["nonlinearity"]
        print(f"generation {es.nit}: best f {es.best.f:.1e}, standard deviations {es.std.round(4)}, bend {bend:.2f}")

print(es.result.message, f"{es.failures} evaluations failed.")

again = thalweg.Optimizer.load(file)
while not again.stop():
    X = again.ask()
    again.tell(X, [experiment(x) for x in X])
print("continued from generation 20, the same result to the last bit:", again.result.fun == es.result.fun)

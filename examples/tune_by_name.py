"""Tune six mixed parameters of a model by their names: kernel ridge regression of a noisy signal, with numpy alone.

python examples/tune_by_name.py
"""

import numpy as np

import thalweg
from thalweg import Fixed, Integer, Real

rng = np.random.default_rng(0)
t = np.sort(rng.uniform(0, 6, 120))
signal = np.sin(2 * np.pi * t / 1.5) * np.exp(-0.2 * t) + 0.3 * t + rng.normal(0, 0.1, t.size)
order = rng.permutation(t.size)

# no decoder: the loss gets plain numbers by these names, already within their ranges
space = thalweg.Space(
    width=Real(0.01, 10, log=True),  # length scale of the kernel
    period=Real(0.3, 3),
    ridge=Real(1e-8, 1e2, log=True),  # penalty, over ten decades
    mix=Real(0, 1),  # share of the periodic kernel
    degree=Integer(0, 6),  # of the polynomial trend
    knots=Integer(8, 64, log=True),  # number of kernels
    folds=Fixed(4),  # of the cross-validation: not searched
)


def design(point: dict, times: np.ndarray) -> np.ndarray:
    """Return a column for each term of the trend and for each kernel."""
    trend = np.vander(times / 6, point["degree"] + 1)
    gap = times[:, None] - np.linspace(0, 6, point["knots"])
    local = np.exp(-0.5 * (gap / point["width"]) ** 2)
    periodic = local * np.cos(2 * np.pi * gap / point["period"])
    return np.hstack([trend, (1 - point["mix"]) * local + point["mix"] * periodic])


def loss(point: dict) -> float:
    """Return the root mean squared error in cross-validation."""
    X = design(point, t)
    errors = np.empty(t.size)
    for fold in range(point["folds"]):
        train = order % point["folds"] != fold
        A = X[train].T @ X[train] + point["ridge"] * np.eye(X.shape[1])
        errors[~train] = X[~train] @ np.linalg.solve(A, X[train].T @ signal[train]) - signal[~train]
    return float(np.sqrt(np.mean(errors**2)))


start = loss(space.point(space.x0))
result = thalweg.minimize(loss, space, max_evals=400, seed=1)

for name, value in result.point.items():
    print(f"{name:>8} = {value:.4g}" if isinstance(value, float) else f"{name:>8} = {value}")
print(f"error in cross-validation: {start:.3f} at the start, {result.fun:.3f} after {result.nfev} evaluations")
print(f"within 5% of the noise, 0.1: {result.fun < 0.105}")

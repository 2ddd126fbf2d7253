"""Fit a model with bounds: the decay of a signal, a exp(-b t) + c, from noisy samples.

python examples/minimise_with_bounds.py
"""

import numpy as np

import thalweg

rng = np.random.default_rng(0)
t = np.linspace(0, 4, 60)
signal = 2.5 * np.exp(-1.3 * t) + 0.5 + rng.normal(0, 0.05, t.size)


def misfit(x: np.ndarray) -> float:
    a, b, c = x
    return float(np.sum((a * np.exp(-b * t) + c - signal) ** 2))


# all three are of order 1, so one sigma0 fits them; otherwise give one for each
result = thalweg.minimize(misfit, x0=[1.0, 1.0, 1.0], sigma0=0.5, bounds=[(0, 10), (0, 10), (0, None)], seed=1)

print(result.message)
print(f"after {result.nfev} evaluations: a = {result.x[0]:.2f}, b = {result.x[1]:.2f}, c = {result.x[2]:.2f}")

"""The default of `tolfunrel`: does it end fits at their noise, and no other search before its time?

    python studies/benchmarks/early_stops.py

Development problems, seeds 1 to 3. First NIST's Thurber fit (seven parameters, 5,642.7 at the minimum) from NIST's two
starts, with sigma0 a tenth of each: evaluations until the value is right to 1e-9, and until the run ends, with the default
and without. Then nine functions, rotated but for Rosenbrock's, in d = 2, 10, 20, from points whose value is 1e2 to 1e10,
shifted by 0 to 1e6: runs go on after `tolfunrel` has held, and it came too early where the value was above 1e-8 and fell
below a tenth of that later. The same with a penalty of 1e30 in the first six generations. This takes some ten minutes on one
core.
"""

from collections.abc import Callable

import numpy as np

from thalweg import Optimizer

OFF = {
    "tolx": 0,
    "tolfun": 0,
    "tolfunhist": 0,
    "tolflatfitness": np.inf,
    "tolstagnation": 0,
    "tolfacupx": 0,
    "tolconditioncov": 0,
}
STARTS = ((1e10, 0.0), (1e2, 1e6), (1e10, 1e6), (1e6, 1e3))
"""Value at the start, and the shift."""
DIMENSIONS, SEEDS = (2, 10, 20), (1, 2, 3)
FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sphere": lambda Z: np.sum(Z**2, 1),
    "ellipsoid": lambda Z: Z**2 @ 10.0 ** np.linspace(0, 6, Z.shape[1]),
    "cigar": lambda Z: Z[:, 0] ** 2 + 1e6 * np.sum(Z[:, 1:] ** 2, 1),
    "discus": lambda Z: 1e6 * Z[:, 0] ** 2 + np.sum(Z[:, 1:] ** 2, 1),
    "different powers": lambda Z: np.sum(np.abs(Z) ** np.linspace(2, 6, Z.shape[1]), 1),
    "sharp ridge": lambda Z: np.abs(Z[:, 0]) + 100 * np.linalg.norm(Z[:, 1:], axis=1),
    "fourth powers": lambda Z: np.sum(Z**4, 1),
    "Rastrigin": lambda Z: np.sum(Z**2 - 10 * np.cos(2 * np.pi * Z) + 10, 1),
    "Rosenbrock": lambda Z: np.sum(100 * (Z[:, 1:] + 1 - (Z[:, :-1] + 1) ** 2) ** 2 + Z[:, :-1] ** 2, 1),
}
RESPONSE = np.array(
    [
        80.574,
        84.248,
        87.264,
        87.195,
        89.076,
        89.608,
        89.868,
        90.101,
        92.405,
        95.854,
        100.696,
        101.06,
        401.672,
        390.724,
        567.534,
        635.316,
        733.054,
        759.087,
        894.206,
        990.785,
        1090.109,
        1080.914,
        1122.643,
        1178.351,
        1260.531,
        1273.514,
        1288.339,
        1327.543,
        1353.863,
        1414.509,
        1425.208,
        1421.384,
        1442.962,
        1464.35,
        1468.705,
        1447.894,
        1457.628,
    ]
)
PREDICTOR = np.array(
    [
        -3.067,
        -2.981,
        -2.921,
        -2.912,
        -2.84,
        -2.797,
        -2.702,
        -2.699,
        -2.633,
        -2.481,
        -2.363,
        -2.322,
        -1.501,
        -1.46,
        -1.274,
        -1.212,
        -1.1,
        -1.046,
        -0.915,
        -0.714,
        -0.566,
        -0.545,
        -0.4,
        -0.309,
        -0.109,
        -0.103,
        0.01,
        0.119,
        0.377,
        0.79,
        0.963,
        1.006,
        1.115,
        1.572,
        1.841,
        2.047,
        2.2,
    ]
)
FITS = ((1000.0, 1000.0, 400.0, 40.0, 0.7, 0.3, 0.03), (1300.0, 1500.0, 500.0, 75.0, 1.0, 0.4, 0.05))
CERTIFIED = 5642.7082397


def thurber(b: np.ndarray) -> float:
    """Return the sum of squares of NIST's Thurber fit."""
    above, below = np.polyval(b[3::-1], PREDICTOR), np.polyval([*b[:3:-1], 1.0], PREDICTOR)
    return float(np.sum((RESPONSE - above / below) ** 2))


def fit(start: tuple[float, ...], method: str, seed: int, options: dict[str, float]) -> tuple[int, int, str]:
    """Return the evaluations until the value is right to 1e-9 and until the end, and the reasons for this."""
    es, right = Optimizer(start, np.abs(start) / 10, method=method, seed=seed, max_iter=9000, options=options), 0
    while not es.stop():
        X = es.ask()
        es.tell(X, [thurber(x) for x in X])
        right = right or es.nfev * (es.best.f < CERTIFIED * (1 + 1e-9))
    return right, es.nfev, ", ".join(es.stop())


def far_start(fun: Callable[[np.ndarray], np.ndarray], along: np.ndarray, value: float) -> np.ndarray:
    """Return a point in this direction at which the function has a value."""
    near, far = 1e-3, 1e12
    for _ in range(200):
        middle = np.sqrt(near * far)
        near, far = (middle, far) if fun((middle * along)[None])[0] < value else (near, middle)
    return near * along


def search(name: str, d: int, start: float, shift: float, seed: int, *, penalised: bool) -> tuple[bool, bool]:
    """Return whether `tolfunrel` held, and whether that was too early."""
    rng, plain = np.random.default_rng(seed), FUNCTIONS[name]
    turn = np.eye(d) if name == "Rosenbrock" else np.linalg.qr(rng.normal(size=(d, d)))[0]
    along = rng.normal(size=d)

    def fun(X: np.ndarray) -> np.ndarray:
        return plain(X @ turn.T)

    x0 = far_start(fun, along / np.linalg.norm(along), start)
    es = Optimizer(x0, np.linalg.norm(x0) / 3 / np.sqrt(d), method="cma", seed=seed, max_iter=6000, options=OFF)
    held = None
    while es.nit < 6000 and es.best.f - shift > 1e-10:
        X = es.ask()
        es.tell(X, shift + (fun(X) if es.nit >= 6 or not penalised else 1e30 * rng.uniform(1, 2, len(X))))
        reasons = es.stop()
        held = es.best.f - shift if held is None and "tolfunrel" in reasons else held
        if reasons.keys() - {"tolfunrel", "max_iter"} or (held is not None and held <= 1e-8):
            break
    return held is not None, held is not None and held > 1e-8 and es.best.f - shift < held / 10


def main() -> None:
    """Print both tables."""
    print(
        "| method | start | seed | right to 1e-9 | end | ended by | end without | ended by |\n|---|---|---|---|---|---|---|---|"
    )
    for method in ("cma", "gnn-cma"):
        for number, start in enumerate(FITS, 1):
            for seed in SEEDS:
                right, end, reason = fit(start, method, seed, {})
                _, without, other = fit(start, method, seed, {"tolfunrel": 0})
                print(f"| {method} | {number} | {seed} | {right} | {end} | {reason} | {without} | {other} |", flush=True)
    print("\n| function | runs | `tolfunrel` held | too early | with penalty: held | too early |\n|---|---|---|---|---|---|")
    for name in FUNCTIONS:
        cases = [(d, *start, seed) for d in DIMENSIONS for start in STARTS for seed in SEEDS]
        found = [np.sum([search(name, *case, penalised=penalised) for case in cases], 0) for penalised in (False, True)]
        print(f"| {name} | {len(cases)} | {found[0][0]} | {found[0][1]} | {found[1][0]} | {found[1][1]} |", flush=True)


if __name__ == "__main__":
    main()

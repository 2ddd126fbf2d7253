"""The quadratic model where it can help little: noise, steps, outliers, failures, many minima. Beside the same method without.

    python studies/benchmarks/model_robust.py                          # into results/model_robust.json
    python studies/benchmarks/model_robust.py --table docs/model.md    # runs nothing, writes the table into a page

An ellipsoid of condition 1e3, rotated and moved at random, in dimension 5 (Rastrigin's function: moved). x0 = 0, sigma0 = 1,
one run without restarts, at most 1,500 evaluations; report landscapes 1000 to 1049. What counts is the true value at the mean
of the search distribution in the end, and the evaluations until then.
"""

from collections.abc import Callable, Sequence

import numpy as np
from battery import REPORT
from shared import (
    Row,
    add_table,
    deliver,
    load_rows,
    make_parser,
    markdown,
    provenance,
    read_rows,
    save_rows,
)

import thalweg
from thalweg.objectives.problems import random_rotation

D = 5
BUDGET = 300 * D
METHODS = ("cma", "gnn-cma")
AXES = 10 ** np.linspace(0, 3, D)

Spoil = Callable[[float, np.random.Generator], float]

CASES: dict[str, Spoil] = {
    "exact values": lambda f, rng: f,
    "noise, standard deviation 1": lambda f, rng: f + rng.normal(),
    "noise, a tenth of the value": lambda f, rng: f * (1 + 0.1 * rng.normal()),
    "noise, factor exp(N(0, 1))": lambda f, rng: f * np.exp(rng.normal()),
    "steps, four a decade": lambda f, rng: np.floor(4 * np.log10(1e-12 + f)),
    "steps of 0.1": lambda f, rng: np.floor(10 * f) / 10,
    "1e300 in a tenth of the evaluations": lambda f, rng: 1e300 if rng.uniform() < 0.1 else f,
    "failures in a tenth of the evaluations": lambda f, rng: np.nan if rng.uniform() < 0.1 else f,
    "Rastrigin's function": lambda f, rng: f,
}
"""What happens to a value, by name."""


def run(case: str, method: str, model: str | None, seed: int) -> tuple[float, int]:
    """Return the true value at the last mean, and the number of evaluations."""
    rng = np.random.default_rng((seed, D))
    R, shift = random_rotation(rng, D), rng.uniform(-1, 1, D)

    def true(x: np.ndarray) -> float:
        if case == "Rastrigin's function":
            return float(10 * D + np.sum((x - shift) ** 2 - 10 * np.cos(2 * np.pi * (x - shift))))
        return float(AXES @ (R @ (x - shift)) ** 2)

    found = thalweg.minimize(
        lambda x: CASES[case](true(x), rng), np.zeros(D), 1.0, method=method, model=model, seed=seed, max_evals=BUDGET
    )
    return true(found.mean), found.nfev


def measure(case: str, method: str, model: str | None, seeds: Sequence[int]) -> Row:
    """Return a row: all true values, and the median number of evaluations."""
    values, evaluations = zip(*(run(case, method, model, seed) for seed in seeds), strict=True)
    shown = [float(f"{value:.3g}") for value in values]
    return {"case": case, "method": method, "model": model, "evaluations": float(np.median(evaluations)), "values": shown}


def show(rows: Sequence[Row]) -> str:
    """Return a table: deciles and medians of the true values, evaluations, and how often the model comes lower."""
    found = {(row["case"], row["method"], row["model"]): row for row in rows}
    head = ["values", "method", "f without: 10%, 50%, 90%", "f with", "evaluations without", "with", "lower with the model"]
    lines: list[list[str]] = []
    for case in CASES:
        for method in METHODS:
            plain, model = found[case, method, None], found[case, method, "quadratic"]
            one, two = np.array(plain["values"]), np.array(model["values"])
            share = np.mean(two < one) + np.mean(two == one) / 2
            error = 1.96 * np.sqrt(share * (1 - share) / len(one))
            cells = [", ".join(f"{q:.1g}" for q in np.quantile(each, (0.1, 0.5, 0.9))) for each in (one, two)]
            counts = [f"{each['evaluations']:,.0f}" for each in (plain, model)]
            lines.append([case, f"`{method}`", *cells, *counts, f"{share:.0%} ± {error:.0%}"])
    return markdown(head, lines)


def main() -> None:
    parser = make_parser(__doc__, "model_robust")
    parser.add_argument("--number", type=int, default=50, help="number of landscapes (default: 50)")
    add_table(parser)
    options = parser.parse_args()
    if options.table is None:
        meta = provenance("model_robust", number=options.number, budget=BUDGET, d=D)
        rows = load_rows(options.out, meta)
        done = {(row["case"], row["method"], row["model"]) for row in rows}
        for case in CASES:
            for method in METHODS:
                for model in (None, "quadratic"):
                    if (case, method, model) not in done:
                        rows.append(measure(case, method, model, REPORT[: options.number]))
                        save_rows(options.out, meta, rows)
    deliver(show(read_rows(options.out)), options.table, "model_robust")


if __name__ == "__main__":
    main()

"""Tests of the benchmark of noise: it measures what it says, and its page shows what it measured."""

import json
from pathlib import Path

import jax
import numpy as np
import scipy.stats

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "studies" / "benchmarks"


def test_the_page_shows_what_was_measured_and_nothing_else(benchmark):
    module, shared = benchmark("noise"), benchmark("shared")
    saved = json.loads((FOLDER / "results" / "noise.json").read_text())
    _, shown, _ = shared.split_at_markers((ROOT / "docs" / "noise.md").read_text(), "noise")
    assert shown.strip() == module.tables(saved["rows"])
    assert saved["meta"]["seeds"] == [module.SEEDS[0], module.SEEDS[-1]]
    assert {(row["arm"], row["n"]) for row in saved["rows"]} == set(module.ALGORITHMS)
    assert {len(row[what]) for row in saved["rows"] for what in ("best", "solved") if what in row} == {len(module.SEEDS)}


def test_noise_is_standard_normal_and_another_at_each_point_and_with_each_seed(benchmark):
    module = benchmark("noise")
    cases = module.make_cases([("sphere", 2.0), ("sphere", 0.0)], range(5))
    x = np.random.default_rng(0).normal(size=(2000, module.D)) * np.logspace(-12, 0, 2000)[:, None]
    values = jax.jit(jax.vmap(lambda case: jax.vmap(lambda point: module.noisy(point, case))(x)))(cases)
    noise = (np.asarray(values[:5]) - np.asarray(values[5:])) / 2
    assert scipy.stats.kstest(noise.ravel(), "norm").pvalue > 0.01
    assert np.abs(np.corrcoef(noise) - np.eye(5)).max() < 0.1  # seeds
    assert np.abs(np.mean(noise[:, 1:] * noise[:, :-1])) < 0.05  # points


def test_an_algorithm_is_measured_at_mean_and_best_point_without_noise(benchmark):
    module = benchmark("noise")
    rows = module.measure("cma", 10, [0, 1], (50, 3000))
    assert [(row["function"], row["strength"]) for row in rows[::2]][:6] == list(module.NOISY)
    clear = {row["function"]: row["solved"] for row in rows if row["strength"] == 0}
    assert all(1000 < evaluations < 2000 and evaluations % 10 == 0 for evaluations in clear["sphere"])
    assert clear["rosenbrock"] == [None, None]  # not in so few
    weak, strong = ([row for row in rows if (row["function"], row["strength"]) == ("sphere", s)] for s in (0.1, 10.0))
    assert max(weak[1]["mean"]) < 0.3 < 1 < min(weak[0]["mean"])  # later is better
    assert min(strong[1]["mean"]) > 0.3
    assert weak[1]["mean"] != weak[1]["best"]


def test_medians_have_intervals_and_what_never_happened_counts(benchmark):
    module = benchmark("noise")
    assert module.median([1.0, None, 3.0]) == (3.0, 1.0, np.inf)
    assert module.cell([2.0] * 9) == "2"
    assert module.cell([1.0, None, 3.0], ",.0f") == "3 [1, never] (67%)"
    assert module.cell(None) == "-"

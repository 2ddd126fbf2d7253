"""The tables in README and docs are those that the benchmarks print from their committed results, and the benchmarks run."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from thalweg.search import pending

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "studies" / "benchmarks"


def result(name):
    return json.loads((FOLDER / "results" / f"{name}.json").read_text())


def test_the_tables_of_sample_efficiency_are_the_measured_ones(benchmark):
    module, rows = benchmark("sample_efficiency"), result("sample_efficiency")["rows"]
    page = (ROOT / "docs" / "results.md").read_text()
    for table in (module.matrix(rows, "cma"), module.matrix(rows, "xnes"), module.marks(rows), module.table(rows)):
        assert table in page


def test_the_tables_of_the_constants_are_the_measured_ones(benchmark):
    module = benchmark("tune_trust_region")
    assert module.tables(result("tune_trust_region")["rows"]) in (ROOT / "docs" / "trust_region.md").read_text()


def test_the_table_of_the_peers_is_the_measured_one(benchmark):
    module = benchmark("peers")
    assert module.table(result("peers")["rows"]) in (ROOT / "docs" / "results.md").read_text()


def test_the_table_of_the_asynchronous_loop_is_the_measured_one(benchmark):
    module, page = benchmark("asynchronous"), (ROOT / "docs" / "parallel.md").read_text()
    measured = result("asynchronous")
    assert module.table(measured["rows"]) in page
    for median, low, high in measured["meta"]["real"].values():
        assert f"{median:.2f} ({low:.2f} to {high:.2f})" in page
    chosen = [row for row in measured["rows"] if row["share"] == pending.NOW]
    assert len(chosen) == 8


def test_the_table_of_gathered_generations_is_the_measured_one(benchmark):
    rows = result("gathering")["rows"]
    assert benchmark("gathering").show(rows) in (ROOT / "docs" / "trust_region.md").read_text()
    ratios = [row["ratio"]["default / each"] for row in rows]
    assert all(middle < 1.015 and low <= 1.005 for middle, low, _ in ratios)  # as the page says


def test_the_tables_of_the_overhead_are_the_measured_ones(benchmark):
    assert benchmark("overhead").show(result("overhead")) in (ROOT / "docs" / "parallel.md").read_text()


def test_the_kills_and_interrupts_on_the_page_are_those_that_were_made(benchmark):
    page = (ROOT / "docs" / "reliability.md").read_text()
    assert benchmark("kill").show(FOLDER / "results" / "kill.json") in page
    assert benchmark("interrupt").show(result("interrupt")) in page


@pytest.mark.parametrize("name", ["per_generation", "flow_work", "start_up", "growth"])
def test_the_tables_of_cost_are_the_measured_ones(name):
    """Printed by a process of its own: these scripts set the number of threads of the one they run in."""
    script, results = (
        FOLDER / f"{name}.py",
        FOLDER / "results" / f"{name}.json",
    )
    shown = subprocess.run([sys.executable, script, "--show", results], capture_output=True, text=True, check=True).stdout
    assert shown.strip() in (ROOT / "docs" / "performance.md").read_text()


def test_the_tables_of_many_runs_are_the_measured_ones(benchmark):
    module = benchmark("many_runs")
    assert module.tables(result("many_runs")["rows"]) in (ROOT / "docs" / "performance.md").read_text()


def test_development_and_report_seeds_are_apart(benchmark):
    battery = benchmark("battery")
    assert set(battery.DEVELOPMENT).isdisjoint(battery.REPORT)
    first, last = result("sample_efficiency")["about"]["seeds"]
    assert first in battery.REPORT
    assert last in battery.REPORT


def test_the_battery_is_the_functions_it_names(benchmark):
    battery = benchmark("battery")
    where = battery.landscapes(3, [1000, 1001])
    assert len(where.which) == 2 * len(battery.FUNCTIONS)
    from thalweg.objectives import rotated, translated

    x = np.asarray([0.3, -1.0, 0.7])
    for i, name in enumerate(battery.FUNCTIONS):
        problem = (rotated if name in battery.ROTATED else translated)(name, 3, 1001)
        own = battery.Landscape(*(part[2 * i + 1] for part in where))
        assert float(battery.value(x, own)) == pytest.approx(float(problem(x)), rel=1e-12)


def test_ratios_and_their_intervals(benchmark):
    module, rng = benchmark("sample_efficiency"), np.random.default_rng(0)
    a = rng.lognormal(size=400)
    ratio, low, high = module.median_ratio(2 * a, a, rng)
    assert ratio == low == high == 2.0  # paired: the same landscapes in numerator and denominator
    assert module.median_ratio(np.full(9, np.inf), a[:9], rng) is None
    assert module.median_ratio(np.zeros(9), a[:9], rng) is None


def test_the_table_of_known_evaluations_is_the_measured_one(benchmark):
    assert benchmark("known").show(result("known")["rows"]) in (ROOT / "docs" / "known.md").read_text()


def test_known_points_are_of_the_function_they_are_said_to_be_of(benchmark):
    module = benchmark("known")
    for name in module.FUNCTIONS:
        problem = module.Problem(name, 5, 0)
        assert problem.f(problem.shift) < 1e-20
        X, F = problem.known("similar", "hypercube, 100 d")
        assert len(X) == 500
        assert F.min() >= 7
        assert problem.source("misleading")(problem.shift) > 1e3
    problem = module.Problem("sphere", 5, 0)
    X, F = problem.known("itself", "run, 20 d")
    assert len(X) == 100
    assert F.tolist() == [problem.f(x) for x in X]

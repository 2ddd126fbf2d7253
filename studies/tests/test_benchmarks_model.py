"""The benchmark of the quadratic model: its landscapes, its counts, its tables, and that all of its modes run."""

import json
import os
from math import inf
from unittest import mock

import jax
import numpy as np
import pytest

pytest.importorskip("cma")

from thalweg_studies.bbob.record import LADDER, rung
from thalweg_studies.bbob.reference import Archived


@pytest.fixture(autouse=True)
def environment():
    """Keep the settings of threads that the script makes away from processes of later tests."""
    with mock.patch.dict(os.environ):
        yield


@pytest.fixture
def landscapes(benchmark):
    return benchmark("model_landscapes")


@pytest.mark.parametrize("d", [2, 5])
def test_the_minimum_is_0_and_is_where_it_should_be(landscapes, d):
    from thalweg.objectives.problems import random_rotation

    for function in landscapes.FUNCTIONS:
        rng = np.random.default_rng((1000, d))
        shift, R = rng.uniform(-1, 1, d), random_rotation(rng, d)
        f = landscapes.landscape(function, d, 1000)
        x = R.T @ np.ones(d) if function in landscapes.BANANAS else shift
        assert f(x) == pytest.approx(0.0, abs=1e-12)
        assert all(f(x + 0.1 * step) > 1e-6 for step in rng.standard_normal((5, d)))
        assert f(x + 0.1) != landscapes.landscape(function, d, 1001)(x + 0.1)


def test_three_functions_are_those_of_bbob(landscapes, x64):
    """With the same shift and rotations, which are drawn otherwise here."""
    from thalweg.objectives.problems import random_rotation
    from thalweg_studies.bbob.functions import make_problem, value_of

    d, rng = 4, np.random.default_rng((7, 4))
    shift, R, Q = rng.uniform(-1, 1, d), random_rotation(rng, d), random_rotation(rng, d)
    points = np.random.default_rng(0).standard_normal((6, d))
    for function, number, turns in (("bent-cigar", 12, (R, Q)), ("sharp-ridge", 13, (Q, R)), ("different-powers", 14, (R, Q))):
        problem = make_problem(number, 1, d)._replace(x_opt=shift, f_opt=np.array(0.0), R=turns[0], Q=turns[1])
        theirs = jax.vmap(value_of(number), (0, None))(points, problem)
        ours = [landscapes.landscape(function, d, 7)(x) for x in points]
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("algorithm", ["cma", "pycma", "pycma-lq"])
def test_a_run_counts_to_the_target_and_ends_with_the_budget(benchmark, algorithm):
    runs = benchmark("model_runs")
    outcome = runs.run(runs.Task(algorithm, "sphere", 2, 0, 2000))
    assert 5 <= outcome.evaluations < (50 if algorithm == "pycma-lq" else 400)
    assert outcome.best <= 1e-8
    assert runs.run(runs.Task(algorithm, "sphere", 2, 0, 2000)).evaluations == outcome.evaluations
    assert runs.run(runs.Task(algorithm, "banana-1e5", 2, 0, 20)).evaluations == inf


@pytest.mark.parametrize("batch", [0, 2])
def test_a_run_with_the_model(benchmark, batch):
    runs = benchmark("model_runs")
    for algorithm in runs.OURS:
        outcome = runs.run(runs.Task(algorithm, "sphere", 2, 0, 500, batch))
        assert outcome.evaluations < 60


def test_batches_count_evaluations(benchmark):
    runs = benchmark("model_runs")
    assert 100 < runs.run(runs.Task("cma", "sphere", 2, 0, 2000, 4)).evaluations < 500


def test_it_measures_and_goes_on(benchmark, tmp_path, capsys):
    model = benchmark("model")
    out = tmp_path / "model.json"
    words = ["--functions", "sphere", "--dims", "2", "--number", "3", "--workers", "1", "--development", "--out", str(out)]
    model.measure(model.parse([*words, "--algorithms", "pycma-lq"]))
    model.measure(model.parse([*words, "--algorithms", "pycma-lq", "cma"]))
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["sphere 2 pycma-lq 0", "sphere 2 cma 0"]
    saved = json.loads(out.read_text())
    assert saved["meta"]["first"] == 0
    assert set(saved["meta"]["versions"]) == {"thalweg", "jax", "numpy", "cma"}
    assert [len(row["evaluations"]) for row in saved["rows"]] == [3, 3]
    with pytest.raises(SystemExit, match="was made with"):
        model.measure(model.parse([*words, "--budget", "50"]))


def row(algorithm, evaluations, function="banana-1e4", d=2, batch=0):
    numbers = np.asarray([inf if number is None else number for number in evaluations], float)
    median = float(np.median(numbers))
    return {
        "function": function,
        "d": d,
        "algorithm": algorithm,
        "batch": batch,
        "median": None if median == inf else median,
        "solved": float(np.isfinite(numbers).mean()),
        "evaluations": evaluations,
    }


def test_the_table_of_evaluations(benchmark):
    model = benchmark("model")
    rows = [
        row("cma", [2000, None, 4000]),
        row("cma+quadratic", [250, 250, 250]),
        row("gnn-cma+quadratic", [None, None, 100]),
        row("pycma-lq", [500] * 3),
    ]
    assert model.tables(rows).splitlines()[2] == (
        "| banana 1e4 | 2 | 3 | 4,000 (67%) | 250 | - (33%) | 500 | 0.5 [0.5, 0.5] | - | - | 200, 0.6 |"
    )


def test_ratios_are_over_the_landscapes_that_both_have(benchmark):
    model = benchmark("model")
    rows = [row("cma+quadratic", [100, 100, 900, 900, 900]), row("pycma-lq", [200, 200])]
    assert model.tables(rows).splitlines()[2] == ("| banana 1e4 | 2 | 5, 2 | 900 | 200 | 0.5 [0.5, 0.5] | 200, 0.6 |")


def test_the_table_of_batches(benchmark):
    model = benchmark("model")
    rows = [row("cma+quadratic", [100 * (1 + batch / 8)] * 3, batch=batch) for batch in model.BATCHES]
    assert model.tables(rows).splitlines()[2] == (
        "| banana 1e4 | 2 | `cma+quadratic` | 112 | 1.11 [1.11, 1.11] | 1.33 [1.33, 1.33] | 1.78 [1.78, 1.78] |"
    )


def test_the_cost_of_turns(benchmark):
    model, cost = benchmark("model"), benchmark("model_cost")
    options = model.parse(["cost", "--dims", "2", "--number", "2", "--algorithms", "cma", "pycma-lq"])
    report = cost.measure(options)
    assert [(row["d"], row["algorithm"]) for row in report["rows"]] == [(2, "cma"), (2, "pycma-lq")]
    assert all(0 < row["low"] <= row["ms"] <= row["high"] for row in report["rows"])
    assert cost.show(report).splitlines()[0] == "| d | `cma` (ms) | `pycma-lq` (ms) | `cma` / lq | aim: ms, ratio |"


def test_the_options(benchmark, capsys):
    model = benchmark("model")
    assert model.parse([]).seeds == range(1000, 1050)
    assert model.parse(["batches"]).algorithms == model.OURS
    assert model.parse(["cost"]).out.name == "model_cost.json"
    assert model.parse(["--development"]).out.parts[0] == "out"
    for wrong, sentence in ((["--number", "0"], "from 1 to"), (["batches", "--algorithms", "pycma-lq"], "must be ours")):
        with pytest.raises(SystemExit):
            model.parse(wrong)
        assert sentence in capsys.readouterr().err


def test_further_bends_are_measured_at_several_moments(benchmark):
    planes = benchmark("model_planes")
    es = next(planes.moments("banana-1e4", 3, 0))
    assert es.nfev >= 13
    shares = planes.unexplained(es, "banana-1e4", 0)
    assert len(shares) == len(planes.TERMS)
    assert 0 < shares[1] < shares[0]  # a bow explains some of what a quadratic leaves


def test_the_model_where_it_can_help_little(benchmark, monkeypatch):
    robust = benchmark("model_robust")
    monkeypatch.setattr(robust, "BUDGET", 60)
    monkeypatch.setattr(robust, "METHODS", ("cma",))
    monkeypatch.setattr(robust, "CASES", {"exact values": robust.CASES["exact values"]})
    rows = [robust.measure("exact values", "cma", model, [1000, 1001]) for model in (None, "quadratic")]
    table = robust.show(rows).splitlines()
    assert len(table) == 3
    assert table[2].startswith("| exact values | `cma` |")
    assert table[2].endswith("100% ± 0% |")


def test_the_table_of_bbob(benchmark):
    """Runs as they are packed come back, and stand beside archived runtimes with the instances that were solved."""
    table = benchmark("model_bbob")
    ladder = [*range(1, len(LADDER) + 1)]
    runs = [["gnn-cma+quadratic", 2, 1, instance, [60, 1e-9, 0, *ladder]] for instance in (6, 7)]
    results = table.load({"runs": [*runs, ["gnn-cma+quadratic", 2, 1, 8, [900, 0.5, 3, *ladder[:5]]]]})
    art = {rung(1e-7): 100.0}
    archived = {"CMA-ES": {(2, 1): Archived(art, (15, 15))}, "lq-CMA-ES": {(2, 1): Archived(art, (14, 15))}}
    head, _, line = table.show(table.compare(results, archived)).splitlines()
    assert head.count("`gnn-cma+quadratic`") == 2
    runtime = (2 * (rung(1e-7) + 1) + 900) / 2
    assert f"| {runtime / 100:.2f} [" in line
    assert line.endswith("| 1.00 | 2 of 3 | 14 of 15 |")


def test_packed_runs_are_replaced_one_by_one(benchmark):
    merged, who = benchmark("model_bbob").merged, "gnn-cma+quadratic"
    one, two = ({"settings": {"seed": 1}, "versions": {"thalweg": version}} for version in ("1", "2"))
    present = {"manifests": [one], "runs": [[who, 2, 1, 6, [60]], [who, 2, 1, 7, [70]], ["cma+quadratic", 2, 1, 6, [80]]]}
    both = merged(present, {"manifests": [two], "runs": [[who, 2, 1, 7, [50]], [who, 2, 1, 8, [90]]]})
    assert both["manifests"] == [one, two]
    assert sorted(both["runs"]) == [
        ["cma+quadratic", 2, 1, 6, [80]],
        *([who, 2, 1, i, [f]] for i, f in ((6, 60), (7, 50), (8, 90))),
    ]
    assert merged(both, present)["manifests"] == [one, two]
    with pytest.raises(ValueError, match="'seed': 3"):
        merged(present, {"manifests": [{"settings": {"seed": 3}}], "runs": []})

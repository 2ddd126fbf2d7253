"""The benchmarks of curved valleys measure what they say, and their page shows what they measured."""

import json
from pathlib import Path

import jax
import numpy as np
import pytest

from thalweg.objectives import banana as objective
from thalweg.objectives import translated

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "studies" / "benchmarks"


def saved(name):
    return json.loads((FOLDER / "results" / f"{name}.json").read_text())


@pytest.mark.parametrize("name", ["banana", "tune_valley"])
def test_the_page_shows_what_was_measured_and_nothing_else(benchmark, name):
    module, shared = benchmark(name), benchmark("shared")
    _, shown, _ = shared.split_at_markers((ROOT / "docs" / "valley.md").read_text(), name)
    assert shown.strip() == module.tables(saved(name)["rows"])


@pytest.mark.parametrize(("name", "seeds"), [("banana", "REPORT"), ("tune_valley", "DEVELOPMENT")])
def test_the_results_are_those_of_the_seeds_that_the_page_names(benchmark, name, seeds):
    seeds, results = getattr(benchmark("battery"), seeds), saved(name)
    assert results["meta"]["seeds"] == [seeds[0], seeds[-1]]
    assert {len(row["evaluations"]) for row in results["rows"]} == {len(seeds)}
    assert {(row["d"], row["n"]) for row in results["rows"]} == set(benchmark("valley_study").SETTINGS)


def test_the_constants_on_the_page_are_those_of_the_code():
    from thalweg.strategies.flowsteps.valley import Valley

    page = (ROOT / "docs" / "valley.md").read_text()
    for name, default in vars(Valley()).items():
        if not isinstance(default, bool):  # a switch is no constant
            assert f"| `{name}` | {default:g} |" in page


def test_each_landscape_is_the_function_it_names(benchmark):
    module = benchmark("banana")
    names, problems = module.banana_landscapes(3, [1000, 1001], (1e2, 1e4))
    assert names == ["banana-100", "banana-10000", "sphere", "ellipsoid", "discus", "bent-cigar"]
    x = np.asarray([0.3, -1.0, 0.7])
    for i, problem in ((1, "rosenbrock"), (3, objective(1e4)), (5, "sphere")):  # on the second seed's landscape
        own = jax.tree.map(lambda part, i=i: part[i], problems)
        assert float(module.value(x, own)) == pytest.approx(float(translated(problem, 3, 1001)(x)), rel=1e-12)


def test_the_oracle_sees_the_same_valley_from_the_same_start(benchmark):
    module = benchmark("banana")
    _, problems = module.banana_landscapes(4, [1000], (1e3,))
    problem = jax.tree.map(lambda part: part[0], problems)
    for x in (np.zeros(4), np.asarray([0.5, -1.0, 0.3, 2.0])):
        y = module.straighten(x - problem.landscape.shift)
        assert float(module.straight_value(y, problem)) == pytest.approx(float(module.value(x, problem)), rel=1e-9)
    along = module.straighten(np.asarray([3.0, 9.0, 81.0]))
    np.testing.assert_array_equal(along, [3.0, 0.0, 0.0])
    assert np.isinf(float(module.straight_value(np.full(40, 9.0), problem)))  # and not NaN, which would end the run


def test_ratios_are_those_of_means_over_what_both_solve(benchmark):
    module = benchmark("banana")
    own, reference = np.asarray([1.0, 2.0, np.inf, 3.0]), np.asarray([2.0, 4.0, 5.0, np.inf])
    assert module.mean_ratio(own, reference) == [0.5, 0.5, 0.5]
    assert module.mean_ratio(own[2:3], reference[2:3]) is None
    row = module.summary(own, reference)
    assert (row["mean"], row["solved"], row["evaluations"]) == (2.0, 0.75, [1.0, 2.0, None, 3.0])
    np.testing.assert_array_equal(module.infinite(row["evaluations"]), own)
    assert module.cell(row) == "0.50 (75%)"
    assert module.cell(module.summary(own, np.full(4, np.inf))) == "2 (75%) evaluations"
    assert module.cell(module.summary(np.full(4, np.inf), own)) == "never"


def test_runs_end_with_their_evaluations_or_with_none_and_are_not_run_again(benchmark, tmp_path, capsys, monkeypatch):
    module, study = benchmark("banana"), benchmark("valley_study")
    scope = study.Scope([(2, 6)], [1000, 1001], (1e2,), tmp_path / "rows.json")
    module.run(scope, ["oracle"])
    rows = json.loads(scope.path.read_text())["rows"]
    assert [row["function"] for row in rows] == ["banana-100", *module.OTHERS, "banana-100"]
    assert all(100 < number < 1000 and number % 6 == 0 for row in rows for number in row["evaluations"])
    assert rows[-1]["arm"] == "oracle"
    assert rows[-1]["ratio"][0] < 1
    assert capsys.readouterr().out.count("d=2 n=6") == 2

    monkeypatch.setattr(module, "measure", None)
    module.run(scope, ["oracle"])  # all there: nothing is measured
    study.join(scope.path, [scope.path])
    assert json.loads(scope.path.read_text())["rows"] == rows
    with pytest.raises(SystemExit, match="--out"):
        module.run(scope._replace(seeds=[1000]), [])


def test_variants_that_change_nothing_are_left_out(benchmark):
    module = benchmark("tune_valley")
    few, many = ([variants for _, _, variants in module.programs(10, n)] for n in (10, 100))
    assert [("generations", 5)] in many
    assert [("generations", 5)] not in few
    assert [("window", 25.0)] in few
    assert few[0][0] == ("default", None)


def test_a_variant_is_what_it_says_though_its_constants_are_traced(benchmark, monkeypatch):
    module = benchmark("tune_valley")
    monkeypatch.setitem(module.SETTINGS, (2, 6), 1200)
    variants = [("default", None), ("strict", np.inf)]
    default, straight = module.measure("none", {}, variants, 2, 6, [0, 1, 2], (1e2,))
    alone = benchmark("banana").measure("cma", 2, 6, [0, 1, 2], (1e2,))
    assert np.isfinite(alone["banana-100"]).all()
    np.testing.assert_array_equal(straight["banana-100"], alone["banana-100"])  # never a bow: the latent alone
    assert (default["banana-100"] != straight["banana-100"]).any()

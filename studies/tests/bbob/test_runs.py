"""Real runs: their records, their continuation after an interruption, and the same numbers from COCO's post-processing."""

import json
import subprocess
import sys
from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("cocoex")

import cocoex

from thalweg_studies.bbob import benchmark
from thalweg_studies.bbob import solve as solving
from thalweg_studies.bbob.benchmark import Benchmark
from thalweg_studies.bbob.entrant import Entrant, entrants
from thalweg_studies.bbob.observed import FinishedError, ObservedProblem, f_opt, observed_problem
from thalweg_studies.bbob.peers import PEERS
from thalweg_studies.bbob.plan import Settings, trials
from thalweg_studies.bbob.record import LADDER, SOLVED, decode, encode, rung
from thalweg_studies.bbob.runtime import Runtimes
from thalweg_studies.bbob.solve import solve
from thalweg_studies.bbob.starts import Starts, problem_seed
from thalweg_studies.bbob.summary import gather
from thalweg_studies.common.results import open_results
from thalweg_studies.common.work import execute

SETTINGS = Settings(budget=200)


def opened(folder, settings=SETTINGS):
    return open_results(folder, Benchmark(settings, folder))


def run(name, folder, function=1, d=2, instance=1, budget=2000, logger="coco", bipop=False):
    """One run, and how many evaluations the observer saw."""
    (entrant,) = entrants(name)
    with observed_problem(function, d, instance, budget, logger, folder, entrant.slug) as problem:
        record = solve(entrant, problem, problem_seed(1, function, d, instance), bipop=bipop)
        inner = problem.function
        seen = inner.evaluations if logger == "coco" else inner.state.evaluations
    return record, seen


def test_hits_of_a_course():
    values = iter([150.0, 90.0, 95.0, 9.0, 1e-9])
    problem = ObservedProblem(lambda _: next(values) + 7.0, 7.0, 2, budget=10)
    for _ in range(5):
        problem(np.zeros(2))
    with pytest.raises(FinishedError):
        problem(np.zeros(2))
    record = problem.run(restarts=3)
    assert (record.hits[0], record.hits[rung(10)], record.hits[-1]) == (2, 4, 5)
    assert record.evaluations == 5
    assert record.best == pytest.approx(1e-9, abs=1e-12)
    assert decode(encode(record)) == record


def test_a_generation_beyond_the_budget_is_not_evaluated():
    problem = ObservedProblem(lambda x: float(x @ x), 0.0, 2, budget=3)
    values = problem.generation(np.ones((5, 2)))
    assert values.tolist() == [2.0, 2.0, 2.0, inf, inf]
    assert problem.evaluations == 3
    with pytest.raises(FinishedError):
        problem(np.zeros(2))


def test_a_method_with_a_model_is_asked_for_single_points(monkeypatch):
    seen = {}

    def minimize(fun, x0, sigma0, **options):
        seen.update(options)
        values = [fun(np.full(2, x)) for x in (1.0, 0.5, 0.0)]
        assert values == [2.0, 0.5, inf]
        return SimpleNamespace(restarts=0)

    monkeypatch.setattr(solving, "minimize", minimize)
    (entrant,) = entrants("gnn-cma+quadratic")
    record = solve(entrant, ObservedProblem(lambda x: float(x @ x), 0.0, 2, budget=2), 1, bipop=False)
    assert (seen["method"], seen["model"], record.evaluations) == ("gnn-cma", "quadratic", 2)
    assert not seen.get("vectorized")


def test_the_least_value_is_coco_s(tmp_path, monkeypatch):
    """COCO writes where the minimum is into the working folder."""
    monkeypatch.chdir(tmp_path)
    for problem in cocoex.Suite("bbob", "instances: 1, 7", "dimensions: 2"):
        problem._best_parameter("print")
        minimum = problem(np.loadtxt("._bbob_problem_best_parameter.txt"))
        assert f_opt(problem.id_function, problem.id_instance) == pytest.approx(minimum, abs=1e-9)


@pytest.mark.parametrize("name", [*PEERS, "cma"])
def test_everyone_solves_the_sphere(name, tmp_path):
    """With the same number of evaluations as the observer counted, and the same again from the same seed."""
    pytest.importorskip({"evosax-cma": "evosax", "nevergrad-cma": "nevergrad"}.get(name, "cma"))
    record, seen = run(name, tmp_path / "a")
    assert record.evaluations == seen <= 2000
    assert record.best <= SOLVED
    assert record.hits[-1] <= record.evaluations
    assert all(a <= b for a, b in zip(record.hits, record.hits[1:], strict=False))
    assert run(name, tmp_path / "b")[0] == record


@pytest.mark.parametrize("name", ["pycma", "cmaes", "cma"])
def test_restarts_until_the_budget_is_spent(name, tmp_path):
    """Lunacek's function from a small population: runs end in local minima."""
    record, seen = run(f"{name}:popsize=4", tmp_path / "a", function=24, budget=1500)
    assert record.restarts > 0
    assert seen == record.evaluations
    assert record.evaluations == 1500
    assert record.best > SOLVED


def test_the_ioh_logger_sees_the_same_run(tmp_path):
    pytest.importorskip("ioh")
    coco, ioh = (run("cmaes", tmp_path / logger, function=8, logger=logger) for logger in ("coco", "ioh"))
    assert coco == ioh
    (page,) = (tmp_path / "ioh").glob("IOHprofiler_f8*.json")
    (scenario,) = json.loads(page.read_text())["scenarios"]
    assert scenario["runs"][0]["evals"] == ioh[1]


@pytest.fixture
def attempted(monkeypatch):
    """The units that are run, for real."""
    seen = []
    real = benchmark.solve

    def noted(entrant, problem, seed, *, bipop):
        seen.append((entrant.name, problem.f_opt))
        return real(entrant, problem, seed, bipop=bipop)

    monkeypatch.setattr(benchmark, "solve", noted)
    return seen


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


ART = """
import sys, warnings, json
warnings.simplefilter("ignore")
import cocopp
cocopp.genericsettings.verbose = 0
sets = cocopp.load(sys.argv[1])
print("#", json.dumps([[d.funcId, d.dim, sorted(d.instancenumbers), list(d.detERT([0.1, 1e-3, 1e-7]))] for d in sets]))
"""


def test_what_was_cut_off_is_repeated_and_nothing_else(tmp_path, attempted):
    """Cut between units, in the middle of an observer's files, before the record, and with a record that is half there."""
    complete, cut = (opened(tmp_path / name) for name in ("complete", "cut"))
    todo = trials(entrants("cma,pycma"), [1, 8], [2], [1, 2])
    assert execute(complete, todo) == []
    assert len(attempted) == 8
    execute(cut, todo[:5])
    draft = cut.study.draft(todo[6])
    (draft / "data_f8").mkdir(parents=True)
    (draft / "data_f8" / "bbobexp_f8_DIM2.dat").write_text("% half")
    cut.path(todo[0]).unlink()  # its observer's files are in place
    broken = cut.path(todo[1])
    broken.write_text(broken.read_text()[:50])
    del attempted[:]
    seen = []
    assert execute(cut, todo, report=seen.append) == []
    assert len(attempted) == 5
    assert (seen[0].done, seen[-1].done, seen[-1].total) == (3, 8, 8)
    assert contents(cut.folder) == contents(complete.folder)
    results = gather(todo, map(cut.read, todo))
    run = subprocess.run(
        [sys.executable, "-c", ART, str(cut.study.trajectories(todo[4].entrant))],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=tmp_path,
    )
    theirs = json.loads(run.stdout.rpartition("#")[2])
    assert len(theirs) == 2
    for function, d, instances, runtimes in theirs:
        assert (d, instances) == (2, [1, 2])
        own = Runtimes.of(list(results[todo[4].entrant, d, function].values()))
        assert [own.art(rung(target)) for target in (0.1, 1e-3, 1e-7)] == pytest.approx(runtimes)


class Fails(Benchmark):
    """A method that fails on one problem."""

    def run(self, unit):
        if unit.instance == 2:
            raise ArithmeticError("no such root")
        return super().run(unit)


def test_a_failure_costs_no_other_run(tmp_path):
    results = opened(tmp_path / "out")
    todo = trials(entrants("cmaes"), [1], [2], [1, 2, 3])
    (failure,) = execute(open_results(results.folder, Fails(SETTINGS, results.folder)), todo)
    assert str(failure) == "cmaes on f1, instance 2, d = 2 failed: ArithmeticError: no such root"
    assert results.pending(todo) == [todo[1]]
    assert execute(results, todo) == []
    assert results.pending(todo) == []


def test_processes_find_the_same(tmp_path):
    """The same records, and the same failures: a population of 0."""
    todo = trials([*entrants("cmaes,pycma"), Entrant("cmaes", "0")], [8], [2], [1, 2])
    alone, together = (opened(tmp_path / name) for name in ("alone", "together"))
    failures = execute(alone, todo)
    assert [failure.unit for failure in failures] == todo[4:]
    assert sorted(execute(together, todo, workers=2)) == sorted(failures)
    assert contents(together.folder) == contents(alone.folder)


def test_folders_that_are_none(tmp_path):
    opened(tmp_path / "a")
    with pytest.raises(ValueError, match=r"other settings \(budget 200 there, 300 now\)"):
        opened(tmp_path / "a", Settings(budget=300))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "thesis.tex").touch()
    with pytest.raises(ValueError, match=r"no manifest\.json"):
        opened(tmp_path / "b")
    (tmp_path / "b" / "manifest.json").write_text("{")
    with pytest.raises(ValueError, match="is broken"):
        opened(tmp_path / "b")
    with pytest.raises(ValueError, match="is not a folder"):
        opened(tmp_path / "b" / "thesis.tex")


def test_starts_are_the_same_for_all_and_differ_between_problems():
    draws = [Starts(problem_seed(1, *problem), 2)() for problem in ((1, 2, 1), (1, 2, 1), (1, 2, 2), (2, 2, 1))]
    assert np.all(draws[0] == draws[1])
    assert len({tuple(draw) for draw in draws}) == 3
    many = Starts(1, 40)()
    assert np.all(np.abs(many) <= 4)
    assert np.abs(many).max() > 3


def test_the_ladder():
    assert len(LADDER) == 51
    assert np.allclose(np.diff(np.log10(LADDER)), -0.2)
    with pytest.raises(ValueError, match="not on the ladder"):
        rung(2.0)

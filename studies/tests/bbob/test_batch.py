"""The engine `jax` against the engine `coco`: the same records, up to rounding."""

from math import inf

import numpy as np
import pytest

pytest.importorskip("cocoex")

from thalweg_studies.bbob import batch, benchmark
from thalweg_studies.bbob.benchmark import Benchmark
from thalweg_studies.bbob.entrant import entrants
from thalweg_studies.bbob.plan import Settings, trials
from thalweg_studies.bbob.record import LADDER, Run
from thalweg_studies.common.results import open_results
from thalweg_studies.common.work import execute


def opened(folder, settings):
    return open_results(folder, Benchmark(settings, folder))


def test_both_engines_find_the_same(tmp_path):
    """A function that is solved, and one where a restart runs into the end of the budget."""
    todo = trials(entrants("cma:popsize=4"), [1, 3], [2], [1, 2])
    coco, jax = (opened(tmp_path / engine, Settings(budget=400, engine=engine)) for engine in ("coco", "jax"))
    assert execute(coco, todo) == execute(jax, todo) == []
    for unit in todo:
        theirs, ours = coco.read(unit), jax.read(unit)
        assert ours.evaluations == theirs.evaluations <= 800
        assert ours.restarts == theirs.restarts
        assert np.mean(np.isclose(ours.hits, theirs.hits)) > 0.9  # a value may lie within rounding of a target
        assert all((ours.best <= target) == np.isfinite(hit) for target, hit in zip(LADDER, ours.hits, strict=True))
    assert max(jax.read(unit).restarts for unit in todo) > 0
    seen = []
    execute(jax, todo, report=seen.append)  # nothing is left to do
    assert [progress.done for progress in seen] == [4]


@pytest.mark.parametrize("name", ["pycma", "gnn-cmaes"])
def test_what_jax_cannot_compile_is_refused(name):
    with pytest.raises(ValueError, match=f"{name} is not a method that JAX can compile"):
        batch.check(entrants(f"cma,{name}"))


def test_a_failure_costs_no_other_entrant(tmp_path, monkeypatch):
    def breaks(settings, group):
        if group[0].entrant.name == "xnes":
            raise ArithmeticError("no\n such root")
        return [Run(7, 1.0, 0, (3.0,) + (inf,) * 50) for _ in group]

    monkeypatch.setattr(benchmark, "run_together", breaks)
    results = opened(tmp_path / "out", Settings(engine="jax"))
    todo = trials(entrants("xnes,cma"), [1], [2], [1, 2])
    failures = execute(results, todo)
    assert [str(failure) for failure in failures] == [
        f"xnes on f1, instance {i}, d = 2 failed: ArithmeticError: no such root" for i in (1, 2)
    ]
    assert results.pending(todo) == todo[:2]

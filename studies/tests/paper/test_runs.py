"""The experiments from end to end, small."""

from dataclasses import replace

import numpy as np
import pytest

from thalweg.objectives import translated
from thalweg.strategies.flowsteps.penalised import Penalised
from thalweg.strategies.flowsteps.trust_region import TrustRegion
from thalweg_studies.paper import fig4, landscapes, table1, work
from thalweg_studies.paper.arms import ARMS, FIGURE
from thalweg_studies.paper.race import panels
from thalweg_studies.paper.store import open_store


def test_the_arms_are_the_paper_and_the_library():
    assert list(FIGURE) == ["CMA-ES", "GNN-CMA-ES", "GNN-CMA-ES (paper)", "xNES", "GNN-xNES", "GNN-xNES (paper)"]
    for latent in ("CMA-ES", "xNES"):
        own, literal = ARMS[f"GNN-{latent}"].strategy(3), ARMS[f"GNN-{latent} (paper)"].strategy(3)
        assert own.latent == literal.latent == ARMS[latent].strategy(3)
        assert (own.frame, own.step) == ("whitened", TrustRegion())
        assert (literal.frame, literal.step) == ("raw", Penalised())
        assert own.population(3) == 30


@pytest.mark.parametrize("function", ["bent-cigar", "rosenbrock", "beale"])
def test_landscapes_are_those_of_the_objectives(function):
    functions = ("rosenbrock", "bent-cigar", "beale")
    x = np.random.default_rng(0).normal(size=2)
    drawn = landscapes.draw(functions, function, 2, [3, 8])
    second = landscapes.Landscape(*(part[1] for part in drawn))
    np.testing.assert_allclose(landscapes.family(functions)(x, second), translated(function, 2, 8)(x), rtol=1e-12)
    assert landscapes.family(functions) is landscapes.family(functions)


@pytest.mark.slow
def test_fig4_small(tmp_path):
    arms = ("CMA-ES", "GNN-CMA-ES")
    store = open_store(tmp_path, replace(fig4.FULL, generations={2: 30}, arms=arms, block=2))
    units = work.compute(store, seeds=2)
    race, cases = store.experiment, store.collect(units)
    entries = fig4.summarise(race, cases)
    assert [(e.function, e.method, e.evaluations) for e in entries] == [
        (function, method, 500) for function in ("bent-cigar", "rosenbrock") for method in arms
    ]
    assert all(0 < entry.median < 1 for entry in entries)
    assert all((entry.lower is None) == (entry.method == "CMA-ES") for entry in entries)
    assert len(fig4.table(entries, entries)[0]) == len(fig4.HEAD)
    assert [verdict.verdict for verdict in fig4.verdicts(entries)] == ["not clear"] * 2
    found = panels(race, cases)
    assert list(found) == [("bent-cigar", 2), ("rosenbrock", 2)]
    for curves in found["rosenbrock", 2].values():
        assert curves.best.shape == (2, len(curves.evaluations))
        assert np.all(np.diff(curves.best) <= 0)


@pytest.mark.slow
def test_table1_small_and_the_same_from_several_processes(tmp_path):
    experiment = replace(table1.FULL, generations={2: 40}, arms=("CMA-ES", "xNES"), block=2)
    here, there = open_store(tmp_path / "here", experiment), open_store(tmp_path / "there", experiment)
    units = work.compute(here, seeds=2)
    seen: list[work.Progress] = []
    work.compute(there, seeds=2, workers=2, report=seen.append)
    assert (here.folder / "table1.csv").read_bytes() == (there.folder / "table1.csv").read_bytes()
    assert (seen[-1].done, seen[-1].share) == (len(units), 1)
    entries = table1.summarise(experiment, here.collect(units))
    assert [(e.function, e.method) for e in entries] == [(f, m) for f in experiment.functions for m in experiment.arms]
    assert {len(row) for row in table1.table(entries)} == {len(table1.HEAD)}
    wrong = [entry.mean / table1.WRONG for entry in entries if entry.function == "styblinski"]
    np.testing.assert_allclose(wrong, np.rint(np.multiply(wrong, 2)) / 2, atol=1e-3)  # whole coordinates, mean of two runs

"""Figure 4 and table 1 from end to end, small."""

from dataclasses import replace

import numpy as np
import pytest

from thalweg.objectives import translated
from thalweg.strategies.flowsteps.penalised import Penalised
from thalweg.strategies.flowsteps.trust_region import TrustRegion
from thalweg_studies.common.algorithms import ALGORITHMS, FIGURE
from thalweg_studies.common.experiment import compute, table_path
from thalweg_studies.paper import fig4, landscapes, table1
from thalweg_studies.paper.comparison import panels


def test_the_algorithms_are_those_of_the_paper_and_the_library():
    assert list(FIGURE) == ["CMA-ES", "GNN-CMA-ES", "GNN-CMA-ES (paper)", "xNES", "GNN-xNES", "GNN-xNES (paper)"]
    for latent in ("CMA-ES", "xNES"):
        own, literal = ALGORITHMS[f"GNN-{latent}"].strategy(3), ALGORITHMS[f"GNN-{latent} (paper)"].strategy(3)
        assert own.latent == literal.latent == ALGORITHMS[latent].strategy(3)
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
    algorithms = ("CMA-ES", "GNN-CMA-ES")
    comparison = replace(fig4.FULL, generations={2: 30}, algorithms=algorithms, block=2)
    cases = compute(tmp_path, comparison, seeds=2)
    entries = fig4.summarise(comparison, cases)
    assert [(e.function, e.method, e.evaluations) for e in entries] == [
        (function, method, 500) for function in ("bent-cigar", "rosenbrock") for method in algorithms
    ]
    assert all(0 < entry.median < 1 for entry in entries)
    assert all((entry.lower is None) == (entry.method == "CMA-ES") for entry in entries)
    assert len(fig4.table(entries, entries)[0]) == len(fig4.HEAD)
    assert [verdict.verdict for verdict in fig4.verdicts(entries)] == ["not clear"] * 2
    found = panels(comparison, cases)
    assert list(found) == [("bent-cigar", 2), ("rosenbrock", 2)]
    for curves in found["rosenbrock", 2].values():
        assert curves.best.shape == (2, len(curves.evaluations))
        assert np.all(np.diff(curves.best) <= 0)


@pytest.mark.slow
def test_table1_small_and_the_same_from_several_processes(tmp_path):
    experiment = replace(
        table1.FULL, functions=("styblinski", "beale"), generations={2: 40}, algorithms=("CMA-ES", "xNES"), block=2
    )
    here, there, seen = tmp_path / "here", tmp_path / "there", []
    cases = compute(here, experiment, seeds=2)
    compute(there, experiment, seeds=2, workers=2, report=seen.append)
    assert table_path(here, experiment).read_bytes() == table_path(there, experiment).read_bytes()
    assert (seen[-1].done, seen[-1].share) == (len(experiment.units(2)), 1)
    entries = table1.summarise(experiment, cases)
    assert [(e.function, e.method) for e in entries] == [(f, m) for f in experiment.functions for m in experiment.algorithms]
    assert {len(row) for row in table1.table(entries)} == {len(table1.HEAD)}
    wrong = [entry.mean / table1.WRONG for entry in entries if entry.function == "styblinski"]
    np.testing.assert_allclose(wrong, np.rint(np.multiply(wrong, 2)) / 2, atol=1e-3)  # whole coordinates, mean of two runs

"""The claims of the text: their rules on made-up data with a known answer, and small real runs."""

from dataclasses import replace

import numpy as np
import pytest

from thalweg_studies.common.algorithms import ALGORITHMS
from thalweg_studies.common.experiment import FIRST_SEED, Case, SeedBlock
from thalweg_studies.common.verdict import AGREES, DIFFERS, UNCLEAR
from thalweg_studies.paper.claims import CLAIMS, any_latent, damping
from thalweg_studies.paper.claims.measure import share, share_difference

RUNS = 40


def descent(comparison, d, slope, *, runs=RUNS, seed=0, stop=np.inf):
    """Best values that fall by a factor of exp(-slope) a generation, up to a generation and with some luck."""
    generations = np.minimum(comparison.grid(d) / (10 * d), stop)
    luck = np.random.default_rng(seed).normal(scale=0.3, size=(runs, 1))
    return np.exp(1 + luck - slope * generations)


def verdicts(name, slopes, *, default, runs=RUNS, stops=None):
    """The verdicts if algorithms descend by the slope of the last word of `slopes` in their name."""
    claim, stops = CLAIMS[name], stops or {}
    comparison, cases = claim.experiment, {}
    places = [(f, d) for f in comparison.functions for d in comparison.generations]
    for i, (function, d, method) in enumerate((*place, method) for place in places for method in comparison.algorithms):
        slope = [default, *(value for word, value in slopes.items() if word in method)][-1]
        stop = [np.inf, *(value for word, value in stops.items() if word in method)][-1]
        cases[Case(function, d, method)] = descent(comparison, d, slope, runs=runs, seed=i, stop=stop)
    finding = claim.judge(comparison, cases)
    assert finding.verdicts
    assert {len(row) for row in finding.rows} == {len(finding.head)}
    assert all("[" in verdict.ours for verdict in finding.verdicts)
    return {verdict.verdict for verdict in finding.verdicts}


def test_plain_gradient():
    assert verdicts("plain-gradient", {"PGES": 0.01}, default=0.3) == {AGREES}
    assert verdicts("plain-gradient", {"PGES": 0.01, "rate 0.1": 0.3}, default=0.3) == {DIFFERS}
    assert UNCLEAR in verdicts("plain-gradient", {"PGES": 0.01, "rate 0.1": 14.8155 / 400}, default=0.3), "half of the runs"
    assert verdicts("plain-gradient", {"PGES": 0.01}, default=0.3, runs=5) == {UNCLEAR}
    assert verdicts("plain-gradient", {}, default=0.001) == {UNCLEAR}, "the budget was too small for xNES itself"


def test_damping():
    slow, stuck = {"joint": 0.05}, {"damping 0.01": 5, "damping 0.1": 5}
    assert verdicts("damping", slow, default=0.3, stops=stuck) == {AGREES}
    assert verdicts("damping", {"damping 1": 0.5}, default=0.3) == {DIFFERS}
    assert verdicts("damping", {}, default=0.05, stops=stuck) == {AGREES, UNCLEAR}
    assert verdicts("damping", slow, default=0.3, stops=stuck, runs=5) == {UNCLEAR}


def test_stalled_runs_are_those_that_stop_early_and_high():
    comparison = damping.FULL
    best = np.concatenate([descent(comparison, 2, *case, runs=1) if case else [] for case in ((0.1,), (1.0,))])
    early = descent(comparison, 2, 0.1, runs=1, stop=10)
    assert damping.stalled(comparison, 2, np.concatenate([best, early])).tolist() == [False, False, True]


def test_real_nvp():
    stuck = {"Real-NVP": 20}
    assert verdicts("real-nvp", {}, default=0.1, stops=stuck) == {AGREES}
    assert verdicts("real-nvp", {"GNN": 0.1, "Real-NVP": 0.2}, default=0.1) == {DIFFERS}
    assert verdicts("real-nvp", {}, default=0.1, stops=stuck, runs=5) == {UNCLEAR}


def test_history():
    assert verdicts("history", {}, default=0.3) == {AGREES}
    assert verdicts("history", {"5 generations": 0.3}, default=0.1) == {DIFFERS}
    assert verdicts("history", {"5 generations": 0.1}, default=0.3) == {AGREES}
    assert verdicts("history", {}, default=0.3, runs=5) == {UNCLEAR}
    assert UNCLEAR in verdicts("history", {}, default=10.2 / 60, runs=12), "half of the runs, by chance"


def test_first_penalty():
    assert verdicts("first-penalty", {}, default=0.3) == {AGREES}
    assert verdicts("first-penalty", {"lambda0": 0.3}, default=0.1) == {DIFFERS}
    assert verdicts("first-penalty", {"lambda0": 0.1}, default=0.3) == {DIFFERS}
    assert verdicts("first-penalty", {}, default=0.3, runs=5) == {UNCLEAR}


def test_any_latent():
    assert verdicts("any-latent", {"GNN": 0.2}, default=0.1) == {AGREES}
    assert verdicts("any-latent", {"GNN": 0.1}, default=0.2) == {DIFFERS}
    assert verdicts("any-latent", {"GNN": 0.2}, default=0.1, runs=5) == {UNCLEAR}
    comparison = replace(any_latent.FULL, algorithms=("SNES", "GNN-SNES"))
    cases = {Case("rosenbrock", 2, name): descent(comparison, 2, 0.1) for name in comparison.algorithms}
    cases["rosenbrock", 2, "GNN-SNES"][0] = np.inf
    (verdict,) = any_latent.judge(comparison, cases).verdicts
    assert verdict.verdict == DIFFERS
    assert verdict.ours.startswith("breaks down")


def test_bending():
    assert verdicts("bending", {"GNN": 0.2, "affine": 0.1}, default=0.1) == {AGREES}
    assert verdicts("bending", {"GNN": 0.1, "affine": 0.2}, default=0.1) == {DIFFERS}
    assert verdicts("bending", {}, default=0.1, runs=5) == {UNCLEAR}


def test_shares():
    """Wilson's interval as tabulated for 10 of 50, and a difference of shares that is symmetric."""
    value, interval, runs = share(np.arange(50) < 10)
    assert (value, runs) == (0.2, 50)
    np.testing.assert_allclose(interval, (0.1124, 0.3304), atol=1e-4)
    a, b = np.arange(40) < 30, np.arange(40) % 2 == 0
    there, back = share_difference(a, b), share_difference(b, a)
    assert there.value == -back.value == pytest.approx(0.25)
    np.testing.assert_allclose(there.interval, np.negative(back.interval)[::-1])


def test_registry():
    comparisons = [comparison for claim in CLAIMS.values() for comparison in (claim.experiment, claim.quick)]
    assert [claim.experiment.name for claim in CLAIMS.values()] == [f"claim-{key}" for key in CLAIMS]
    assert len({claim.title for claim in CLAIMS.values()}) == len(CLAIMS)
    assert len({algorithm.slug for algorithm in ALGORITHMS.values()}) == len(ALGORITHMS)
    assert all(algorithm.name == name and algorithm.against in ALGORITHMS for name, algorithm in ALGORITHMS.items())
    assert all(
        set(comparison.algorithms) <= set(ALGORITHMS) and len(set(comparison.algorithms)) == len(comparison.algorithms)
        for comparison in comparisons
    )
    for claim in CLAIMS.values():
        full, quick = claim.experiment, claim.quick
        assert set(quick.algorithms) < set(full.algorithms)
        assert quick.name == full.name
        assert all(quick.generations[d] < full.generations[d] for d in quick.generations)
        assert len(quick.units(5)) < len(full.units(claim.seeds)) / 3
        assert all(set(names) <= set(full.algorithms) and len(names) <= 8 for names in claim.rows.values())
        assert any(len(set(names) & set(quick.algorithms)) > 1 for names in claim.rows.values())
        assert all(mark % (10 * d) == 0 for d, marks in full.marks.items() for mark in marks)


def test_algorithms_that_jax_cannot_trace_run_from_few_seeds():
    units = any_latent.FULL.units(100)
    stops = {unit.method: max(each.stop for each in units if each.method == unit.method) - FIRST_SEED for unit in units}
    assert (stops["pycma"], stops["GNN-pycma"], stops["SNES"]) == (20, 20, 100)
    for name, algorithm in ALGORITHMS.items():
        assert algorithm.strategy(2).traceable == (algorithm.most_seeds is None), name


@pytest.mark.parametrize("method", ["pycma", "GNN-pycma"])
def test_pycma_is_a_latent(method):
    pytest.importorskip("cma")
    comparison = replace(any_latent.FULL, generations={2: 3}, algorithms=(method,))
    unit = SeedBlock(comparison.name, "rosenbrock", 2, method, 1, 2)
    best = comparison.run(unit)
    assert best.shape == (1, 3)
    assert np.all(np.diff(best) <= 0)
    np.testing.assert_array_equal(comparison.run(unit), best)


@pytest.mark.slow
def test_a_claim_from_end_to_end():
    pytest.importorskip("matplotlib")
    from thalweg_studies.paper.report.claims_figure import claims_figure

    claim = CLAIMS["plain-gradient"]
    comparison = replace(claim.quick, generations={2: 10}, block=2)
    cases = {unit.case: comparison.run(unit) for unit in comparison.units(2)}
    finding = claim.judge(comparison, cases)
    assert {verdict.verdict for verdict in finding.verdicts} == {UNCLEAR}
    assert len(finding.rows) == len(cases) == 6
    figure = claims_figure(claim, comparison, cases)
    assert len(figure.axes) == 4
    labels = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert labels == ["xNES (2 runs)", "PGES, rate 0.01 (2 runs)"]
    with pytest.raises(ValueError, match="two algorithms"):
        claims_figure(claim, replace(comparison, algorithms=("xNES",)), cases)

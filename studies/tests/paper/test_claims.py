"""The claims of the text: their rules on made-up data whose answer is known, and small real runs."""

from dataclasses import replace

import numpy as np
import pytest

from thalweg_studies.paper.arms import ARMS
from thalweg_studies.paper.claims import CLAIMS, any_latent, damping
from thalweg_studies.paper.claims.measure import share, share_difference
from thalweg_studies.paper.experiment import FIRST_SEED, Case, Unit
from thalweg_studies.paper.verdict import AGREES, DIFFERS, UNCLEAR

RUNS = 40


def descent(race, d, slope, *, runs=RUNS, seed=0, stop=np.inf):
    """Best values that fall by a factor of exp(-slope) a generation, up to a generation and with some luck."""
    generations = np.minimum(race.grid(d) / (10 * d), stop)
    luck = np.random.default_rng(seed).normal(scale=0.3, size=(runs, 1))
    return np.exp(1 + luck - slope * generations)


def verdicts(name, slopes, *, default, runs=RUNS, stops=None):
    """What the claim's rule says if arms whose names hold a word of `slopes` descend so fast; the last such word counts."""
    claim, stops = CLAIMS[name], stops or {}
    race, cases = claim.experiment, {}
    for i, (function, d, method) in enumerate((f, d, m) for f in race.functions for d in race.generations for m in race.arms):
        slope = [default, *(value for word, value in slopes.items() if word in method)][-1]
        stop = [np.inf, *(value for word, value in stops.items() if word in method)][-1]
        cases[Case(function, d, method)] = descent(race, d, slope, runs=runs, seed=i, stop=stop)
    finding = claim.judge(race, cases)
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
    race = damping.FULL
    best = np.concatenate([descent(race, 2, *case, runs=1) if case else [] for case in ((0.1,), (1.0,))])
    early = descent(race, 2, 0.1, runs=1, stop=10)
    assert damping.stalled(race, 2, np.concatenate([best, early])).tolist() == [False, False, True]


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
    race = replace(any_latent.FULL, arms=("SNES", "GNN-SNES"))
    cases = {Case("rosenbrock", 2, name): descent(race, 2, 0.1) for name in race.arms}
    cases["rosenbrock", 2, "GNN-SNES"][0] = np.inf
    (verdict,) = any_latent.judge(race, cases).verdicts
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
    races = [race for claim in CLAIMS.values() for race in (claim.experiment, claim.quick)]
    assert [claim.experiment.name for claim in CLAIMS.values()] == [f"claim-{key}" for key in CLAIMS]
    assert len({claim.title for claim in CLAIMS.values()}) == len(CLAIMS)
    assert len({arm.slug for arm in ARMS.values()}) == len(ARMS)
    assert all(arm.name == name and arm.against in ARMS for name, arm in ARMS.items())
    assert all(set(race.arms) <= set(ARMS) and len(set(race.arms)) == len(race.arms) for race in races)
    for claim in CLAIMS.values():
        full, quick = claim.experiment, claim.quick
        assert set(quick.arms) < set(full.arms)
        assert quick.name == full.name
        assert all(quick.generations[d] < full.generations[d] for d in quick.generations)
        assert len(quick.units(5)) < len(full.units(claim.seeds)) / 3
        assert all(set(names) <= set(full.arms) and len(names) <= 8 for names in claim.rows.values())
        assert any(len(set(names) & set(quick.arms)) > 1 for names in claim.rows.values())
        assert all(mark % (10 * d) == 0 for d, marks in full.marks.items() for mark in marks)


def test_arms_that_jax_cannot_trace_run_from_few_seeds():
    units = any_latent.FULL.units(100)
    stops = {unit.method: max(each.stop for each in units if each.method == unit.method) - FIRST_SEED for unit in units}
    assert (stops["pycma"], stops["GNN-pycma"], stops["SNES"]) == (20, 20, 100)
    for name, arm in ARMS.items():
        assert arm.strategy(2).traceable == (arm.most_seeds is None), name


@pytest.mark.parametrize("method", ["pycma", "GNN-pycma"])
def test_pycma_is_a_latent(method):
    pytest.importorskip("cma")
    race = replace(any_latent.FULL, generations={2: 3}, arms=(method,))
    unit = Unit(race.name, "rosenbrock", 2, method, 1, 2)
    best = race.run(unit)
    assert best.shape == (1, 3)
    assert np.all(np.diff(best) <= 0)
    np.testing.assert_array_equal(race.run(unit), best)


@pytest.mark.slow
def test_a_claim_from_end_to_end():
    pytest.importorskip("matplotlib")
    from thalweg_studies.report.claims_figure import claims_figure

    claim = CLAIMS["plain-gradient"]
    race = replace(claim.quick, generations={2: 10}, block=2)
    cases = {unit.case: race.run(unit) for unit in race.units(2)}
    finding = claim.judge(race, cases)
    assert {verdict.verdict for verdict in finding.verdicts} == {UNCLEAR}
    assert len(finding.rows) == len(cases) == 6
    figure = claims_figure(claim, race, cases)
    assert len(figure.axes) == 4
    labels = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert labels == ["xNES (2 runs)", "PGES, rate 0.01 (2 runs)"]
    with pytest.raises(ValueError, match="no two arms"):
        claims_figure(claim, replace(race, arms=("xNES",)), cases)

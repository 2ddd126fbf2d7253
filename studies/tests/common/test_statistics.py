"""Intervals, tests and verdicts on made-up data whose answers are known."""

import numpy as np
import pytest
from scipy import stats

from thalweg_studies.common import statistics
from thalweg_studies.common.algorithms import ALGORITHMS
from thalweg_studies.common.experiment import Case
from thalweg_studies.paper import fig4, table1

GRID = np.array([20, 40, 80, 90, 100])


def columns(final):
    """Best values over the grid that end in the given ones."""
    final = np.asarray(final, float)
    return np.stack([final + extra for extra in (9.0, 3.0, 1.0, 0.0, 0.0)], 1)


def test_mean_interval_is_the_bootstrap_of_scipy():
    values = np.random.default_rng(1).exponential(size=80)
    reference = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(2))
    np.testing.assert_allclose(statistics.mean_interval(values), reference.confidence_interval, atol=0.01)


def test_next_mean_interval_holds_the_mean_of_other_runs():
    """Of 400 means, 95% should be inside: fewer than 92.5% or more than 97.5% has a chance below 3%, and the seed is fixed."""
    rng = np.random.default_rng(6)
    inside = 0
    for _ in range(400):
        low, high = statistics.next_mean_interval(rng.normal(size=40), 20)
        inside += low <= rng.normal(size=20).mean() <= high
    assert 370 <= inside <= 390


def test_median_ratio_is_scale_free_and_covers():
    rng = np.random.default_rng(3)
    landscape = rng.normal(size=100)
    slow, fast = np.exp(landscape + 0.1 * rng.normal(size=100)), np.exp(landscape + 0.1 * rng.normal(size=100)) / 10
    ratio, (low, high) = statistics.median_ratio(slow, fast)
    assert low < ratio < high
    assert low < 10 < high
    np.testing.assert_allclose(statistics.median_ratio(1e-12 * slow, 1e-12 * fast)[0], ratio)
    assert statistics.median_ratio(np.zeros(9), np.zeros(9)) == (1.0, (1.0, 1.0))


def test_paired_test_leaves_out_the_same_minimum():
    rng = np.random.default_rng(4)
    a, b = rng.random(40), rng.random(40)
    assert statistics.paired_p(a, b) == pytest.approx(stats.wilcoxon(a, b).pvalue)
    ties = np.concatenate([a, np.zeros(60)]), np.concatenate([b, np.full(60, 1e-20)])
    assert statistics.paired_p(*ties, same=1e-6) == pytest.approx(stats.wilcoxon(a, b).pvalue)


def test_table1_entry_of_styblinski():
    latent, own = table1.WRONG * np.array([0, 1, 2, 1] * 5), table1.WRONG * np.array([0, 0, 1, 2] * 5)
    entry = table1.describe(Case("styblinski", 2, "GNN-CMA-ES"), columns(own), columns(latent), GRID)
    assert entry.wrong == 0.75
    assert entry.mean == pytest.approx(0.75 * table1.WRONG)
    assert entry.interval[0] < entry.mean < entry.interval[1]
    assert (entry.better, entry.worse, entry.runs) == (10, 5, 20)
    assert entry.paper == 5.65
    assert entry.verdict == "agrees"
    assert entry.settled == 1
    assert entry.p == pytest.approx(stats.wilcoxon((own - latent)[own != latent]).pvalue)


def test_table1_verdict_and_columns_of_the_paper():
    far = table1.describe(Case("griewank", 2, "xNES"), columns(np.zeros(20)), None, GRID)
    assert far.verdict == "differs"
    few = table1.describe(Case("griewank", 2, "xNES"), columns(np.zeros(19)), None, GRID)
    assert few.verdict == "not clear"
    assert (far.p, far.better, far.wrong) == (None, None, None)
    methods = ("CMA-ES", "GNN-CMA-ES", "GNN-CMA-ES (paper)", "xNES", "GNN-xNES", "GNN-xNES (paper)")
    entries = [table1.describe(Case("beale", 4, method), columns(np.zeros(3)), None, GRID) for method in methods]
    assert [entry.paper for entry in entries] == [0.10, 0.06, 0.06, 0.34, 0.09, 0.09]


def test_table1_says_which_runs_still_improve():
    best = columns(np.zeros(4))
    best[:3, 3] = 1e-3
    assert table1.describe(Case("beale", 2, "CMA-ES"), best, None, GRID).settled == 0.25


def test_table1_pairs_the_first_seeds_where_an_arm_has_fewer():
    latent = columns(np.arange(10.0))
    entry = table1.describe(Case("rastrigin", 4, "GNN-xNES (paper)"), columns(np.arange(4.0) + 1), latent, GRID)
    assert (entry.better, entry.worse, entry.runs) == (0, 4, 4)


def test_table1_counts_beales_valley_as_one_minimum():
    latent, own = columns([0.50, 0.46, 0.0, 0.0]), columns([0.48, 0.47, 0.0, 0.46])
    entry = table1.describe(Case("beale", 2, "GNN-CMA-ES"), own, latent, GRID)
    assert (entry.better, entry.worse) == (0, 1)


@pytest.mark.parametrize(("factor", "outcome"), [(0.1, fig4.AHEAD), (10.0, fig4.BEHIND)])
def test_fig4_outcome(factor, outcome):
    latent = np.exp(np.random.default_rng(5).normal(size=60))
    entry = fig4.describe(Case("rosenbrock", 10, "GNN-CMA-ES"), 10_000, factor * latent, latent)
    assert entry.outcome == outcome
    assert entry.lower == pytest.approx(1 / factor)
    assert entry.p < 1e-6
    same = fig4.describe(Case("rosenbrock", 10, "GNN-CMA-ES"), 10_000, np.roll(latent, 1), latent)
    assert same.outcome == fig4.EVEN


def test_every_case_has_the_paper_beside_it():
    assert {(f, d) for f in table1.FULL.functions for d in table1.FULL.generations} == set(table1.PAPER)
    latents = ("CMA-ES", "xNES")
    assert {(f, d, n) for f in fig4.FULL.functions for d in fig4.FULL.generations for n in latents} == set(fig4.PAPER)


@pytest.mark.parametrize(("factor", "verdict"), [(0.05, "agrees"), (0.5, "differs"), (1.0, "differs"), (10.0, "differs")])
def test_fig4_verdict_of_a_valley_where_the_paper_is_10_times_ahead(factor, verdict):
    latent = np.exp(np.random.default_rng(5).normal(size=60))
    case = Case("rosenbrock", 10, "GNN-CMA-ES (paper)")
    entries = [fig4.describe(case, mark, factor * latent, latent) for mark in (5000, 10_000)]
    (found,) = fig4.verdicts(entries)
    assert found.verdict == verdict
    assert found.ours.endswith("at 10,000")
    assert bool(found.why) == (verdict == "differs")
    assert found.why.startswith("ahead, but by less") == (factor == 0.5)
    few = [fig4.describe(case, 5000, factor * latent[:9], latent[:9])]
    assert fig4.verdicts(few)[0].verdict == "not clear"


def test_table1_verdicts_name_the_algorithms_that_differ():
    paper = dict(zip(("CMA-ES", "GNN-CMA-ES", "xNES", "GNN-xNES"), table1.PAPER["beale", 2], strict=True))
    paper["xNES"] = 0.4
    rng = np.random.default_rng(7)
    cases = {
        Case("beale", 2, method): columns(value + 0.02 * rng.normal(size=40))
        for method, value in (*paper.items(), ("GNN-CMA-ES (paper)", 0.05), ("GNN-xNES (paper)", 0.09))
    }
    entries = [
        table1.describe(case, best, cases.get(case._replace(method=ALGORITHMS[case.method].against)), GRID)
        for case, best in cases.items()
    ]
    library, literal, sentence, literal_sentence = table1.verdicts(entries)
    assert library.verdict == "differs"
    assert library.why.startswith("xNES")
    assert "GNN-xNES" not in library.why
    assert literal.verdict == "agrees"
    assert sentence.verdict == literal_sentence.verdict == "agrees"
    assert "clearly better on 1 of 1" in sentence.ours

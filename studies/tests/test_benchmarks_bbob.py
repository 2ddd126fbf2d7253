"""The tables of docs/bbob.md are those of the committed runs, and the runs are what they say."""

import json
import re
from math import inf
from pathlib import Path

import pytest

from thalweg_studies.bbob.benchmark import Benchmark
from thalweg_studies.bbob.plan import Settings, trials
from thalweg_studies.bbob.record import LADDER, Run, encode
from thalweg_studies.common.results import ResultsFolder

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "bbob.md"


@pytest.fixture
def pack(benchmark):
    return benchmark("bbob_pack")


@pytest.fixture
def study(benchmark):
    return benchmark("bbob_study")


def test_the_tables_on_the_page_are_those_of_the_runs(benchmark, study, pack):
    split, page, runs = benchmark("shared").split_at_markers, PAGE.read_text(), study.Study(pack.files())
    for name, table in benchmark("bbob_tables").TABLES.items():
        assert split(page, name)[1].strip() == table(runs)


def test_the_runs_are_those_of_the_report_within_the_budget(pack):
    for content in pack.files():
        settings = content["manifest"]["settings"]
        assert content["instances"] == list(range(6, 16))
        assert content["targets"] == pytest.approx(LADDER)
        assert settings == Settings(seed=settings["seed"]).as_json()
        for (_, d, _), runs in pack.load([content]).items():
            assert {seed for seed, _ in runs} == {settings["seed"]}
            for run in runs.values():
                reached = [hit for hit in run.hits if hit < inf]
                assert run.evaluations <= settings["budget"] * d
                assert reached == sorted(reached)
                assert all(1 <= hit <= run.evaluations for hit in reached)
                assert (len(reached) == len(LADDER)) == (run.best <= 1e-8)


def folder_of_runs(pack, folder, who, run, seed=1):
    """Make a results folder in which all runs of an entrant in dimension 3 are the same."""
    folder.mkdir(exist_ok=True)
    store = ResultsFolder(folder, Benchmark(Settings(), folder))
    (folder / "manifest.json").write_text(json.dumps({"machine": "here", "settings": {"seed": seed}}))
    for unit in trials([who], pack.FUNCTIONS, [3], pack.INSTANCES):
        store.path(unit).parent.mkdir(parents=True, exist_ok=True)
        store.path(unit).write_text(encode(run))
    return store


def run_with_hits(evaluations, reached):
    """Make a run that took so many evaluations for each of the first targets."""
    hits = tuple(float(evaluations * (i + 1)) for i in range(reached))
    return Run(evaluations * len(LADDER), 0.5, 1, hits + (inf,) * (len(LADDER) - reached))


def test_a_folder_is_packed_without_loss(pack, tmp_path):
    run = run_with_hits(3, 2)
    store = folder_of_runs(pack, tmp_path, pack.LATENT, run)
    pack.pack(tmp_path, tmp_path / "bbob_3.json.gz")
    results = pack.load(pack.files(tmp_path))
    assert {d for _, d, _ in results} == {3}
    assert results[pack.LATENT, 3, 24][1, 15] == run
    store.path(trials([pack.LATENT], [24], [3], [15])[0]).unlink()
    with pytest.raises(KeyError):
        pack.pack(tmp_path, tmp_path / "bbob_3.json.gz")


def test_seeds_are_pooled_where_both_have_them(study, pack, tmp_path):
    for seed, flow in ((2, 4), (1, 2)):
        for who, evaluations in ((pack.FLOW, flow), (pack.LATENT, 4)):
            folder_of_runs(pack, tmp_path / str(seed), who, run_with_hits(evaluations, len(LADDER)), seed)
    folder_of_runs(pack, tmp_path / "1", pack.AFFINE, run_with_hits(1, len(LADDER)))
    for seed in (2, 1):
        pack.pack(tmp_path / str(seed), tmp_path / f"bbob_{seed}.json.gz")
    runs = study.Study(pack.files(tmp_path))
    assert [pack.seed(content) for content in runs.contents] == [1, 2]
    assert runs.hardest(pack.FLOW, pack.LATENT, 3)[8].ratio == pytest.approx(3 / 4)  # (2 + 4) / (4 + 4)
    assert runs.hardest(pack.AFFINE, pack.LATENT, 3)[8].ratio == pytest.approx(1 / 4)  # of seed 1 alone
    assert runs.mean(pack.FLOW, pack.LATENT, [3], [8, 9]).startswith("0.75 [0.6")
    assert len(runs.pairs(pack.FLOW, pack.AFFINE, 3, 8)) == 10
    assert [runs.runs(who, 3) for who in (pack.FLOW, pack.AFFINE)] == [480, 240]
    assert len(runs.solved(pack.FLOW, 3)) == 480


def test_a_target_that_not_all_reach_has_a_star_and_counts(study, pack):
    run, none = run_with_hits(1, 3), run_with_hits(1, 0)
    runs = {(1, i): run if i < 9 else none for i in pack.INSTANCES}
    results = {(who, 3, 8): runs for who in (pack.FLOW, pack.LATENT)}
    row = next(row for row in study.compared(results, pack.FLOW, pack.LATENT) if row.rule == study.AT_ALL)
    assert study.with_target(row) == "1.00* [1.00, 1.00] at 40 (3, 3 of 10)"


def test_shares_and_verdicts(study):
    assert study.wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)  # R: binom::binom.wilson(5, 10)
    assert study.share(0, 10) == "0 of 10: 0% [0%, 28%]"
    assert [study.verdict(r, 0.95) for r in (0.95, 0.951)] == ["0.950 of 0.95", "0.951 missed 0.95"]


def test_the_figures_are_there():
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", PAGE.read_text())
    assert len(shown) == 3
    for name in shown:
        assert (PAGE.parent / name).read_bytes().startswith(b"\x89PNG")

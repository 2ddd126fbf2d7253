"""The tables of docs/bbob.md are those of the committed runs, and the runs are what they say."""

import importlib
import json
import re
from math import inf
from pathlib import Path

import pytest

from thalweg.experiments.bbob.plan import Settings, units
from thalweg.experiments.bbob.record import LADDER, Run, encode
from thalweg.experiments.bbob.store import Store

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "bbob.md"


@pytest.fixture
def module(benchmark):
    return benchmark("bbob_tables")


def test_the_tables_on_the_page_are_those_of_the_runs(module):
    between, page, study = importlib.import_module("valley_study").between, PAGE.read_text(), module.Study(module.files())
    for name, table in module.TABLES.items():
        assert between(page, name)[1].strip() == table(study)


def test_the_runs_are_those_of_the_report_within_the_budget(module):
    for content in module.files():
        settings = content["manifest"]["settings"]
        assert content["instances"] == list(range(6, 16))
        assert content["targets"] == pytest.approx(LADDER)
        assert settings == Settings().as_json()
        for (_, d, _), runs in module.load([content]).items():
            for run in runs.values():
                reached = [hit for hit in run.hits if hit < inf]
                assert run.evaluations <= settings["budget"] * d
                assert reached == sorted(reached)
                assert all(1 <= hit <= run.evaluations for hit in reached)
                assert (len(reached) == len(LADDER)) == (run.best <= 1e-8)


def test_a_folder_is_packed_without_loss(module, tmp_path):
    run = Run(70, 0.5, 1, (3.0, 7.0, *(inf,) * (len(LADDER) - 2)))
    store = Store(tmp_path, Settings())
    (tmp_path / "manifest.json").write_text(json.dumps({"machine": "here"}))
    for unit in units([module.LATENT], module.FUNCTIONS, [3], module.INSTANCES):
        store.path(unit).parent.mkdir(parents=True, exist_ok=True)
        store.path(unit).write_text(encode(run))
    module.pack(tmp_path, tmp_path / "bbob_3.json.gz")
    results = module.load(module.files(tmp_path))
    assert {d for _, d, _ in results} == {3}
    assert results[module.LATENT, 3, 24][15] == run
    store.path(units([module.LATENT], [24], [3], [15])[0]).unlink()
    with pytest.raises(KeyError):
        module.pack(tmp_path, tmp_path / "bbob_3.json.gz")


def test_shares_and_verdicts(module):
    assert module.wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)  # R: binom::binom.wilson(5, 10)
    assert module.share(0, 10) == "0 of 10: 0% [0%, 28%]"
    assert [module.verdict(r, 0.95) for r in (0.95, 0.951)] == ["0.950 of 0.95", "0.951 missed 0.95"]


def test_the_figures_are_there():
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", PAGE.read_text())
    assert len(shown) == 3
    for name in shown:
        assert (PAGE.parent / name).read_bytes().startswith(b"\x89PNG")

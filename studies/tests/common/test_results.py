"""The results folder and the work loop: complete files or none, nothing computed twice, clear errors for other folders."""

import csv
import itertools
import json
import threading

import numpy as np
import pytest

from thalweg_studies.common.experiment import FIRST_SEED, compute
from thalweg_studies.common.results import open_results, origin, origins, read_manifest
from thalweg_studies.paper.comparison import Comparison

SMALL = Comparison(
    "small", ("sphere", "rosenbrock"), {2: 30, 3: 20}, algorithms=("CMA-ES", "GNN-CMA-ES"), marks={2: (100,)}, block=2
)


@pytest.fixture
def computed(monkeypatch):
    """Units are made up instead of run; the list says which."""
    units = []

    def made_up(experiment, unit):
        units.append(unit)
        rng = np.random.default_rng([unit.first, unit.dimension, len(unit.method), len(unit.function)])
        return np.sort(rng.random((len(unit.seeds), len(experiment.grid(unit.dimension)))))[:, ::-1]

    monkeypatch.setattr(Comparison, "run", made_up)
    return units


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_second_run_computes_nothing_and_changes_no_byte(tmp_path, computed):
    compute(tmp_path / "a", SMALL, seeds=3)
    units = SMALL.units(3)
    assert computed
    assert sorted(computed) == sorted(units)
    before = contents(tmp_path / "a")
    compute(tmp_path / "a", SMALL, seeds=3)
    assert len(computed) == len(units)
    assert contents(tmp_path / "a") == before
    compute(tmp_path / "b", SMALL, seeds=3)
    assert contents(tmp_path / "b") == before


@pytest.mark.parametrize("harm", ["missing", "cut within a number", "cut after a row", "empty", "another's", "not text"])
def test_only_a_harmed_part_is_computed_again(tmp_path, computed, harm):
    compute(tmp_path, SMALL, seeds=4)
    results, units = open_results(tmp_path, SMALL), SMALL.units(4)
    before = contents(tmp_path)
    victim = units[3]
    path = results.path(victim)
    content = path.read_bytes()
    if harm == "missing":
        path.unlink()
    else:
        harmed = {
            "cut within a number": content[:-5],
            "cut after a row": content[: content[:-1].rindex(b"\n") + 1],
            "empty": b"",
            "another's": results.path(units[4]).read_bytes(),
            "not text": b"\xff" * 100,
        }
        path.write_bytes(harmed[harm])
    computed.clear()
    compute(tmp_path, SMALL, seeds=4)
    assert computed == [victim]
    assert contents(tmp_path) == before


def test_a_killed_run_goes_on_where_it_stopped(tmp_path, computed, monkeypatch):
    killed_folder, original = tmp_path / "killed", Comparison.run

    def killed(experiment, unit):
        if len(computed) == 5:
            raise KeyboardInterrupt
        return original(experiment, unit)

    monkeypatch.setattr(Comparison, "run", killed)
    with pytest.raises(KeyboardInterrupt):
        compute(killed_folder, SMALL, seeds=4)
    assert not (killed_folder / "small.csv").exists()
    monkeypatch.setattr(Comparison, "run", original)
    compute(killed_folder, SMALL, seeds=4)
    units = SMALL.units(4)
    assert len(computed) == len(set(computed)) == len(units)
    compute(tmp_path / "straight", SMALL, seeds=4)
    assert contents(tmp_path / "killed") == contents(tmp_path / "straight")


def test_more_seeds_add_units_and_redo_none(tmp_path, computed):
    for seeds in (2, 6):
        compute(tmp_path, SMALL, seeds=seeds)
    few, more = SMALL.units(2), SMALL.units(6)
    assert set(few) < set(more)
    assert len(computed) == len(more) == 3 * len(few)


def test_the_tidy_file_has_every_run_at_every_kept_evaluation(tmp_path, computed):
    compute(tmp_path, SMALL, seeds=3)
    results, units = open_results(tmp_path, SMALL), SMALL.units(3)
    with (tmp_path / "small.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["function", "dimension", "method", "seed", "evaluations", "best_f"]
    keys = [(r["function"], r["dimension"], r["method"], r["seed"], r["evaluations"]) for r in rows]
    assert len(keys) == len(set(keys)) == 2 * 2 * 3 * (len(SMALL.grid(2)) + len(SMALL.grid(3)))
    last = max(units)  # a block of one seed
    chosen = [r for r in rows if (r["function"], int(r["dimension"]), r["method"], int(r["seed"])) == last[1:5]]
    assert last.seeds == range(FIRST_SEED + 2, FIRST_SEED + 3)
    assert [float(r["best_f"]) for r in chosen] == results.read(last)[0].tolist()  # to the last digit
    assert [int(r["evaluations"]) for r in chosen] == SMALL.grid(last.dimension).tolist()


def test_a_foreign_folder_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(ValueError, match=r"no manifest\.json"):
        open_results(tmp_path, SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"format": "other"}', '{"format": "x", "versions": {}, "experiments": 3}']
)
def test_a_broken_manifest_is_named(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ValueError, match=r"manifest\.json is broken"):
        open_results(tmp_path, SMALL)
    assert (tmp_path / "manifest.json").read_text() == text


def test_other_settings_and_other_versions_do_not_mix(tmp_path):
    open_results(tmp_path, SMALL)
    other = Comparison("small", SMALL.functions, {2: 31, 3: 20}, marks=SMALL.marks, algorithms=SMALL.algorithms, block=2)
    with pytest.raises(ValueError, match=r"other settings \(evaluations; generations"):
        open_results(tmp_path, other)
    open_results(tmp_path, Comparison("beside", ("sphere",), {2: 5}))  # another experiment may share the folder
    open_results(tmp_path, SMALL)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["versions"]["jax"] = "0.0"
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="other versions"):
        open_results(tmp_path, SMALL)


def test_where_digits_may_differ_other_versions_go_on_and_are_named(tmp_path, computed):
    class Loose(Comparison):
        exact = False

    loose = Loose("loose", ("sphere",), {2: 5}, algorithms=SMALL.algorithms[:1], block=1)
    open_results(tmp_path, loose)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["versions"]["jax"] = "0.0"
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    open_results(tmp_path, loose)
    assert len(origins(read_manifest(tmp_path, loose.format))) == 1  # nothing was done here yet
    for _ in range(2):
        compute(tmp_path, loose, seeds=2)
    first, second = origins(read_manifest(tmp_path, loose.format))
    assert first["versions"]["jax"] == "0.0"
    assert second == origin(loose)


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is not a folder"):
        open_results(tmp_path / "file", SMALL)


def test_progress_ends_at_the_whole_and_counts_what_was_there(tmp_path, computed):
    seen = []
    compute(tmp_path, SMALL, seeds=2)
    compute(tmp_path, SMALL, seeds=4, report=seen.append)
    units = SMALL.units(4)
    assert [progress.done for progress in seen] == list(range(len(units) // 2, len(units) + 1))
    assert seen[0].seconds_left is None
    assert seen[-1].share == 1
    assert seen[-1].seconds_left == 0
    assert all(a.share < b.share for a, b in itertools.pairwise(seen))


def test_progress_of_units_under_way(tmp_path, computed, monkeypatch):
    seen, told = [], threading.Event()

    def run(experiment, unit):
        assert told.wait(60)
        return original(experiment, unit)

    def hear(progress):
        seen.append(progress)
        if progress.share > seen[0].share:
            told.set()

    original = Comparison.run
    monkeypatch.setattr(Comparison, "run", run)
    monkeypatch.setattr(Comparison, "begun", lambda *_: 0.5 if seen else 0.25)
    compute(tmp_path, SMALL, seeds=1, report=hear)
    units = SMALL.units(1)
    assert seen[0].share == pytest.approx(0.25)
    assert seen[1].done == 0
    assert seen[1].share == pytest.approx(0.5)
    assert seen[1].seconds_left is not None
    assert (seen[-1].done, seen[-1].share) == (len(units), 1)


def test_grid_holds_marks_start_and_end():
    grid = SMALL.grid(2)
    assert grid[0] == 20
    assert grid[-1] == 600
    assert 100 in grid
    assert np.all(np.diff(grid) > 0)
    assert np.all(grid % 20 == 0)

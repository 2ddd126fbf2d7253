"""`thalweg demo`: the same start for all algorithms, the snapshot, the progress, the table and the pictures."""

import functools
import importlib
import io
from dataclasses import replace
from pathlib import Path
from threading import active_count

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner
from rich.console import Console

from thalweg.batch.run_many import Trajectories, run_many
from thalweg.cli.app import app
from thalweg.cli.demo import AFFINE, ALGORITHMS, CMA, FIRST_SEED, GNN_CMA, SNAPSHOT_SEARCH, DemoSettings
from thalweg.objectives import make_problems
from thalweg.plots.density import draw, reach
from thalweg.strategies.registry import make_strategy

demo = importlib.import_module("thalweg.cli.demo")  # the package has a command of this name

SMALL = DemoSettings(seeds=2, dimension=2, max_evals=700, target=1e-2, snapshots=2, popsize_2d=20, generations_2d=4)


def test_an_algorithm_runs_from_the_seeds_of_the_demonstration():
    """The same as `run_many` on the same landscapes, generation by generation, standing still from the target on."""
    seeds = range(FIRST_SEED, FIRST_SEED + 2)
    fun, landscapes = make_problems("rosenbrock", 2, seeds)
    strategy = make_strategy("cma", popsize=20)
    expected = run_many(strategy, fun, np.zeros(2), seeds=seeds, generations=35, args=(landscapes,), ftarget=SMALL.target)
    runs = demo.run_algorithm(SMALL, CMA, lambda *_: None)
    np.testing.assert_array_equal(runs.evaluations, expected.evaluations)
    np.testing.assert_allclose(runs.best, expected.best, rtol=1e-9)
    np.testing.assert_allclose(runs.x, expected.x, rtol=1e-9)
    assert np.all(runs.fun <= SMALL.target)


@pytest.mark.check
def test_all_algorithms_begin_with_the_same_points_and_all_work_is_reported():
    done = dict.fromkeys([*ALGORITHMS, SNAPSHOT_SEARCH], 0)

    def report(name: str, steps: int, note: str) -> None:
        done[name] += steps
        assert note == "compiling" or note.startswith("run ")

    threads = active_count()
    runs, snapshot = demo.run_demo(SMALL, report)
    assert list(runs) == [GNN_CMA, CMA, AFFINE]
    first, *others = (run.best[:, 0] for run in runs.values())
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-9)
    assert len({run.best[0, 8] for run in runs.values()}) == 3, "but they go different ways"
    assert done == dict.fromkeys(ALGORITHMS, 2 * 35) | {SNAPSHOT_SEARCH: 2 * 4}
    assert active_count() == threads

    # the snapshot is the run and the generation that it claims to be
    assert 1 <= snapshot.generation <= 4
    assert {es.nit for es in snapshot.searches.values()} == {snapshot.generation}
    assert len({es.seed for es in snapshot.searches.values()} & {FIRST_SEED, FIRST_SEED + 1}) == 1
    bent, straight = snapshot.searches[GNN_CMA], snapshot.searches[CMA]
    assert demo.bend(draw(bent, 2000)) == pytest.approx(snapshot.bend)
    assert abs(demo.bend(draw(straight, 2000))) < 0.1  # 0 but for sampling
    assert snapshot.bend > 0


def test_the_picture_shows_the_way_to_the_minimum_where_it_can():
    snapshot = demo.clearest_bend(replace(SMALL, snapshots=31, popsize_2d=100, generations_2d=3), lambda *report: None)
    assert reach(snapshot.searches[GNN_CMA], [1.0, 1.0]) > 1
    assert reach(snapshot.searches[CMA], [1.0, 1.0]) < 0.01


def test_an_error_ends_all_threads():
    def report(name: str, steps: int, note: str) -> None:
        if steps:
            raise KeyboardInterrupt

    threads = active_count()
    with pytest.raises(KeyboardInterrupt):
        demo.run_demo(SMALL, report)
    assert active_count() == threads


def test_bend_is_that_of_a_parabola():
    """x_2 = c x_1^2 + w u has the height c s^2 at s, the width w and the length |(s, std x_2)|, for s = 1."""
    rng = np.random.default_rng(0)
    x, u = rng.standard_normal((2, 20_000))
    for c, w in ((0.0, 0.5), (0.3, 0.5), (-0.3, 0.5)):
        expected = c / np.sqrt(w * np.hypot(1, np.hypot(np.sqrt(2) * c, w)))
        assert demo.bend(np.stack([x, c * x**2 + w * u], 1)) == pytest.approx(expected, abs=0.02)
    assert demo.bend(1e-3 * np.stack([x, x**2 + u], 1)) == 0, "too small to be seen"


def test_settings_follow_the_paper():
    assert (DemoSettings().popsize, DemoSettings().generations, DemoSettings(max_evals=24_001).generations) == (100, 240, 241)


def test_demo_prints_a_table_and_writes_two_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(demo, "DemoSettings", functools.partial(DemoSettings, popsize_2d=20, generations_2d=3))
    out = tmp_path / "new" / "folder"
    tiny = ("--dimension", "2", "--seeds", "2", "--max-evals", "1000", "--snapshots", "2")
    result = CliRunner().invoke(app, ["demo", "--out", str(out), *tiny], prog_name="thalweg")
    assert result.exit_code == 0, result.output
    assert "2 seeds" in result.stdout
    for algorithm in ALGORITHMS:
        assert algorithm in result.stdout
    assert "ratio to CMA-ES" in result.stdout
    assert result.stderr == "", "no progress in a pipe"
    assert "\x1b" not in result.stdout
    for name in ("convergence.png", "bend.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")
        assert str(out / name) in result.stdout


def trajectories(best: list[list[float]]) -> Trajectories:
    values = np.array(best)
    return Trajectories(np.array([5000, 10_000, 20_000]), values, values, np.zeros((len(values), 10)), {})


def test_summary_has_medians_and_their_ratio():
    runs = {
        "GNN-CMA-ES": trajectories([[4, 1, 1e-9], [4, 1, 1e-9], [8, 8, 8]]),
        "CMA-ES": trajectories([[8, 4, 1e-9], [8, 5, 1e-9], [2, 2, 2]]),
        "affine flow, no bend": trajectories([[8, 2, 1], [8, 2, 1], [8, 2, 1]]),
    }
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(demo.summary_table(DemoSettings(seeds=3), runs))
    rows = {line[:21].strip(): line[21:].split() for line in console.export_text().splitlines()}
    assert rows["GNN-CMA-ES"] == ["4", "1", "1", "20,000", "2", "of", "3"]
    assert rows["affine flow, no bend"] == ["8", "2", "2", "-", "0", "of", "3"]
    assert rows["ratio to CMA-ES"] == ["0.5", "0.25", "0.25", "1.00"]


def test_progress_shows_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def run_demo(settings, report):
        for name in [*ALGORITHMS, SNAPSHOT_SEARCH]:
            report(name, 0, "compiling")
            report(name, 1, "run 1 of 1")

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(demo, "run_demo", run_demo)
    demo.run_with_progress(DemoSettings(seeds=1))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "run 1 of 1" in shown.err
    assert SNAPSHOT_SEARCH in shown.err

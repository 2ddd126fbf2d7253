"""The figure of a run: its panels show what was recorded, and nothing else."""

import numpy as np
import pytest

import thalweg
from thalweg import plots
from thalweg.plots.curves import LARGEST, spread, thinned
from thalweg.plots.panels import ground
from thalweg.plots.recorded import read
from thalweg.plots.style import line_style
from thalweg.storage.log import Evaluation, open_log

pytest.importorskip("matplotlib")


def panels(figure):
    return {axes.get_ylabel().split(" per ")[-1]: axes for axes in figure.axes}


def lines(axes):
    return {line.get_label(): line.get_xydata() for line in axes.lines}


def write(path, rows):
    with open_log(path, resume=False) as log:
        log.append(rows)
    return path


def row(i, f=1.0, *, d=1, run=0, error=None, seconds=None):
    return Evaluation(run, i // 4, i % 4, np.full(d, float(i)), f, error, None, seconds, 1)


def test_the_panels_show_what_was_recorded(run):
    result, path = run
    recorded = read(path)
    axes = panels(plots.run(path))
    table, numbers = recorded.evaluations, recorded.generations
    base, _ = ground(recorded.best_so_far[np.isfinite(recorded.best_so_far)])
    label = f"f - {base:.7g}" if base else "f"
    assert list(axes) == [label, "standard deviation", "scaled mean", "failed evaluations", "evaluation"]
    best, median = lines(axes[label]).values()
    steps = best[~np.isnan(best[:, 1])]
    below = np.searchsorted(steps[:, 0], recorded.number, side="right") - 1
    found, value = steps[below[below >= 0], 1], recorded.best_so_far[below >= 0]
    assert np.array_equal(found[value > base], value[value > base] - base)
    assert np.all(found[value == base] < axes[label].get_ylim()[0])
    f = np.where(table.failed, np.nan, table.f).reshape(9, 6)
    middle = np.nanmedian(f, axis=1)
    assert np.array_equal(median[:, 0], np.arange(6, 55, 6))
    assert np.array_equal(median[:, 1], np.where(middle > base, middle - base, np.nan), equal_nan=True)
    assert np.array_equal(lines(axes["standard deviation"])["sigma"], np.stack([numbers.nfev, numbers.sigma], 1))
    rate, width = (line.get_ydata() for line in axes["scaled mean"].lines)
    assert np.allclose(width, (numbers.mean[:, 1] - numbers.mean[-1, 1]) / numbers.std[0, 1])
    assert np.allclose(np.sign(rate), np.sign(np.log(numbers.mean[:, 0] / numbers.mean[-1, 0])))
    assert [text.get_text().split(" = ")[0] for text in axes["scaled mean"].texts] == ["rate", "width"]
    (failed,) = lines(axes["failed evaluations"]).values()
    assert failed[-1].tolist() == [54, result.failures]
    crosses, dots, middle = (line.get_xydata() for line in axes["evaluation"].lines)
    assert crosses[:, 0].tolist() == recorded.number[table.failed].tolist()
    assert sorted([*dots[:, 0], *crosses[:, 0]]) == list(range(1, 55))
    assert middle[0].tolist() == [11, 1e6 * np.median(table.seconds[:11])]
    alone = lines(panels(plots.run(result))["failed evaluations"])["all reasons"]
    assert np.array_equal(alone, np.stack([result.history.nfev, result.history.failures], 1))
    assert {panel.get_xlabel() for panel in axes.values()} == {"evaluations"}


def test_a_log_without_numbers_of_the_search_shows_what_it_has(tmp_path):
    path = write(tmp_path / "bare.jsonl", [row(i, f) for i, f in enumerate([4.0, 3.0, 5.0, 3.5, 2.0])])
    figure = plots.run(path, title="mine")
    (axes,) = figure.axes
    assert figure.get_suptitle() == "mine"
    assert lines(axes)["best so far, in the end 2"].tolist() == [[1, 4], [2, 3], [5, 2]]
    assert lines(axes)["median of a generation"].tolist() == [[4, 3.75], [5, 2]]


def test_one_evaluation_and_none(tmp_path):
    one = plots.run(write(tmp_path / "one.jsonl", [row(0, seconds=0.25)]))
    assert [axes.get_ylabel() for axes in one.axes] == ["f", "ms per evaluation"]
    failed = plots.run(write(tmp_path / "failed.jsonl", [row(0, np.nan, error="no licence")]))
    assert list(lines(failed.axes[0])) == ["no licence"]
    with pytest.raises(ValueError, match="nothing to draw"):
        plots.run(write(tmp_path / "none.jsonl", []))


def test_restarts_are_marked_and_cut_the_curves(tmp_path):
    rows = [row(i, 9.0 - i, run=i // 4) for i in range(8)]  # the axis is linear
    axes = plots.run(write(tmp_path / "run.jsonl", rows)).axes[0]
    found = lines(axes)
    assert found["restart"][:, 0].tolist() == [5, 5]
    assert np.isnan(found["median of a generation"]).any(axis=1).tolist() == [False, True, False]


def test_values_that_a_logarithm_cannot_show():
    assert ground(np.array([1e3, 1e-9])) == (0.0, True)
    assert ground(np.array([5.0, -3.0, -3.9, -4.0])) == (-4.0, True)
    assert ground(np.array([5643.9, 5643.01, 5643.0])) == (5643.0, True)
    assert ground(np.array([900.0, 12.0, 9.0 + 1e-9, 9.0])) == (9.0, True)
    assert ground(np.array([3.0])) == (0.0, False)


def test_twenty_coordinates_of_many_and_few_points_of_many(tmp_path):
    result = thalweg.minimize(lambda x: ((np.arange(30) * x) ** 2).sum(), [1.0] * 30, method="snes", seed=1, max_iter=40)
    axes = panels(plots.run(result))["mean"]
    assert "20 of 30 coordinates" in axes.get_title("left")
    moved = np.ptp(result.history.mean, axis=0)
    shown = [int(text.get_text().split("]")[0][2:]) for text in axes.texts]
    assert sorted(shown) == sorted(np.argsort(-moved)[:20])
    assert len({line_style(k) for k in range(49)}) == 49
    y = np.random.default_rng(1).normal(size=100_001)
    y[::7] = np.nan
    places = thinned(y)
    assert len(places) <= 2000
    assert {0, 100_000, int(np.nanargmax(y)), int(np.nanargmin(y))} <= {*places.tolist()}


def test_what_was_reached_before_the_end_is_shown_to_the_end(tmp_path):
    values = [40.0, 0.0, -9.0, -9.9, -9.99, -10.0, -3.0, -3.0]
    axes = plots.run(write(tmp_path / "run.jsonl", [row(i, f) for i, f in enumerate(values)])).axes[0]
    best = lines(axes)["best so far, in the end -10"]
    assert (axes.get_ylabel(), axes.get_yscale(), best[-1, 0]) == ("f + 10", "log", 8)
    assert np.allclose(best[:-2, 1], [50, 10, 1, 0.1, 0.01])
    assert np.all(best[-2:, 1] < axes.get_ylim()[0])


def test_failures_are_counted_by_their_reasons(tmp_path):
    errors = ["a $ b"] * 3 + [f"reason {k}" for k in range(6)] * 2
    figure = plots.run(write(tmp_path / "run.jsonl", [row(i, np.nan, error=error) for i, error in enumerate(errors)]))
    found = lines(figure.axes[0])
    assert [curve[-1].tolist() for curve in found.values()] == [[15, 3], [15, 2], [15, 2], [15, 2], [15, 6]]
    assert list(found) == [r"a \$ b", "reason 0", "reason 1", "reason 2", "3 other reasons"]
    figure.canvas.draw()


@pytest.mark.filterwarnings("ignore:overflow")  # in matplotlib's ticks
@pytest.mark.parametrize("values", [[1e308, -1e308, 0.0], [1.0, np.inf, -np.inf], [5e-324, 1e-300, 1e16], [2.0, 2.0, 2.0]])
def test_values_at_the_ends_of_the_doubles_can_be_drawn(tmp_path, values):
    figure = plots.run(write(tmp_path / "run.jsonl", [row(i, f) for i, f in enumerate(values)]))
    figure.canvas.draw()
    assert all(np.nanmax(np.abs(line.get_ydata()), initial=0.0) <= LARGEST for line in figure.axes[0].lines)


def test_labels_do_not_overlap():
    places = spread(np.array([0.0, 0.0, 0.01, 0.5, 0.98, 1.0]), 0.1)
    assert np.all(np.diff(places) >= 0.1 - 1e-12)
    assert places[3] == 0.5

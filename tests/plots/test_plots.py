"""The curves, contours and points that the plots show, and the input that they refuse."""

import sys
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from thalweg import plots
from thalweg.objectives import OBJECTIVES
from thalweg.plots import density
from thalweg.search.optimizer import Optimizer
from thalweg.strategies.registry import with_popsize

pytest.importorskip("matplotlib")
ROSENBROCK = OBJECTIVES["rosenbrock"]


def curves(best: list[list[float]]) -> SimpleNamespace:
    return SimpleNamespace(evaluations=10 * np.arange(1, len(best[0]) + 1), best=np.array(best))


@pytest.fixture(scope="module")
def searches() -> dict[str, Optimizer]:
    """Two runs in the middle of the valley, one of them bent."""
    found = {}
    for name, method in (("bent", "gnn-cma"), ("straight", "cma")):
        es = found[name] = Optimizer([-1.0, 1.0], 0.5, method=method, popsize=20, seed=3)
        while es.nit < 6:
            X = es.ask()
            es.tell(X, ROSENBROCK(X))
    return found


def test_convergence_draws_the_median_of_each():
    runs = {"a": curves([[8, 4, 2], [8, 2, 1], [16, 8, 4]]), "b": curves([[9, 9, 9]])}
    axes = plots.convergence(runs, title="two").axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_yscale()) == ("function evaluations", "best f so far", "log")
    assert [line.get_label() for line in axes.lines] == ["a", "b"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), [[10, 8], [20, 4], [30, 2]])
    assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 2
    assert len({line.get_linestyle() for line in axes.lines}) == 2, "colour alone does not survive a grey print"


def test_convergence_band_goes_from_quartile_to_quartile():
    best = np.arange(1.0, 102.0)[:, None] * [4.0, 2.0]
    (band,) = plots.convergence({"a": SimpleNamespace(evaluations=np.array([1, 2]), best=best)}).axes[0].collections
    corners = band.get_paths()[0].vertices
    assert (corners[:, 1].min(), corners[:, 1].max()) == pytest.approx((2 * 26, 4 * 76))


def test_convergence_ends_at_the_target_and_leaves_out_what_a_logarithm_cannot_show():
    figure = plots.convergence({"a": curves([[np.inf, 1.0, 1e-9, 1e-9]]), "b": curves([[1.0, 0.0, 0.0, 0.0]])}, target=1e-8)
    reached, zero = (line.get_xdata() for line in figure.axes[0].lines[:2])
    assert reached.tolist() == [20, 30]
    assert zero.tolist() == [10]


def test_density_has_a_panel_each_and_labels(searches: dict[str, Optimizer]):
    figure = plots.density_2d(ROSENBROCK, searches, minimum=[1.0, 1.0], title="two")
    assert [axes.get_title() for axes in figure.axes] == ["bent", "straight"]
    assert {axes.get_xlabel() for axes in figure.axes} == {"$x_1$"}
    assert figure.axes[0].get_ylabel() == "$x_2$"
    (left, right), (bottom, top) = figure.axes[0].get_xlim(), figure.axes[0].get_ylim()
    assert left < 1 < right, "the minimum is in view"
    assert bottom < 1 < top
    assert any("95%" in text.get_text() for text in figure.legends[0].get_texts())


@pytest.mark.parametrize("estimate", ["sample", "grid"])
@pytest.mark.parametrize("name", ["bent", "straight"])
def test_contours_enclose_half_and_95_percent(searches: dict[str, Optimizer], name: str, estimate: str):
    """The fractions of 10,000 further points inside; 5 standard errors of a fraction are 0.011 and 0.025.

    The levels of 4,000 points are themselves uncertain by 0.003 and 0.008; those of a grid ignore what lies outside of it.
    """
    es = searches[name]
    samples = density._samples(es)
    if estimate == "sample":
        levels = density._sample_levels(density._density(es, samples))
    else:  # for strategies from which nothing can be drawn
        x, y = (np.linspace(*side, 240) for side in density._limits([es], [samples], None))
        grid = np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)
        levels = density._grid_levels(density._density(es, grid), (x[1] - x[0]) * (y[1] - y[0]))
    later = es.strategy.ask(es.state)[2]
    found = density._density(es, np.asarray(density._ask(with_popsize(es.strategy, 10_000), later)))
    assert np.mean(found > levels[0]) == pytest.approx(0.95, abs=0.011 + 0.015)
    assert np.mean(found > levels[1]) == pytest.approx(0.5, abs=0.025 + 0.03)


def test_density_shows_the_next_generation_and_leaves_the_search_as_it_was(searches: dict[str, Optimizer]):
    es = searches["bent"]
    before = es.state
    figure = plots.density_2d(ROSENBROCK, {"bent": es})
    assert jax.tree.all(jax.tree.map(lambda old, new: (old == new).all(), before, es.state))
    (dots,) = (line for line in figure.axes[0].lines if line.get_marker() == ".")
    np.testing.assert_array_equal(dots.get_xydata(), es.ask())


def test_a_strategy_that_cannot_be_drawn_from_has_contours_but_no_dots():
    pytest.importorskip("cma")
    es = Optimizer([-1.0, 1.0], 0.5, method="pycma", popsize=20, seed=3)
    axes = plots.density_2d(ROSENBROCK, {"pycma": es}).axes[0]
    (dots,) = (line for line in axes.lines if line.get_marker() == ".")
    assert len(dots.get_xydata()) == 0
    assert len(axes.collections) == 3


def test_the_lines_of_a_model_lie_on_those_of_a_quadratic_function():
    es = Optimizer([1.0, 2.0], 0.5, method="cma", model="quadratic", seed=1)
    for _ in range(4):
        X = es.ask()
        es.tell(X, (X**2).sum(1))
    asked = es.ask()
    figure = plots.model_2d(lambda x: (x**2).sum(1), {"round": es}, limits=((-2, 2), (-2, 2)), minimum=[0.0, 0.0])
    true, model = figure.axes[0].collections
    np.testing.assert_array_equal(true.levels, model.levels)
    for path, level in zip(model.get_paths(), model.levels, strict=True):
        assert np.sum(path.vertices**2, 1) == pytest.approx(np.exp(level), rel=1e-2)
    dots = next(line for line in figure.axes[0].lines if line.get_marker() == ".")
    assert len(dots.get_xydata()) == es.nfev
    assert {tuple(x) for x in asked} == {tuple(point.x) for point in es.pending.open_points}, "the search is as it was"


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="runs must hold"):
        plots.convergence({})
    with pytest.raises(ValueError, match="searches must hold"):
        plots.density_2d(ROSENBROCK, {})
    with pytest.raises(ValueError, match=r"searches .* 'solid' has dimension 3"):
        plots.density_2d(ROSENBROCK, {"solid": Optimizer(np.zeros(3), method="cma")})
    with pytest.raises(ValueError, match=r"searches .* 'boxed' has bounds"):
        plots.density_2d(ROSENBROCK, {"boxed": Optimizer(np.zeros(2), method="cma", bounds=(-1, 1))})
    with pytest.raises(ValueError, match=r"searches .* 'logs' has logarithms"):
        plots.density_2d(ROSENBROCK, {"logs": Optimizer(np.ones(2), method="cma", log=[0])})
    with pytest.raises(ValueError, match=r"searches .* 'plain' has none now"):
        plots.model_2d(ROSENBROCK, {"plain": Optimizer(np.zeros(2), method="cma")}, limits=((0, 1), (0, 1)))
    fresh = Optimizer(np.zeros(2), method="cma", model="quadratic")
    with pytest.raises(ValueError, match=r"searches .* 'fresh' has none now"):
        plots.model_2d(ROSENBROCK, {"fresh": fresh}, limits=((0, 1), (0, 1)))


def test_a_missing_matplotlib_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'pip install "\.\[plots\]"'):
        plots.convergence({"a": curves([[1.0]])})


def test_units_of_coordinates_multiply_the_picture():
    """The density of a distribution in other units is that of x / units, divided by their product."""
    units = np.array([2.0**-4, 2.0**6])
    plain, scaled = (Optimizer(np.zeros(2), sigma0, method="cma", seed=1) for sigma0 in (1.0, units))
    grid = np.array([[0.0, 0.0], [0.3, -0.7]])
    assert np.array_equal(density.draw(scaled, 5), units * density.draw(plain, 5))
    np.testing.assert_allclose(density._density(scaled, units * grid), density._density(plain, grid) / units.prod(), rtol=1e-14)
    figure = plots.density_2d(lambda X: (X**2) @ units**-2, {"units": scaled})
    assert figure.axes[0].get_ylim()[1] > 100 * figure.axes[0].get_xlim()[1]

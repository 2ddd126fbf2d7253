"""Each stop reason, brought about for real, and the verdict on it."""

from dataclasses import dataclass

import numpy as np
import pytest

from thalweg.search.minimize import minimize
from thalweg.search.optimizer import Optimizer
from thalweg.search.stopping import CRITERIA, REASONS, Tolerances, default_max_iter, verdict
from thalweg.strategies.latents.cmaes import CMAES

OFF = {
    "tolx": 0,
    "tolfun": 0,
    "tolfunhist": 0,
    "tolfunrel": 0,
    "tolflatfitness": np.inf,
    "tolstagnation": 0,
    "tolfacupx": 0,
    "tolconditioncov": 0,
}


def run(fun, x0=(1.0, 1.0), *, generations=3000, method="cma", **more):
    """Run by hand until something stops it; `fun` takes the generation."""
    es = Optimizer(x0, method=method, popsize=6, seed=1, **{"max_iter": generations, **more})
    while not es.stop():
        X = es.ask()
        es.tell(X, fun(X))
    return es


def sphere(X):
    return np.sum(X**2, 1)


def ends_by(es, reason, *, success):
    assert reason in es.stop()
    result = es.result
    assert result.success is success
    assert result.stop == es.stop()
    criterion = next(each for each in CRITERIA if each.name == reason)
    sentence = (criterion.flat if criterion.flat and not success else criterion.sentence).format(es.stop()[reason])
    assert sentence in result.message
    return True


def test_ftarget():
    es = run(sphere, ftarget=1e-5)
    assert ends_by(es, "ftarget", success=True)
    assert es.best.f <= 1e-5
    assert es.result.status == 0


def test_max_evals_is_never_exceeded():
    es = run(sphere, max_evals=20, max_iter=None)
    assert ends_by(es, "max_evals", success=False)
    assert es.nfev == 20


def test_max_iter():
    es = run(sphere, max_iter=4)
    assert ends_by(es, "max_iter", success=False)
    assert es.nit == 4


def test_timeout():
    es = Optimizer([1.0, 1.0], method="cma", popsize=6, timeout=60.0)
    assert not es.stop()
    es.started -= 61.0
    assert ends_by(es, "timeout", success=False)


def test_default_limit_on_generations_only_without_a_budget():
    assert Optimizer([1.0, 1.0], method="cma").run.budget.max_iter == default_max_iter(2, 6) == 100 + 150 * 25 // 6**0.5
    assert Optimizer([1.0, 1.0], method="cma", max_evals=100).run.budget.max_iter is None
    assert Optimizer([1.0, 1.0], method="cma", max_iter=np.inf).run.budget.max_iter is None


def test_tolx():
    es = run(sphere, options={"tolfun": 0, "tolfunhist": 0})
    assert ends_by(es, "tolx", success=True)
    assert np.all(es.std < 1e-11)


def test_tolx_is_relative_to_sigma0():
    es = run(lambda X: sphere(X / 1e-9), (1e-9, 1e-9), sigma0=1e-9, options={"tolfun": 0, "tolfunhist": 0})
    assert np.all(es.std < 1e-20)


def test_tolfun_reaches_1e_12_on_the_sphere():
    es = run(sphere)
    assert ends_by(es, "tolfun", success=True)
    assert es.best.f < 1e-12


def test_tolfunhist_looks_at_the_best_values_only():
    es = run(lambda X: np.arange(6.0), options={**OFF, "tolfunhist": 1e-12})
    assert ends_by(es, "tolfunhist", success=False)
    assert es.nit == 10
    es = run(lambda X: np.append(np.sort(sphere(X[:5])), 9.0), options={**OFF, "tolfunhist": 1e-12})
    assert ends_by(es, "tolfunhist", success=True)


@pytest.mark.parametrize("name", ["tolflatfitness", "tolfun", "tolfunhist", "tolfunrel"])
@pytest.mark.parametrize(
    "fun",
    [
        lambda X: np.ones(6),
        lambda X: 5 + np.random.default_rng(0).integers(0, 3, 6) * 2.0**-51,
        lambda X: np.floor(sphere(X)),
        lambda X: 1e6 + np.round(sphere(X) * 10) / 10,
        lambda X: np.where(sphere(X) < 0.5, 0.0, sphere(X)),
    ],
    ids=["constant", "constant with rounding", "steps", "shifted steps", "plateau"],
)
def test_ending_on_equal_values_is_no_success(name, fun):
    es = run(fun, options={**OFF, name: Tolerances().values[name]})
    assert ends_by(es, name, success=False)
    assert "flat" in es.result.message
    assert "onverge" not in es.result.message


def test_tolfunrel_is_relative_to_progress_and_not_to_zero():
    plain, shifted = (run(lambda X, up=up: up + sphere(X), options={**OFF, "tolfunrel": 1e-6}) for up in (0.0, 1024.0))
    assert ends_by(plain, "tolfunrel", success=True)
    assert ends_by(shifted, "tolfunrel", success=True)
    assert plain.nit == shifted.nit
    assert 1e-16 < plain.best.f < 1e-6


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("penalty", [0, 3])
def test_values_above_the_noise_of_their_rounding_have_converged(seed, penalty):
    """The noise is some hundred times the rounding error, as in a fit, so that no two values are equal."""
    rng, told = np.random.default_rng(seed), []

    def fun(X):
        told.append(sphere(X) if len(told) >= penalty else 1e30 + 1e29 * rng.uniform(size=6))
        return 5642.7 + told[-1] + 1e-10 * rng.uniform(-1, 1, 6)

    es = run(fun, (30.0, 20.0))
    assert ends_by(es, "tolfunrel", success=True)
    reached = next(i for i, f in enumerate(told) if f.min() < 1e-9)
    assert len(told) < reached + 3 * es.run.tests.window
    assert run(fun, (30.0, 20.0), options={"tolfunrel": 0}).stop().keys() != {"tolfunrel"}


@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("name", ["sphere", "ellipsoid", "rosenbrock"])
def test_a_start_at_1e10_does_not_end_the_search_early(name, shift):
    d = 10
    scales = 10 ** (3 * np.arange(d) / (d - 1))
    fun = {
        "sphere": sphere,
        "ellipsoid": lambda X: sphere(X * scales),
        "rosenbrock": lambda X: np.sum(100 * (X[:, 1:] - X[:, :-1] ** 2) ** 2 + (1 - X[:, :-1]) ** 2, 1),
    }[name]
    far = {"sphere": 3e4, "ellipsoid": 80.0, "rosenbrock": 60.0}[name]
    assert 1e9 < fun(np.full((1, d), far))[0] < 1e11
    es = Optimizer(np.full(d, far), far / 3, method="cma", seed=2, max_evals=20000)
    while not es.stop():
        X = es.ask()
        es.tell(X, shift + fun(X))
    assert es.best.f - shift < 1e-8
    assert es.result.success


def test_a_run_that_never_betters_its_first_point_may_converge():
    values = iter([np.arange(-9.0, -3.0)])
    es = run(lambda X: next(values, sphere(X)))
    assert es.best.f == -9
    assert ends_by(es, "tolfun", success=True)


def test_tolflatfitness_at_the_rounding_of_the_values_is_convergence():
    es = run(lambda X: 1e6 + sphere(X), options={**OFF, "tolflatfitness": 1})
    assert ends_by(es, "tolflatfitness", success=True)
    assert np.linalg.norm(es.best.x) < 1e-3


def test_tolstagnation():
    noise = np.random.default_rng(0)
    es = run(lambda X: noise.uniform(1, 2, 6), generations=2000, options={**OFF, "tolstagnation": None})
    assert ends_by(es, "tolstagnation", success=False)
    assert es.nit > 500
    assert es.stop()["tolstagnation"] == round(100 + 100 * 2**1.5 / 6)
    es = run(lambda X: noise.uniform(1, 2, 6), generations=1000, options={**OFF, "tolstagnation": np.inf})
    assert es.nit == 1000


def test_tolconditioncov():
    es = run(lambda X: X[:, 0] ** 2 + 1e8 * X[:, 1] ** 2, options={**OFF, "tolconditioncov": 1e4})
    assert ends_by(es, "tolconditioncov", success=False)


def test_tolfacupx():
    es = run(lambda X: X[:, 0])
    assert ends_by(es, "tolfacupx", success=False)
    assert np.max(es.std) > 1e3


def test_noeffectcoord():
    es = run(lambda X: sphere(X - 1e9), (1e9, 1e9), options=OFF)
    assert ends_by(es, "noeffectcoord", success=True)


def test_generations_without_a_finite_value():
    es = run(lambda X: [None, np.nan, np.inf] * 2)
    assert ends_by(es, "failures", success=False)
    assert "No finite value was found." in es.result.message
    assert es.result.fun == np.inf
    assert es.result.x.tolist() == [1.0, 1.0]


def test_a_lost_generation_warns_and_does_not_count_as_flat(caplog):
    es = Optimizer([1.0, 1.0], method="cma", popsize=6, seed=1)
    for _ in range(3):
        es.tell(es.ask(), [None] * 6)
    assert not es.stop()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "generation 1 has no value" in caplog.text


@dataclass(frozen=True)
class Breaks(CMAES):
    """Its third update is NaN."""

    def update(self, state, e, f):
        new = super().update(state, e, f)
        return new._replace(sigma=new.sigma / (state.generation != 2), mean=new.mean * 0 / (state.generation != 2))


def test_numerical_breakdown_keeps_the_best():
    es = run(sphere, method=Breaks())
    assert ends_by(es, "nonfinite", success=False)
    assert es.nit == 3
    assert np.isfinite(es.result.fun)
    assert np.all(np.isfinite(es.result.mean))


@pytest.mark.parametrize("method", ["cma", "gnn-cma", "snes"])
def test_an_objective_that_falls_for_ever_ends_with_the_best_point(method):
    result = minimize(lambda x: x[0] + 100 * abs(x[1]), [0.0, 0.0], method=method, seed=1, max_iter=9000, options=OFF)
    assert result.stop.keys() == {"nonfinite"}
    assert result.fun == result.x[0] + 100 * abs(result.x[1]) < -1e60
    assert np.all(np.isfinite(result.mean))


class Overflows(CMAES):
    """Its second generation has infinite points, although its state is finite."""

    def ask(self, state):
        e, x, after = super().ask(state)
        return e, x / (state.generation != 1), after


def test_points_that_are_not_finite_end_a_run_and_not_the_search():
    es = Optimizer([1.0, 1.0], method=Overflows(), seed=1)
    es.tell(X := es.ask(), sphere(X))
    with pytest.raises(RuntimeError, match="no longer finite"):
        es.ask()
    assert ends_by(es, "nonfinite", success=False)
    result = minimize(lambda x: x @ x, [1.0, 1.0], method=Overflows(), seed=1, restarts=2)
    assert (result.restarts, result.nit, result.stop) == (2, 3, {"nonfinite": 1})
    assert np.isfinite(result.fun)


@pytest.mark.parametrize("settings", [{}, {"restarts": 3}, {"model": "quadratic"}, {"ftarget": -1e300}])
def test_no_value_is_lower_than_minus_infinity(settings):
    result = minimize(lambda x: -np.inf if x[0] < -0.3 else x @ x, [1.0, 1.0], method="cma", seed=1, **settings)
    assert "unbounded" in result.stop
    assert (result.fun, result.restarts, result.failures) == (-np.inf, 0, 0)
    assert result.x[0] < -0.3
    assert result.success is ("ftarget" in settings)
    assert "The objective is -inf at x" in result.message


@pytest.mark.parametrize("method", ["cma", "gnn-cma", "sep-cma", "lra-cma"])
@pytest.mark.parametrize("power", [-900, 900])
def test_step_size_and_root_that_have_drifted_apart_come_together(method, power):
    """A moving target doubles sigma and halves the root every fifteen generations; the product is all that matters."""
    plain, drifted = (Optimizer([1.0, 1.0], method=method, seed=1, max_iter=200, options=OFF) for _ in range(2))
    state, far, near = drifted.state, 2.0**power, 2.0**-power
    latent = getattr(state, "latent", state)
    latent = latent._replace(sigma=latent.sigma * far, root=latent.root * near, path=latent.path * near)
    if getattr(latent, "inverse", None) is not None:
        latent = latent._replace(inverse=latent.inverse * far, log_volume=latent.log_volume + 2 * np.log(near))
    drifted.state = state._replace(latent=latent) if hasattr(state, "latent") else latent
    for _ in range(110):
        X, Y = plain.ask(), drifted.ask()
        if method == "gnn-cma":  # whose densities hold logarithms of both factors, which round
            np.testing.assert_allclose(X, Y, rtol=0, atol=1e-6)
        else:
            assert X.tolist() == Y.tolist()
        F = np.sum((X - plain.nit / 10) ** 2, 1)
        plain.tell(X, F)
        drifted.tell(Y, F)
    latent = getattr(drifted.state, "latent", drifted.state)
    assert 1e-3 < np.abs(latent.root).max() < 1e3
    assert not drifted.stop()


@pytest.mark.parametrize("reason", REASONS)
def test_counts_in_messages_are_whole(reason):
    shown = verdict({reason: 1234567}, resolved=True)[2]
    assert "e+" not in shown or reason.startswith("tol") or reason in ("ftarget", "timeout")
    assert "305.781" not in verdict({"tolstagnation": 306}, resolved=True)[2]


def test_tolerances_are_checked():
    with pytest.raises(ValueError, match=r"option 'tolx' must be 0 or above, got -1"):
        Tolerances(tolx=-1)
    with pytest.raises(TypeError, match="option 'tolfun' must be a number, got 'a'"):
        Optimizer([1.0], method="cma", options={"tolfun": "a"})
    with pytest.raises(TypeError, match="options must be a dictionary"):
        Optimizer([1.0], method="cma", options=["tolfun"])  # type: ignore[arg-type]


def test_every_reason_has_its_own_status_and_a_sentence():
    assert len({reason.status for reason in REASONS.values()}) == len(REASONS)
    for name in REASONS:
        status, _, message = verdict({name: 7}, resolved=False)
        assert status == REASONS[name].status
        assert message.endswith(".")
    assert verdict({}, resolved=True) == (-1, False, "The run has not stopped.")
    assert verdict({"max_evals": 9, "tolx": 1e-11}, resolved=True)[:2] == (1, True)

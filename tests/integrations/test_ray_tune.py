"""Our search algorithm inside Ray Tune, against a real local Ray."""

import math
import warnings

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from ray import tune
    from ray.tune.search import ConcurrencyLimiter

from thalweg.integrations.ray_tune import ThalwegSearch

SMALL = {"method": "cma", "popsize": 4}
SPACE = {
    "x": tune.uniform(-5, 5),
    "deep": {"rate": tune.loguniform(1e-4, 1.0), "width": tune.randint(1, 9)},
    "depth": tune.lograndint(1, 100),
    "grid": tune.quniform(-1.0, 1.0, 0.25),
    "size": tune.qrandint(8, 64, 8),
    "fine": tune.qloguniform(1e-2, 1.0, 5e-3),
    "noise": tune.randn(2.0, 0.5),
    "kind": tune.choice(["a", "b"]),
    "fixed": 7,
}


def search(space=SPACE, **more):
    return ThalwegSearch(space, "loss", "min", seed=1, **SMALL | more)


def loss(config):
    return (config["x"] - 1) ** 2 + (config["y"] + 2) ** 2


PLANE = {"x": tune.uniform(-5, 5), "y": tune.uniform(-5, 5)}


def run(algorithm, n, first=0, value=loss):
    configs = []
    for k in range(first, first + n):
        configs.append(algorithm.suggest(str(k)))
        algorithm.on_trial_complete(str(k), {"loss": value(configs[-1])})
    return configs


def test_every_kind_of_number_stays_in_its_domain():
    configs = run(search(), 40, value=lambda config: config["x"] + config["noise"])
    for config in configs:
        assert config["fixed"] == 7
        assert config["kind"] in ("a", "b")
        assert -5 <= config["x"] <= 5
        assert 1e-4 <= config["deep"]["rate"] <= 1
        assert type(config["deep"]["width"]) is type(config["depth"]) is type(config["size"]) is int
        assert 1 <= config["deep"]["width"] <= 8
        assert 1 <= config["depth"] <= 99
        assert config["size"] in range(8, 65, 8)
        assert config["grid"] * 4 == round(config["grid"] * 4)
        assert -1 <= config["grid"] <= 1
        assert config["fine"] / 5e-3 == pytest.approx(round(config["fine"] / 5e-3))
    for path in ("depth", "size", "grid", "kind", "noise"):
        assert len({config[path] for config in configs}) > 1


def test_it_finds_the_minimum_and_maximises_too():
    algorithm = search(PLANE)
    assert min(map(loss, run(algorithm, 120))) < 1e-2
    other = ThalwegSearch(PLANE, "loss", "max", seed=1, **SMALL)
    assert run(other, 20, value=lambda config: -loss(config)) == run(search(PLANE), 20)


def test_it_goes_on_from_a_file(tmp_path):
    algorithm = search(PLANE)
    run(algorithm, 10)
    algorithm.save(str(tmp_path / "search.pkl"))
    other = ThalwegSearch()
    other.restore(str(tmp_path / "search.pkl"))
    assert run(other, 10, 10) == run(algorithm, 10, 10)


def test_values_in_any_order_and_failures():
    algorithm = search(PLANE)
    configs = {str(k): algorithm.suggest(str(k)) for k in range(10)}
    for name in ("7", "2", "9", "0"):
        algorithm.on_trial_complete(name, {"loss": loss(configs[name])})
    algorithm.on_trial_complete("1", error=True)
    algorithm.on_trial_complete("3", {"loss": math.nan})
    algorithm.on_trial_complete("4", {"other": 1.0})
    algorithm.on_trial_complete("never asked", {"loss": 1.0})
    assert (algorithm.es.nfev, algorithm.es.failures, algorithm.es.nit) == (7, 3, 1)


def test_points_to_evaluate_come_first_and_points_of_others_teach():
    point = {"x": 1.0, "y": -2.0}
    algorithm = search(PLANE, points_to_evaluate=[point])
    assert run(algorithm, 1) == [point]
    algorithm.add_evaluated_point({"x": 1.0, "y": -1.9}, 0.01)
    algorithm.add_evaluated_point({"x": 0.0, "y": 0.0}, 0.0, error=True)
    assert algorithm.es.nfev == 2
    run(algorithm, 12, 1)
    alone = search(PLANE)
    run(alone, 14)
    best = [1.0, -2.0]
    assert np.linalg.norm(algorithm.es.mean - best) < np.linalg.norm(alone.es.mean - best)


@pytest.mark.parametrize(
    ("make", "error", "named"),
    [
        (lambda: ThalwegSearch(mode="least"), ValueError, "mode"),
        (lambda: ThalwegSearch(method="nothing"), ValueError, "method"),
        (lambda: search({"x": tune.grid_search([1, 2])}), ValueError, "grid_search"),
        (lambda: search({"kind": tune.choice([1, 2])}), ValueError, "number to search"),
        (lambda: search({"x": tune.sample_from(lambda spec: 1)}), TypeError, "x is"),
        (lambda: search(PLANE, points_to_evaluate=[{"x": 1.0}]).suggest("0"), ValueError, "y"),
        (lambda: ThalwegSearch().suggest("0"), RuntimeError, "search space"),
        (lambda: ThalwegSearch(PLANE).suggest("0"), RuntimeError, "metric"),
    ],
)
def test_mistakes_are_named(make, error, named):
    with pytest.raises(error, match=named):
        make()


@pytest.mark.check
@pytest.mark.filterwarnings("ignore")
def test_a_tuner_of_a_real_ray_runs_it_and_restores_it(tmp_path):
    import ray

    ray.init("local", num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        algorithm = ThalwegSearch(seed=1, **SMALL)

        def objective(config):  # Ray's workers do not know this file
            tune.report({"loss": (config["x"] - 1) ** 2 + (config["y"] + 2) ** 2})

        tuner = tune.Tuner(
            objective,
            param_space={**PLANE, "fixed": 3},
            tune_config=tune.TuneConfig(
                metric="loss",
                mode="min",
                search_alg=ConcurrencyLimiter(algorithm, max_concurrent=2),
                num_samples=12,
                reuse_actors=True,
            ),
            run_config=tune.RunConfig(name="run", storage_path=str(tmp_path), verbose=0),
        )
        results = tuner.fit()
        assert algorithm.es.nfev == len(results) == 12
        assert not results.errors
        assert results.get_best_result().metrics["loss"] == pytest.approx(algorithm.es.best.f)
        again = ThalwegSearch()
        again.restore_from_dir(str(tmp_path / "run"))
        assert again.es.nfev == 12
    finally:
        ray.shutdown()

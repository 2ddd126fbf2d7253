import math
import pickle
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.testing import pytest_samplers

from thalweg.integrations.optuna import ThalwegSampler
from thalweg.integrations.optuna_space import StudySpace

SMALL = {"method": "cma", "popsize": 4}
RANGES = {
    "x": FloatDistribution(-5.0, 5.0),
    "rate": FloatDistribution(1e-4, 1.0, log=True),
    "width": IntDistribution(8, 64, step=8),
    "depth": IntDistribution(1, 100, log=True),
    "grid": FloatDistribution(-1.0, 1.0, step=0.25),
}


@pytest.fixture(autouse=True)
def quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)


def value_of(params):
    return (params["x"] - 1) ** 2 + (params["y"] + 2) ** 2


def objective(trial):
    return value_of({"x": trial.suggest_float("x", -5, 5), "y": trial.suggest_float("y", -5, 5)})


def study_of(sampler, **more):
    return optuna.create_study(sampler=sampler, **more)


def params_of(study):
    return [trial.params for trial in study.trials]


def search_of(sampler):
    """Return the optimiser behind a sampler."""
    (search,) = sampler._searches.values()
    return search.replica.es


@pytest.mark.parametrize("model", [None, "quadratic"])
def test_a_study_that_is_loaded_goes_on_as_if_it_had_never_stopped(model):
    whole = study_of(ThalwegSampler(seed=3, model=model, **SMALL))
    whole.optimize(objective, n_trials=15)
    parts = study_of(ThalwegSampler(seed=3, model=model, **SMALL))
    for k in range(3):
        parts.sampler = parts.sampler if k == 0 else ThalwegSampler(seed=100 + k, model=model, **SMALL)
        parts.optimize(objective, n_trials=5)
    assert params_of(parts) == params_of(whole)


def test_a_model_chooses_the_trials_unless_told_otherwise():
    studies = [study_of(ThalwegSampler(seed=3, **SMALL, **more)) for more in ({}, {"model": "quadratic"}, {"model": None})]
    for study in studies:
        study.optimize(objective, n_trials=12)
    default, modelled, plain = map(params_of, studies)
    assert default == modelled != plain


def test_it_finds_the_minimum_and_maximises_too():
    study = study_of(ThalwegSampler(seed=1, **SMALL))
    study.optimize(objective, n_trials=120)
    assert study.best_value < 1e-2
    upside_down = study_of(ThalwegSampler(seed=1, **SMALL), direction="maximize")
    upside_down.optimize(lambda trial: -objective(trial), n_trials=120)
    assert params_of(upside_down) == params_of(study)


def test_every_finished_trial_teaches_whoever_has_drawn_it():
    storage = optuna.storages.InMemoryStorage()
    samplers = [ThalwegSampler(seed=k, **SMALL) for k in range(2)]
    studies = [study_of(each, storage=storage, study_name="s", load_if_exists=True) for each in samplers]
    studies[0].optimize(objective, n_trials=1)
    open_trials = []
    for k in range(24):  # five are always open, and their values come in another order than they were asked
        trial = studies[k % 2].ask()
        open_trials.append((trial, objective(trial)))
        if len(open_trials) > 5:
            studies[k % 3 % 2].tell(*open_trials.pop((7 * k) % 5))
    for each in studies:
        objective(each.ask())  # a trial draws its point when it needs it
    first, second = map(search_of, samplers)
    assert first.nfev == second.nfev == sum(each.state.is_finished() for each in studies[0].trials)
    assert first.nit == second.nit >= 3
    np.testing.assert_allclose(first.mean, second.mean, rtol=1e-12)


def test_failed_and_pruned_trials_count_as_the_worst():
    def fickle(trial):
        value = objective(trial)
        if trial.number % 4 == 2:
            raise optuna.TrialPruned
        if trial.number % 4 == 3:
            raise ZeroDivisionError
        return value

    study = study_of(ThalwegSampler(seed=5, **SMALL))
    study.optimize(fickle, n_trials=80, catch=ZeroDivisionError)
    es = search_of(study.sampler)
    assert es.nfev == 79  # the last one is told when the next begins
    assert es.failures == sum(each.state != optuna.trial.TrialState.COMPLETE for each in study.trials[:79])
    assert study.best_value < 0.5


def test_enqueued_and_added_trials_are_learned_from():
    study = study_of(ThalwegSampler(seed=1, sigma0=0.02, **SMALL))
    study.optimize(objective, n_trials=1)
    for _ in range(3):
        study.enqueue_trial({"x": 1.0, "y": -2.0})
    study.optimize(objective, n_trials=40)
    near = [each.value for each in study.trials[20:]]
    alone = study_of(ThalwegSampler(seed=1, sigma0=0.02, **SMALL))
    alone.optimize(objective, n_trials=41)
    assert np.median(near) < np.median([each.value for each in alone.trials[20:]])


def test_numbers_of_all_kinds_with_choices_beside_them():
    def mixed(trial):
        kind = trial.suggest_categorical("kind", ["a", "b"])
        params = {name: trial._suggest(name, each) for name, each in RANGES.items()}
        if kind == "a":
            trial.suggest_float("extra", 0, 1)
        return abs(params["x"]) + abs(math.log(params["rate"] * 100)) + params["width"] + (kind == "b")

    study = study_of(ThalwegSampler(seed=2, **SMALL))
    study.optimize(mixed, n_trials=30)
    assert set(study.sampler.infer_relative_search_space(study, study.trials[-1])) == set(RANGES)
    for trial in study.trials:
        assert all(each._contains(each.to_internal_repr(trial.params[name])) for name, each in RANGES.items())
        assert type(trial.params["width"]) is type(trial.params["depth"]) is int
    assert search_of(study.sampler).nfev == 29


def test_coordinates_and_parameters_are_inverse():
    space = StudySpace(RANGES)
    rng = np.random.default_rng(0)
    for _ in range(50):
        x = np.array(
            [rng.integers(0, 90) + 1, rng.integers(0, 9), rng.uniform(1e-4, 1), rng.integers(0, 8), rng.uniform(-5, 5)]
        )
        params = space.params(x)
        assert list(params) == sorted(RANGES)
        np.testing.assert_array_equal(space.vector(params), x)
    assert space.vector({**params, "width": 9}) is None
    assert space.vector({**params, "x": 6.0}) is None
    assert space.vector({"x": 1.0}) is None


def test_source_trials_say_where_to_start():
    source = study_of(optuna.samplers.RandomSampler(seed=0))
    source.optimize(objective, n_trials=60)
    ranges = {name: FloatDistribution(-5, 5) for name in "xy"}
    warm = study_of(ThalwegSampler(seed=1, source_trials=source.trials, search_space=ranges, n_startup_trials=0, **SMALL))
    warm.optimize(objective, n_trials=8)
    cold = study_of(ThalwegSampler(seed=1, search_space=ranges, n_startup_trials=0, **SMALL))
    cold.optimize(objective, n_trials=8)
    assert np.median([each.value for each in warm.trials]) < 0.5 * np.median([each.value for each in cold.trials])


def test_the_start_is_x0():
    ranges = {"x": FloatDistribution(-5, 5), "width": IntDistribution(8, 64, step=8)}
    sampler = ThalwegSampler({"x": 4.0, "width": 56}, 1e-3, search_space=ranges, n_startup_trials=0, seed=1, **SMALL)
    study = study_of(sampler)
    study.optimize(lambda trial: trial.suggest_float("x", -5, 5) + trial.suggest_int("width", 8, 64, step=8), n_trials=3)
    assert [each.params["x"] for each in study.trials] == pytest.approx([4.0] * 3, abs=0.05)
    assert [each.params["width"] for each in study.trials] == [56] * 3


def test_restarts_go_on_in_every_replica():
    study = study_of(sampler := ThalwegSampler(seed=1, **SMALL, options={"tolfun": 1e30}))
    study.optimize(objective, n_trials=60)
    study.sampler = again = ThalwegSampler(seed=2, **SMALL, options={"tolfun": 1e30})
    objective(study.ask())
    study.sampler = sampler
    objective(study.ask())
    assert params_of(study)[-2] != params_of(study)[-1]
    assert search_of(again).campaign.runs == search_of(sampler).campaign.runs >= 2
    np.testing.assert_array_equal(search_of(again).mean, search_of(sampler).mean)


def test_a_sampler_is_pickled_without_its_search():
    study = study_of(ThalwegSampler(seed=4, **SMALL))
    study.optimize(objective, n_trials=10)
    other = pickle.loads(pickle.dumps(study.sampler))
    assert not other._searches
    study.sampler = other
    study.optimize(objective, n_trials=2)
    assert search_of(other).nfev == 11


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"sigma0": 0}, "sigma0"),
        ({"method": "nothing"}, "method"),
        ({"options": {"tolfum": 1}}, "tolfum"),
        ({"popsize": 1}, "popsize"),
        ({"search_space": {"kind": CategoricalDistribution(["a"] * 2)}}, "kind"),
        ({"seed": 0.5}, "seed"),
    ],
)
def test_wrong_arguments_are_named_at_once(arguments, named):
    with pytest.raises((ValueError, TypeError), match=named):
        ThalwegSampler(**arguments)


def test_a_start_outside_its_range_is_named():
    study = study_of(ThalwegSampler({"x": 7.0}, **SMALL))
    study.optimize(objective, n_trials=1)
    with pytest.raises(ValueError, match="'x'"):
        study.optimize(objective, n_trials=1)


WORKER = """
import sys, optuna
from thalweg.integrations.optuna import ThalwegSampler
storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(sys.argv[1]))
study = optuna.load_study(study_name="s", storage=storage, sampler=ThalwegSampler(method="cma", popsize=4))
study.optimize(lambda t: (t.suggest_float("x", -5, 5) - 1) ** 2 + (t.suggest_float("y", -5, 5) + 2) ** 2, n_trials=25)
"""


@pytest.mark.check
def test_processes_on_one_storage_lose_no_trial(tmp_path):
    path = str(tmp_path / "journal.log")
    storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(path))
    study_of(ThalwegSampler(seed=7, **SMALL), storage=storage, study_name="s")
    workers = [subprocess.Popen([sys.executable, "-c", WORKER, path]) for _ in range(3)]
    assert [each.wait(120) for each in workers] == [0, 0, 0]
    sampler = ThalwegSampler(**SMALL)
    study = optuna.load_study(study_name="s", storage=storage, sampler=sampler)
    study.optimize(objective, n_trials=1)
    assert search_of(sampler).nfev == 75
    assert study.best_value < 0.2


def test_threads_share_a_sampler():
    study = study_of(ThalwegSampler(seed=1, **SMALL))
    study.optimize(objective, n_trials=60, n_jobs=4)
    objective(study.ask())
    assert search_of(study.sampler).nfev == 60
    assert study.best_value < 0.3


@pytest.mark.check
class TestOptunasOwn(pytest_samplers.BasicSamplerTestCase, pytest_samplers.SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: ThalwegSampler(**SMALL)


@pytest.mark.check
class TestOptunasOwnForRelativeSamplers(pytest_samplers.RelativeSamplerTestCase):
    test_sample_relative_categorical = None  # choices are left to the independent sampler
    test_sample_relative_mixed = None

    @pytest.fixture
    def sampler(self):
        return lambda: ThalwegSampler(**SMALL)


def test_the_folder_for_optunahub_has_what_the_registry_asks_for():
    folder = Path(__file__).parents[2] / "optunahub" / "package" / "samplers" / "thalweg"
    assert {"LICENSE", "README.md", "__init__.py", "example.py"} <= {each.name for each in folder.iterdir()}
    front, text = (folder / "README.md").read_text().split("---\n")[1:3]
    keys = [line.partition(":")[0] for line in front.splitlines()]
    assert keys == ["author", "title", "description", "tags", "optuna_versions", "license"]
    assert f"optuna_versions: [{optuna.__version__}]" in front
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## Abstract", "## Class or Function Names", "## Installation", "## Example", "## Others"]
    loaded = runpy.run_path(str(folder / "__init__.py"))  # as optunahub does
    study = study_of(loaded["ThalwegSampler"](seed=1, **SMALL))
    study.optimize(objective, n_trials=3)
    assert len(study.trials) == 3

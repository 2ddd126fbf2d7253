"""Our optimisers inside nevergrad: its own checks of an optimiser, and what it does not check."""

import concurrent.futures
import subprocess
import sys
import warnings

import nevergrad as ng
import numpy as np
import pytest

from thalweg.integrations.nevergrad import FamilyOfThalweg, Thalweg

SMALL = FamilyOfThalweg(method="cma", popsize=4)
NAMES = ["Thalweg", "ThalwegModel"]


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ng.errors.InefficientSettingsWarning)
        yield


def bowl(x):
    return float(np.sum((np.asarray(x) - [0.5, -0.8]) ** 2))


@pytest.fixture(scope="module")
def own():
    """Return the tests of optimisers that nevergrad comes with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from nevergrad.optimization import test_optimizerlib
    return test_optimizerlib


@pytest.mark.check
@pytest.mark.parametrize("name", NAMES)
def test_nevergrads_check_of_an_optimiser(own, name):
    own.check_optimizer(ng.optimizers.registry[name], budget=300, verify_value=True)


@pytest.mark.check
@pytest.mark.parametrize("name", NAMES)
def test_nevergrads_checks_by_name(own, name):
    own.test_optimizers_minimal(name)
    own.test_optim_pickle(name)
    own.test_mo_constrained(name)
    own.test_mo_with_nan(name)


def test_nevergrads_check_of_an_offset(own, monkeypatch):
    monkeypatch.setitem(ng.optimizers.registry, "T", ng.optimizers.registry["Thalweg"])  # long names are skipped
    monkeypatch.setattr(own, "CI", False)
    monkeypatch.setattr(own, "long_name", lambda name: False)
    own.test_parametrization_offset("T")


def test_values_that_are_no_numbers(own):
    for name in NAMES:
        optimiser = ng.optimizers.registry[name](parametrization=2, budget=70)
        optimiser.parametrization.random_state.seed(1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = optimiser.minimize(own.buggy_function)
        assert own.buggy_function(found.value) < 2.0


def test_the_seed_of_the_parametrisation_decides():
    def found(seed):
        optimiser = SMALL(parametrization=2, budget=40)
        optimiser.parametrization.random_state.seed(seed)
        return optimiser.minimize(bowl).value.tolist()

    assert found(1) == found(1) != found(2)


def test_all_kinds_of_parameters():
    parametrisation = ng.p.Instrumentation(
        ng.p.Log(lower=1e-4, upper=1.0),
        width=ng.p.Scalar(lower=1, upper=9).set_integer_casting(),
        kind=ng.p.Choice(["a", "b", "c"]),
    )
    optimiser = FamilyOfThalweg(method="cma")(parametrisation, budget=400)
    optimiser.parametrization.random_state.seed(3)
    found = optimiser.minimize(lambda rate, width, kind: abs(np.log10(rate) + 2) + abs(width - 4) + (kind != "b"))
    assert found.args[0] == pytest.approx(1e-2, rel=0.3)
    assert found.kwargs == {"width": 4, "kind": "b"}


def test_points_of_others_are_learned_from():
    optimiser = SMALL(parametrization=2, budget=100)
    optimiser.parametrization.random_state.seed(1)
    optimiser.suggest(np.array([0.5, -0.8]))
    optimiser.tell(first := optimiser.ask(), bowl(first.value))
    assert first.value.tolist() == [0.5, -0.8]
    other = optimiser.parametrization.spawn_child(new_value=np.array([0.5, -0.7]))
    optimiser.tell(other, bowl(other.value))
    assert (optimiser.num_tell_not_asked, optimiser.es.nfev) == (2, 2)
    for _ in range(6):
        candidate = optimiser.ask()
        optimiser.tell(candidate, bowl(candidate.value))
    assert optimiser.es.nfev == 8
    assert optimiser.recommend().value.tolist() == [0.5, -0.8]


def test_workers_that_run_at_once():
    optimiser = FamilyOfThalweg(method="cma")(2, budget=120, num_workers=12)
    assert optimiser.es.popsize == 12
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        found = optimiser.minimize(bowl, executor=pool)
    assert bowl(found.value) < 0.05
    assert optimiser.es.nfev == 120


def test_it_goes_on_from_a_file(tmp_path):
    optimiser = SMALL(parametrization=2, budget=100)
    for _ in range(10):
        candidate = optimiser.ask()
        optimiser.tell(candidate, bowl(candidate.value))
    optimiser.dump(tmp_path / "run.pkl")
    again = Thalweg.load(tmp_path / "run.pkl")
    assert again.ask().value.tolist() == optimiser.ask().value.tolist()


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="method"):
        FamilyOfThalweg(method="nothing")(2, budget=10).ask()


@pytest.mark.check
def test_importing_the_module_registers():
    code = "import nevergrad, thalweg.integrations.nevergrad; print('Thalweg' in nevergrad.optimizers.registry)"
    assert (
        subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True).stdout
        == "True\n"
    )

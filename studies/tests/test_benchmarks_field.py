"""The table of the field is the measured one, and the benchmark of Optuna's samplers compares what it says."""

import json
from pathlib import Path

import numpy as np
import optuna
import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "studies" / "benchmarks" / "results"


def test_the_table_of_the_field_is_the_measured_one(benchmark):
    shown = benchmark("field").show(json.loads((RESULTS / "field.json").read_text())["rows"])
    assert shown in (ROOT / "README.md").read_text()


def test_the_tables_of_the_samplers_are_the_measured_ones(benchmark):
    shown = benchmark("hyperparameters").show(json.loads((RESULTS / "hyperparameters.json").read_text())["rows"])
    assert shown in (ROOT / "docs" / "optuna.md").read_text()


@pytest.mark.filterwarnings("ignore")  # few iterations are enough for a task
def test_a_tuning_task_gives_the_same_value_again(benchmark):
    for make in benchmark("tuning_tasks").TASKS.values():
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
        task = make()
        study.optimize(task, n_trials=1)
        assert task(optuna.trial.FixedTrial(study.trials[0].params)) == study.trials[0].value


def test_the_share_of_wins(benchmark):
    module = benchmark("hyperparameters")
    a, b = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 2.0, 1.0, 5.0])
    assert module.wins(a, b, np.zeros(4)).startswith("62% [")  # two ahead, a tie, one behind
    assert module.wins(a, a + 1, np.arange(4)) == "100% [100, 100]"


def test_a_study_of_bbob_notes_the_best_values(benchmark):
    module = benchmark("hyperparameters")
    function, _suite = module.bbob(1, 1)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(function, n_trials=3)
    assert len(study.best_params) == module.D

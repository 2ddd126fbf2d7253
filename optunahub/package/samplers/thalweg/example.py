"""Tune two parameters with the sampler of this folder."""

import optuna
import optunahub


def objective(trial: optuna.Trial) -> float:
    rate = trial.suggest_float("rate", 1e-5, 1e-1, log=True)
    width = trial.suggest_int("width", 8, 512, log=True)
    return abs(width - 100) / 100 + abs(rate - 1e-3) / 1e-3


if __name__ == "__main__":
    module = optunahub.load_local_module(package="samplers/thalweg", registry_root="./package/")
    study = optuna.create_study(sampler=module.ThalwegSampler(seed=1))
    study.optimize(objective, n_trials=80)
    print(study.best_params, study.best_value)

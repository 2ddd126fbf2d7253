"""Tuning tasks: models of scikit-learn on data sets that ship with it, each a function of an Optuna trial.

The value is an error of cross-validation with fixed folds and a fixed random state, so that a trial gives the same value again.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

Task = Callable[[Any], float]


def error(model: Any, X: Any, y: Any, folds: Any, scoring: str) -> float:
    """Return the mean error of cross-validation."""
    return float(-np.mean(cross_val_score(model, X, y, cv=folds, scoring=scoring, error_score="raise")))


def support_vectors() -> Task:
    """Return: support vector regression of diabetes, three parameters."""
    X, y = load_diabetes(return_X_y=True)
    folds = KFold(5, shuffle=True, random_state=0)

    def task(trial: Any) -> float:
        C = trial.suggest_float("C", 1e-1, 1e3, log=True)
        gamma = trial.suggest_float("gamma", 1e-4, 1.0, log=True)
        epsilon = trial.suggest_float("epsilon", 1e-1, 1e2, log=True)
        return error(
            make_pipeline(StandardScaler(), SVR(C=C, gamma=gamma, epsilon=epsilon)), X, y, folds, "neg_mean_squared_error"
        )

    return task


def length_scales() -> Task:
    """Return: kernel regression of diabetes, a length for each of ten features and the regularisation."""
    X, y = load_diabetes(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), (y - y.mean()) / y.std()
    folds = KFold(5, shuffle=True, random_state=0)

    def task(trial: Any) -> float:
        weights = [trial.suggest_float(f"weight{i}", 1e-3, 1.0, log=True) for i in range(10)]
        alpha = trial.suggest_float("alpha", 1e-3, 1e2, log=True)
        return error(KernelRidge(alpha=alpha, kernel="rbf", gamma=1.0), X * weights, y, folds, "neg_mean_squared_error")

    return task


def boosting() -> Task:
    """Return: boosted trees on diabetes, six parameters, three of them whole numbers."""
    X, y = load_diabetes(return_X_y=True)
    folds = KFold(3, shuffle=True, random_state=0)

    def task(trial: Any) -> float:
        model = GradientBoostingRegressor(
            learning_rate=trial.suggest_float("learning_rate", 1e-2, 1.0, log=True),
            n_estimators=trial.suggest_int("n_estimators", 5, 100, log=True),
            max_depth=trial.suggest_int("max_depth", 1, 6),
            min_samples_leaf=trial.suggest_int("min_samples_leaf", 1, 40),
            subsample=trial.suggest_float("subsample", 0.3, 1.0),
            max_features=trial.suggest_float("max_features", 0.1, 1.0),
            random_state=0,
        )
        return error(model, X, y, folds, "neg_mean_squared_error")

    return task


def network() -> Task:
    """Return: a network on 600 digits, five parameters, two of them whole numbers."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:600] / 16, y[:600]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)

    def task(trial: Any) -> float:
        model = MLPClassifier(
            hidden_layer_sizes=(trial.suggest_int("width", 4, 64, log=True),),
            batch_size=trial.suggest_int("batch", 8, 128, log=True),
            learning_rate_init=trial.suggest_float("rate", 1e-4, 1e-1, log=True),
            alpha=trial.suggest_float("alpha", 1e-6, 1e1, log=True),
            beta_1=1 - trial.suggest_float("forgetting", 1e-2, 0.9, log=True),
            max_iter=8,
            random_state=0,
        )
        return error(model, X, y, folds, "neg_log_loss")

    return task


def logistic() -> Task:
    """Return: regularised logistic regression of tumours and of wines by one set of four parameters."""
    X, y = load_breast_cancer(return_X_y=True)
    V, w = load_wine(return_X_y=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)

    def task(trial: Any) -> float:
        values = []
        for name, data, labels in (("tumours", X, y), ("wines", V, w)):
            C = trial.suggest_float(f"C_{name}", 1e-4, 1e4, log=True)
            power = trial.suggest_float(f"power_{name}", 0.2, 2.0)
            scaled = StandardScaler().fit_transform(data)
            bent = np.sign(scaled) * np.abs(scaled) ** power
            values.append(error(LogisticRegression(C=C, max_iter=200), bent, labels, folds, "neg_log_loss"))
        return sum(values)

    return task


TASKS: dict[str, Callable[[], Task]] = {
    "support vectors": support_vectors,
    "length scales": length_scales,
    "boosted trees": boosting,
    "network": network,
    "logistic": logistic,
}

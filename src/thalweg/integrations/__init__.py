"""Thalweg inside scipy, Optuna, nevergrad and Ray Tune. Each is a file, imported only when it is used."""

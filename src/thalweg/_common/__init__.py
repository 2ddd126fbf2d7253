"""Helpers for every layer: checks of arguments, outcomes of evaluations, optional dependencies."""

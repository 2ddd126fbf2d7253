"""Helpers that every layer may use: checks of arguments, and outcomes of evaluations."""

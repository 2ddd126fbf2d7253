"""Compiled steps of a strategy, compiled in the background and kept on disk."""

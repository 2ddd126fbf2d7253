"""Whole runs side by side in compiled programs, for objectives that JAX can trace."""

"""Studies with Thalweg: the experiments of its paper, BBOB benchmarks, policy search, and their reports."""

__version__ = "0.2.0"

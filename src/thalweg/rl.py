"""Direct policy search under its short name; see `thalweg.objectives.rl`."""

from thalweg.objectives.rl import Normaliser, Policy, PolicySearch, Together

__all__ = ["Normaliser", "Policy", "PolicySearch", "Together"]

"""Direct policy search (extra `rl`), the short name of `thalweg.objectives.rl`."""

from thalweg.objectives.rl import Normaliser, Policy, PolicySearch, Together

__all__ = ["Normaliser", "Policy", "PolicySearch", "Together"]

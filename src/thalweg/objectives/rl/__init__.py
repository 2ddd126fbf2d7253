"""Direct policy search (extra `rl`): minimise minus the mean return of a policy over its parameters.

>>> from thalweg.objectives.rl import PolicySearch
>>> PolicySearch("CartPole-v1").d
10
"""

from thalweg.objectives.rl.normaliser import Normaliser
from thalweg.objectives.rl.policy import Policy
from thalweg.objectives.rl.search import PolicyEvaluation, PolicySearch, Rollout
from thalweg.objectives.rl.together import Together

__all__ = ["Normaliser", "Policy", "PolicyEvaluation", "PolicySearch", "Rollout", "Together"]

"""Direct policy search (extra `rl`): the parameters of a policy as a point, minus its mean return as the objective.

>>> from thalweg.objectives.rl import PolicySearch
>>> PolicySearch("CartPole-v1").d
10
"""

from thalweg.objectives.rl.normaliser import Normaliser
from thalweg.objectives.rl.policy import Policy
from thalweg.objectives.rl.rollout import Evaluation, Rollout
from thalweg.objectives.rl.search import PolicySearch
from thalweg.objectives.rl.together import Together

__all__ = ["Evaluation", "Normaliser", "Policy", "PolicySearch", "Rollout", "Together"]

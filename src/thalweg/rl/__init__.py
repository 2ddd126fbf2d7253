"""Direct policy search (extra `rl`): the parameters of a policy as a point, minus its mean return as the objective.

>>> from thalweg.rl import PolicySearch
>>> PolicySearch("CartPole-v1").d
10
"""

from thalweg.rl.normaliser import Normaliser
from thalweg.rl.policy import Policy
from thalweg.rl.rollout import Evaluation, Rollout
from thalweg.rl.search import PolicySearch
from thalweg.rl.together import Together

__all__ = ["Evaluation", "Normaliser", "Policy", "PolicySearch", "Rollout", "Together"]

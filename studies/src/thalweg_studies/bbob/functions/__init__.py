"""The 24 noiseless BBOB functions with COCO's instances, written in JAX to be compiled, mapped and run on a GPU.

The functions are defined in Hansen, Finck, Ros and Auger, "Real-parameter black-box optimization benchmarking 2009: noiseless
functions definitions" (INRIA RR-6829); where COCO's code (numbbo/coco) differs from the text, this package follows the code.

>>> import jax
>>> from thalweg_studies.bbob.functions import make_problems, names, value_of
>>> problems = make_problems(functions=[8], instances=[1, 2, 3], d=5)
>>> names[8], jax.vmap(value_of(8))(problems.x_opt, problems).shape
('Rosenbrock', (3,))
"""

from thalweg_studies.bbob.functions.problem import BBOBProblem, make_problem, make_problems, names
from thalweg_studies.bbob.functions.values import value, value_of

__all__ = ["BBOBProblem", "make_problem", "make_problems", "names", "value", "value_of"]

"""Black-box minimisation with evolution strategies whose search distribution bends.

>>> import thalweg
>>> result = thalweg.minimize(lambda x: (x[0] - 1) ** 2 + (x[1] - x[0] ** 2) ** 2, [0.0, 0.0], seed=1, ftarget=1e-8)
>>> result.success, result.x.round(2).tolist()
(True, [1.0, 1.0])

`minimize` for a function in one call, `Optimizer` (and with restarts `RestartingOptimizer`) to ask and tell by hand, `run_many`
(and with restarts `run_restarts`) for whole runs of a JAX-traceable function, thousands at once. The methods are named in
`METHODS`. Latents, flows and `GNNES`, which joins the two, are pure functions of their states, for JAX code.
"""

from importlib.metadata import PackageNotFoundError, version

from thalweg.evaluate import Dask, Ray
from thalweg.evaluation_log import read_log
from thalweg.flows import NICE, Affine, Identity, RealNVP
from thalweg.flowsteps import Penalised, TrustRegion
from thalweg.gnnes import GNNES
from thalweg.latents import CMAES, LRACMAES, PGES, SNES, XNES, CauchyNES, SepCMAES
from thalweg.methods import METHODS, make_strategy, method_names
from thalweg.minimize import minimize, resume
from thalweg.noise import reevaluate
from thalweg.optimizer import Optimizer
from thalweg.restart_runner import Restarted, run_restarts
from thalweg.restarting import RestartingOptimizer
from thalweg.runner import Trajectories, run_many
from thalweg.stopping import REASONS, Tolerances
from thalweg.types import Strategy

try:
    __version__ = version("thalweg")
except PackageNotFoundError:  # run from the source tree
    __version__ = "0+source"

__all__ = [
    "CMAES",
    "GNNES",
    "LRACMAES",
    "METHODS",
    "NICE",
    "PGES",
    "REASONS",
    "SNES",
    "XNES",
    "Affine",
    "CauchyNES",
    "Dask",
    "Identity",
    "Optimizer",
    "Penalised",
    "Ray",
    "RealNVP",
    "Restarted",
    "RestartingOptimizer",
    "SepCMAES",
    "Strategy",
    "Tolerances",
    "Trajectories",
    "TrustRegion",
    "__version__",
    "make_strategy",
    "method_names",
    "minimize",
    "read_log",
    "reevaluate",
    "resume",
    "run_many",
    "run_restarts",
]

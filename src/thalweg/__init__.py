"""Black-box minimisation with evolution strategies whose search distribution bends.

>>> import thalweg
>>> result = thalweg.minimize(lambda x: (x[0] - 1) ** 2 + (x[1] - x[0] ** 2) ** 2, [0.0, 0.0], seed=1, ftarget=1e-8)
>>> result.success, result.x.round(2).tolist()
(True, [1.0, 1.0])

`help(thalweg.minimize)` has all arguments. The names, which `dir(thalweg)` lists too:

search       `minimize` and `resume` in one call, `Optimizer` by hand; `scipy_method` for `scipy.optimize.minimize`
batches      `run_many`, with restarts `run_restarts`: thousands of whole runs of a function that JAX can trace; their results
             are `Trajectories` and `Restarted`
variables    `Space` of `Real`, `Integer` and `Fixed` ones by name; `Constraints`; `Known` points with values
evaluation   `Ray`, `Dask`; `read_log` reads a log of evaluations, `reevaluate` takes the answer of a noisy run
methods      `METHODS` by name (`Method` is their type), `method_names`, `make_strategy`; `Quadratic`, a model of the objective;
             `Tolerances` and `REASONS` of the end of a run
parts        the interface `Strategy` and `GNNES`, which puts a flow on a latent: pure functions of their states, for JAX code;
             latents `CMAES`, `SepCMAES`, `LRACMAES`, `XNES`, `SNES`, `CauchyNES`, `PGES`; flows `NICE`, `RealNVP`, `Affine`,
             `Identity`; steps of a flow `TrustRegion`, `Penalised`

Figures are in `thalweg.plots`, policy search in `thalweg.rl`, classes for Optuna, nevergrad and Ray Tune in
`thalweg.integrations`, the command line in `python -m thalweg --help`.
"""

from thalweg._common import starting as _starting  # noqa: F401  # pyright: ignore[reportUnusedImport]

# isort: split
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from thalweg.batch.run_many import Trajectories, run_many
from thalweg.batch.run_restarts import Restarted, run_restarts
from thalweg.evaluate import Dask, Ray
from thalweg.integrations.scipy import scipy_method
from thalweg.models import Quadratic
from thalweg.search.constraints import Constraints
from thalweg.search.known import Known
from thalweg.search.minimize import minimize, resume
from thalweg.search.optimizer import Optimizer
from thalweg.search.reevaluate import reevaluate
from thalweg.search.stopping import REASONS, Tolerances
from thalweg.space import CATEGORICAL, Fixed, Integer, Real, Space
from thalweg.storage.log import read_log
from thalweg.strategies.flows import NICE, Affine, Identity, RealNVP
from thalweg.strategies.flowsteps import Penalised, TrustRegion
from thalweg.strategies.gnnes import GNNES
from thalweg.strategies.latents import CMAES, LRACMAES, PGES, SNES, XNES, CauchyNES, SepCMAES
from thalweg.strategies.registry import METHODS, Method, make_strategy, method_names
from thalweg.strategies.strategy import Strategy

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
    "Constraints",
    "Dask",
    "Fixed",
    "Identity",
    "Integer",
    "Known",
    "Method",
    "Optimizer",
    "Penalised",
    "Quadratic",
    "Ray",
    "Real",
    "RealNVP",
    "Restarted",
    "SepCMAES",
    "Space",
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
    "scipy_method",
]

_NAMES = tuple(__all__)
del __all__  # for type checkers; with it `help(thalweg)` prints the help of all classes, nearly 3,000 lines

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Say what to do about categories; other names do not exist."""
        if name == "Categorical":
            raise AttributeError(f"a Categorical {CATEGORICAL}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Show users what they may use, not the packages inside."""
    return list(_NAMES)

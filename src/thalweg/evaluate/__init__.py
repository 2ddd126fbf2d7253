"""Evaluation of points: in this process, in processes, by a map or an executor, on Ray or on Dask.

An objective may return NaN, inf or None, raise, hang, or kill its process. The evaluation is then repeated, `retries` times at
most; after that the point ranks last and the run goes on.
"""

from thalweg.evaluate.base import Engine, EngineFactory, PointId
from thalweg.evaluate.dask_engine import Dask
from thalweg.evaluate.evaluator import AllFailedError, Evaluator, Interrupted
from thalweg.evaluate.ray_engine import Ray
from thalweg.evaluate.registry import ENGINES, Workers

__all__ = [
    "ENGINES",
    "AllFailedError",
    "Dask",
    "Engine",
    "EngineFactory",
    "Evaluator",
    "Interrupted",
    "PointId",
    "Ray",
    "Workers",
]

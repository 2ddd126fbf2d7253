"""One problem of the suite under observation: counts evaluations, records when targets are reached, enforces the budget."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from math import inf, isnan
from pathlib import Path
from typing import Any

import numpy as np

from thalweg_studies.bbob.record import LADDER, SOLVED, Run
from thalweg_studies.common.extras import require


class FinishedError(Exception):
    """The problem is solved or the budget spent; raised to end libraries that would go on."""


class ObservedProblem:
    """A function that counts its calls and raises `FinishedError` once it is solved or the budget spent."""

    def __init__(self, function: Callable[[np.ndarray], float], f_opt: float, d: int, budget: int) -> None:
        self.function, self.f_opt, self.d, self.budget = function, f_opt, d, budget
        self.evaluations, self.best = 0, inf
        self.hits = [inf] * len(LADDER)
        self._rung = 0

    @property
    def target(self) -> float:
        """The value at which the problem is solved."""
        return self.f_opt + SOLVED

    def __call__(self, x: Any) -> float:
        """Evaluate one point, and count it."""
        if self.evaluations >= self.budget or self._rung == len(LADDER):
            raise FinishedError
        return self._value(x)

    def generation(self, X: np.ndarray) -> np.ndarray:
        """Evaluate several points; those beyond the budget get inf.

        The generation that solves the problem is evaluated to its end, as methods do.
        """
        return np.array([self._value(x) if self.evaluations < self.budget else inf for x in X])

    def single(self, x: np.ndarray) -> float:
        """Evaluate one point; beyond the budget it gets inf."""
        return float(self.generation(x[None])[0])

    def run(self, restarts: int) -> Run:
        """Return the record of the run."""
        return Run(self.evaluations, self.best, restarts, tuple(self.hits))

    def _value(self, x: Any) -> float:
        value = float(self.function(np.asarray(x, float)))
        self.evaluations += 1
        if not isnan(value):
            self.best = min(self.best, value - self.f_opt)
        while self._rung < len(LADDER) and value <= self.f_opt + LADDER[self._rung]:
            self.hits[self._rung] = float(self.evaluations)
            self._rung += 1
        return value


def f_opt(function: int, instance: int) -> float:
    """Return the minimum of an instance, which does not depend on the dimension; pycma has COCO's numbers."""
    benchmarks: Any = require("cma.bbobbenchmarks")
    return float(benchmarks.instantiate(function, instance)[1])


@contextmanager
def observed_problem(
    function: int, d: int, instance: int, budget: int, logger: str, folder: Path, name: str
) -> Generator[ObservedProblem]:
    """Open a problem whose trajectory is written into a folder, complete once the context ends without an error."""
    opened = {"coco": _coco, "ioh": _ioh, "none": _plain}[logger](function, d, instance, folder, name)
    with opened as problem:
        yield ObservedProblem(problem, f_opt(function, instance), d, budget)


@contextmanager
def _coco(function: int, d: int, instance: int, folder: Path, name: str) -> Generator[Any]:
    """Open a problem of `coco-experiment` with its observer."""
    cocoex: Any = require("cocoex")
    cocoex.log_level("warning")  # else it prints a line for every folder
    suite = cocoex.Suite("bbob", f"instances: {instance}", f"function_indices: {function} dimensions: {d}")
    observer = cocoex.Observer(
        "bbob", f'result_folder: {folder.name} outer_folder: "{folder.parent}" algorithm_name: {name} algorithm_info: "thalweg"'
    )
    problem = suite.get_problem(0)
    problem.observe_with(observer)
    try:
        yield problem
    finally:
        problem.free()  # writes the rest of its files; COCO allows one observed problem at a time


@contextmanager
def _ioh(function: int, d: int, instance: int, folder: Path, name: str) -> Generator[Any]:
    """Open the same problem of IOHexperimenter, equal to COCO's up to rounding, with its Analyzer."""
    ioh: Any = require("ioh")
    logger = ioh.logger.Analyzer(
        root=str(folder.parent), folder_name=folder.name, algorithm_name=name, algorithm_info="thalweg"
    )
    problem = ioh.get_problem(function, instance, d, ioh.ProblemClass.BBOB)
    problem.attach_logger(logger)
    try:
        yield problem
    finally:
        problem.detach_logger()
        logger.close()


@contextmanager
def _plain(function: int, d: int, instance: int, folder: Path, name: str) -> Generator[Any]:
    """Open the same problem as pycma has it, equal to COCO's up to rounding, without a logger; the folder stays empty."""
    benchmarks: Any = require("cma.bbobbenchmarks")
    folder.mkdir(parents=True)
    yield benchmarks.instantiate(function, instance)[0]

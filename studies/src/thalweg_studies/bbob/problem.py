"""One problem of the suite, watched: how many evaluations it took to each target, and no more of them than there are."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from math import inf, isnan
from pathlib import Path
from typing import Any

import numpy as np

from thalweg_studies.bbob.extras import require
from thalweg_studies.bbob.record import LADDER, SOLVED, Run


class OverError(Exception):
    """The problem is solved or the budget spent: the way out of programs that would go on."""


class Watched:
    """A function that counts its calls and raises `OverError` when there is no reason for another."""

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
        """The value of one point."""
        if self.evaluations >= self.budget or self._rung == len(LADDER):
            raise OverError
        return self._value(x)

    def generation(self, X: np.ndarray) -> np.ndarray:
        """The values of several points; inf for those that the budget does not cover any more.

        The generation that solves the problem is evaluated to its end, as the methods do it.
        """
        return np.array([self._value(x) if self.evaluations < self.budget else inf for x in X])

    def run(self, restarts: int) -> Run:
        """What is kept of it."""
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
    """The least value of an instance, which does not depend on the dimension. pycma has COCO's numbers."""
    benchmarks: Any = require("cma.bbobbenchmarks")
    return float(benchmarks.instantiate(function, instance)[1])


@contextmanager
def watched(function: int, d: int, instance: int, budget: int, logger: str, folder: Path, name: str) -> Generator[Watched]:
    """A problem whose course is written into a folder, which is whole once the context is left without an error."""
    opened = {"coco": _coco, "ioh": _ioh}[logger](function, d, instance, folder, name)
    with opened as problem:
        yield Watched(problem, f_opt(function, instance), d, budget)


@contextmanager
def _coco(function: int, d: int, instance: int, folder: Path, name: str) -> Generator[Any]:
    """From `coco-experiment`, with its own observer."""
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
    """The same function by IOHexperimenter, equal to COCO's up to rounding."""
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

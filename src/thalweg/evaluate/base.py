"""The interface of the engines that take points one by one."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from thalweg._common.outcome import Failure, Objective, Outcome

PointId = Any
"""Identifies a point from its start to its outcome: any hashable object that the caller chooses."""

DIED = Failure("the worker that evaluated the objective died")


@dataclass
class Engine(ABC):
    """Evaluates the objective at points that are started one by one.

    Each point is tried once, for as long as it takes: `PointQueue` adds retries and time limits for all engines.
    """

    fun: Objective
    args: tuple[Any, ...]

    @property
    @abstractmethod
    def capacity(self) -> int:
        """Number of evaluations that can run at a time."""

    @abstractmethod
    def room(self, wanted: int) -> int:
        """Return how many points can start right now. Starts workers for up to `wanted` points, which may be ready later."""

    @abstractmethod
    def start(self, point_id: PointId, x: np.ndarray) -> None:
        """Start the evaluation of a point. There must be room for it."""

    @abstractmethod
    def finished(self, timeout: float | None) -> Iterable[tuple[PointId, Outcome]]:
        """Return the outcomes since the last call. Waits up to `timeout` seconds for one, or for more room."""

    @abstractmethod
    def cancel(self, point_id: PointId) -> None:
        """Stop a pending evaluation, if it has begun. Its outcome is never returned."""

    def close(self) -> None:
        """Release workers and connections."""


@runtime_checkable
class EngineFactory(Protocol):
    """An engine that waits for its objective: an entry of `ENGINES` makes one from `address` and `workers`."""

    def engine(self, fun: Objective, args: tuple[Any, ...]) -> Engine:
        """Start or connect to the workers."""
        ...

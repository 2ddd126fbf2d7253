"""What a way of evaluation has to do: an engine takes points one by one, a batch whole generations."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg._common.outcome import Failure, Objective, Outcome

Ticket = Any
"""What a point is known by, from its start to its outcome: anything that can be the key of a dictionary."""

DIED = Failure("the worker that evaluated the objective died")


@dataclass
class Engine(ABC):
    """Evaluates the objective at points that are handed over one by one.

    It tries each once, as long as it takes: retries, timeouts and the account of failures are kept by `Attempts` for all
    engines alike.
    """

    fun: Objective
    args: tuple[Any, ...]

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many evaluations can go on at a time."""

    @abstractmethod
    def room(self, wanted: int) -> int:
        """How many of as many further points can be started right now; who lacks workers for them makes some."""

    @abstractmethod
    def start(self, ticket: Ticket, x: np.ndarray) -> None:
        """Begin with a point, for which there is room."""

    @abstractmethod
    def finished(self, timeout: float | None) -> Iterable[tuple[Ticket, Outcome]]:
        """What has ended since the last call. Waits for that, or for room, at most `timeout` seconds."""

    @abstractmethod
    def give_up(self, ticket: Ticket) -> None:
        """Stop a point that was started and has not ended; nothing more is heard of it."""

    def close(self) -> None:
        """Let go of what was taken."""


@dataclass
class Batch(ABC):
    """Evaluates the objective at all points of a generation in one call."""

    fun: Objective
    args: tuple[Any, ...]

    @abstractmethod
    def run(self, points: np.ndarray) -> Iterable[Outcome] | np.ndarray:
        """The outcomes in order, one by one if it can; who has all of them as numbers may return these."""

    def close(self) -> None:
        """Let go of what was taken."""

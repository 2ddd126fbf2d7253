"""Copies of a search, by `copy`, `deepcopy` and `pickle`: each goes on by itself, to the same bits as the original."""

import copy
import time
from typing import Any, Self

from thalweg.search.constraints import Constraints
from thalweg.space import Space


class Copyable:
    """A search that can be copied whole: state, pending points, the generation that is out, campaign and history.

    Compiled programs do not travel: whoever reads a pickle compiles them again.
    """

    x0: Any
    method: Any
    strategy: Any
    constraints: Constraints
    variables: Space | None
    started: float
    """The moment of the start."""

    @property
    def elapsed(self) -> float:
        """Seconds since the start, without the time between a checkpoint or a pickle and its continuation."""
        return time.monotonic() - self.started

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "started": -self.elapsed}  # another process has another clock

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.started += time.monotonic()

    def __copy__(self) -> Self:
        """Return a search that shares with this one the objects that the user has given, and nothing that changes."""
        given = (self.x0, self.method, self.strategy, self.constraints, self.variables)
        return copy.deepcopy(self, {id(each): each for each in given})

"""A generation whose points meet the same environment seeds, evaluated by workers."""

from types import TracebackType
from typing import Any

import numpy as np

from thalweg.evaluate import Evaluator, Workers
from thalweg.rl.search import PolicySearch


class Together:
    """A `PolicySearch` of whole generations, for `minimize(..., vectorized=True)`, by workers of its own.

    >>> search = PolicySearch("CartPole-v1", rollouts=2)
    >>> X = np.random.default_rng(1).normal(size=(4, search.d))
    >>> with Together(search, workers=1) as together:
    ...     bool(np.all(together(X) == search(X)))
    True
    """

    def __init__(self, search: PolicySearch, workers: Workers = -1) -> None:
        self.search = search
        self.evaluate = Evaluator(_seeded, (search,), workers)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """The values of the points X, (n, d), each from the environment seeds of them all."""
        seeds = np.array(self.search.seeds(X), float)  # below 2^32, so exact; workers take one array a point
        return self.evaluate(np.hstack([X, np.broadcast_to(seeds, (len(X), len(seeds)))]))

    def __enter__(self) -> "Together":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.evaluate.__exit__(kind, error, trace)


def _seeded(row: np.ndarray, search: PolicySearch) -> Any:
    return search.evaluate(row[: search.d], row[search.d :].astype(int).tolist()).value

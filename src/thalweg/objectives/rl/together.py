"""A generation whose points meet the same environment seeds, evaluated by workers."""

import copy
from types import TracebackType
from typing import Any

import numpy as np

from thalweg._common.checks import as_array
from thalweg._common.outcome import Noted, Outcome
from thalweg.evaluate import Evaluator, Workers
from thalweg.objectives.rl.normaliser import Normaliser
from thalweg.objectives.rl.rollout import Trial
from thalweg.objectives.rl.search import PolicySearch


class Together:
    """A `PolicySearch` of whole generations, for `minimize(..., vectorized=True)`, by workers of its own.

    >>> search = PolicySearch("CartPole-v1", rollouts=2)
    >>> X = np.random.default_rng(1).normal(size=(4, search.d))
    >>> with Together(search, workers=1) as together:
    ...     bool(np.all(together(X) == search(X)))
    True

    `search` itself counts the steps of the workers, and its running statistics, if it has such, take in what they observe: all
    is as if `search(X)` had been called.
    """

    def __init__(self, search: PolicySearch, workers: Workers = -1) -> None:
        self.search = search
        # a copy counts its own steps, in threads too: each step is counted once, when it is told of
        self.evaluate = Evaluator(_trial, (copy.copy(search),), workers)

    def __call__(self, X: Any) -> np.ndarray:
        """The values of the points X, (n, d), each from the environment seeds of them all."""
        points = as_array(X, "X")
        if points.ndim != 2 or points.shape[1] != self.search.d:
            raise ValueError(
                f"X must be a generation of shape (n, {self.search.d}), got {points.shape}; pass vectorized=True to minimize"
            )
        common = np.array(self.search.seeds(points), float)  # below 2^32, so exact; workers take one array a point
        if (normaliser := self.search.normaliser) is not None:
            common = np.concatenate([common, normaliser.mean, normaliser.std])
        trials: dict[int, Trial] = {}

        def record(i: int, outcome: Outcome) -> None:
            if outcome.note is not None:
                trials[i] = outcome.note
                self.search.count(int(outcome.note.evaluation.steps.sum()))

        rows = np.hstack([points, np.broadcast_to(common, (len(points), len(common)))])
        values = self.evaluate(rows, record=record)
        self.search.learn(trial for _, trial in sorted(trials.items()))  # in order: sums depend on it
        return values

    def __enter__(self) -> "Together":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.evaluate.__exit__(kind, error, trace)


def _trial(row: np.ndarray, search: PolicySearch) -> Noted:
    """What a worker does with a point, its environment seeds and the normaliser of its generation."""
    x, seeds, rest = np.split(row, [search.d, search.d + search.rollouts])
    mean, std = np.split(rest, 2)
    normaliser = Normaliser(tuple(mean.tolist()), tuple(std.tolist())) if len(mean) else None
    trial = search.trial(x, seeds.astype(int).tolist(), normaliser)
    return Noted(trial.evaluation.value, trial)

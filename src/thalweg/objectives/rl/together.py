"""Parallel evaluation of a generation whose points share their environment seeds."""

import copy
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from thalweg._common.checks import as_array
from thalweg._common.outcome import Noted, Outcome
from thalweg.evaluate import Evaluator, Workers
from thalweg.objectives.rl.normaliser import Normaliser
from thalweg.objectives.rl.search import PolicyEvaluation, PolicySearch


class Together(AbstractContextManager["Together"]):
    """A `PolicySearch` that evaluates a generation in parallel, for `minimize(..., vectorized=True)`.

    >>> search = PolicySearch("CartPole-v1", rollouts=2)
    >>> X = np.random.default_rng(1).normal(size=(4, search.d))
    >>> with Together(search, workers=1) as together:
    ...     bool(np.all(together(X) == search(X)))
    True

    The result is that of `search(X)`: `search` also counts the steps of the workers, and its running statistics, if it has any,
    learn from the observations of the workers.
    """

    def __init__(self, search: PolicySearch, workers: Workers = -1) -> None:
        self.search = search
        # a copy, which counts its own steps in threads as well: `search` counts each step once, when it is reported
        self.evaluate = Evaluator(_evaluate, (copy.copy(search),), workers)

    def __call__(self, X: Any) -> np.ndarray:
        """Return the values of the points X (n, d), all from the same environment seeds."""
        points = as_array(X, "X")
        if points.ndim != 2 or points.shape[1] != self.search.d:
            raise ValueError(
                f"X must be a generation of shape (n, {self.search.d}), got {points.shape}; pass vectorized=True to minimize"
            )
        common = np.array(self.search.seeds(points), float)  # below 2^32, hence exact; workers get one array for each point
        if (normaliser := self.search.normaliser) is not None:
            common = np.concatenate([common, normaliser.mean, normaliser.std])
        evaluations: dict[int, PolicyEvaluation] = {}

        def record(i: int, outcome: Outcome) -> None:
            if outcome.note is not None:
                evaluations[i] = outcome.note
                self.search.add_steps(int(outcome.note.steps.sum()))

        rows = np.hstack([points, np.broadcast_to(common, (len(points), len(common)))])
        values = self.evaluate(rows, record=record)
        self.search.learn([evaluations[i] for i in sorted(evaluations)])  # rounding depends on the order
        return values

    def __exit__(self, *raised: object) -> None:
        self.evaluate.__exit__(*raised)


def _evaluate(row: np.ndarray, search: PolicySearch) -> Noted:
    """Evaluate a row that holds a point, its environment seeds and the normaliser of its generation."""
    x, seeds, rest = np.split(row, [search.d, search.d + search.rollouts])
    mean, std = np.split(rest, 2)
    normaliser = Normaliser(tuple(mean.tolist()), tuple(std.tolist())) if len(mean) else None
    evaluation = search.evaluate_in_generation(x, seeds.astype(int).tolist(), normaliser)
    return Noted(evaluation.value, evaluation)

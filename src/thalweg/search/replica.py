"""Replicas of a search: several processes, each with a search of its own that learns the values of all points.

What a point needs for that goes with it, as a `Draw`, wherever the processes keep their points. Nothing else is shared: a
replica that has heard of the same values in the same order is in the same state, and one that has not differs by a few late
points, which it learns from as a search with asynchronous workers does (docs/math.md (31)).
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from thalweg.search.constraints.told import Told
from thalweg.search.optimizer import Optimizer
from thalweg.search.pending import PendingPoint
from thalweg.search.run import OutOfRangeError
from thalweg.strategies.strategy import HasPlace

SAME = 1e-9
"""Largest difference between two standard draws that are the same."""


@dataclass(frozen=True)
class Draw:
    """A point with its place in the search distribution that it was drawn from."""

    run: int
    x: list[float]
    y: list[float]
    e: list[float]
    log_density: float

    @classmethod
    def of(cls, run: int, point: PendingPoint) -> "Draw":
        """Return an open point of a run with a model, which asks for no density."""
        return cls(run, point.x.tolist(), point.y.tolist(), point.e.tolist(), 0.0)

    def pack(self) -> dict[str, Any]:
        """Return it as JSON's types."""
        return asdict(self)

    @classmethod
    def unpack(cls, packed: Any, d: int) -> "Draw | None":
        """Return what `pack` has returned in dimension d; None for anything else."""
        try:
            draw = cls(**packed)
            finite = np.isfinite([*np.reshape([draw.x, draw.y, draw.e], 3 * d), draw.log_density])
        except (TypeError, ValueError):
            return None
        return draw if isinstance(draw.run, int) and np.all(finite) else None


class Replica:
    """A search whose points are drawn one by one, each from a random number generator of its own.

    >>> first, second = (Replica(Optimizer([1.0, 2.0], method="cma", seed=1, popsize=4)) for _ in range(2))
    >>> for number in range(8):  # two processes draw by turns; both learn all values
    ...     draw = (first, second)[number % 2].draw(number)
    ...     for replica in (first, second):
    ...         replica.tell(draw, sum(draw.x))
    >>> first.es.nit, bool((first.es.mean == second.es.mean).all())
    (2, True)
    """

    def __init__(self, es: Optimizer) -> None:
        if not isinstance(es.strategy, HasPlace):
            raise ValueError(f"method must be one of thalweg's own, got {es.method!r}, whose points cannot be drawn one by one")
        self.es = es

    def draw(self, number: int) -> Draw:
        """Return the point with this number, which all replicas together use once."""
        es = self.es
        es.restart_if_ended()
        run = es.run
        e = np.random.default_rng([es.seed, number]).standard_normal(run.d)
        y = run.steps.place(run.packed, np.tile(e, (run.popsize, 1)))  # the programs take a whole generation
        x = np.array(run.space.to_objective(y))[0]
        density = run.steps.locate(run.packed, y)[1][0]
        if not (np.all(np.isfinite(x)) and np.isfinite(density)):
            raise OutOfRangeError(f"the search distribution is no longer finite (after {es.nit} generations)")
        return Draw(es.campaign.runs, x.tolist(), y[0].tolist(), e.tolist(), float(density))

    def notice(self, draw: Draw) -> None:
        """Take note of a point that another replica has drawn; its value will be told."""

    def tell(self, draw: Draw, value: float | None) -> None:
        """Learn the value of a point that any replica has drawn; None is a failure."""
        es, x = self.es, np.array(draw.x)
        if draw.run > es.campaign.runs:  # another replica has seen the end of a run that this one is still at
            es.halt("stagnation")
            es.restart_if_ended()
        if draw.run != es.campaign.runs:
            es.campaign = es.campaign.after_late_value(Told.read([value], None, None, None).best(0, x, es.nfev + 1, None))
            return
        run, y, e = es.run, np.array(draw.y), np.array(draw.e)
        here = run.steps.locate(run.packed, np.tile(y, (run.popsize, 1)))[0][0]
        generation = run.nit if np.allclose(here, e, SAME, SAME) else -1
        es.pending.adopt(PendingPoint(x, y, e, generation, es.nfev, draw.log_density))
        es.tell(x[None], [value])

    def tell_foreign(self, x: np.ndarray, value: float | None) -> None:
        """Learn the value of a point that no replica has drawn."""
        self.es.tell(x[None], [value], foreign=True)


class ModelledReplica(Replica):
    """A search with a model, which chooses its points one after the other.

    Replicas that choose at the same moment may choose the same point. Its second value is that of a foreign point.
    """

    def draw(self, number: int) -> Draw:
        point = self.es.ask_points(1)[0]
        return Draw.of(self.es.campaign.runs, point)

    def notice(self, draw: Draw) -> None:
        self.es.ask_points(1)

    def tell(self, draw: Draw, value: float | None) -> None:
        self.tell_foreign(np.array(draw.x), value)

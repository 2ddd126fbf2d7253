"""Pending points: handed out one by one, told in any order, some of them late.

A point is late when the search has moved on since it was drawn. It still teaches, but its place in the search distribution has
changed. Its draw is interpolated between what it was then and what it is now, docs/math.md (31): the former alone makes the
search overshoot, the latter alone holds it back. A point whose density has fallen too far says nothing about the present.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf, nan
from typing import Any

import numpy as np

from thalweg._common.checks import as_array, as_count, shortened
from thalweg.compiled.drawn import Ahead, Drawn
from thalweg.compiled.steps import Steps
from thalweg.search.foreign import ForeignPoints
from thalweg.search.run import Asked
from thalweg.strategies.strategy import State

NOW = 0.3
"""Share of the present draw in that of a late point, docs/math.md (31)."""
FADED = 1.0
"""Loss of log-density per dimension beyond which a late point is left out, docs/math.md (32)."""
MOST = 10_000
"""Maximal number of open points; beyond that the oldest are forgotten, so that those nobody tells do not pile up."""


@dataclass(slots=True, eq=False)
class PendingPoint:
    """A point that was drawn: x for the objective, y in R^d, and its standard draw e."""

    x: np.ndarray
    y: np.ndarray
    e: np.ndarray
    generation: int
    """Number of generations told when it was drawn."""
    index: int
    """Index among the points of that generation."""
    log_density: float = nan
    """Log-density under the distribution that it was drawn from; known once the search has moved on."""
    f: float = nan
    rows: np.ndarray | None = None
    """Values of the constraints; None without."""

    @property
    def place(self) -> tuple[int, int]:
        """Generation and index, by which points are told apart and ordered."""
        return self.generation, self.index


def as_number_of_points(value: Any, popsize: int) -> int:
    """Return a number of points to hand out at once: no more than are kept open, or than a generation has."""
    number, most = as_count(value, "number"), max(MOST, popsize)
    if number > most:
        raise ValueError(f"number must be at most {most}, as no more points are kept open, got {number:.6g}; ask more often")
    return number


class PendingPoints:
    """The points between `ask` and what is learned from them.

    `queue` holds points that were drawn and not handed out, `open` those that were handed out, by their bytes, and `told` those
    whose values wait for a generation to be complete.
    """

    def __init__(self, steps: Steps, popsize: int) -> None:
        self.steps, self.popsize = steps, popsize
        self.queue: deque[PendingPoint] = deque()
        self.open: dict[bytes, list[PendingPoint]] = {}
        self.told: list[PendingPoint] = []
        self.drawn = 0
        """Number of points that the present generation has drawn."""
        self.foreign = ForeignPoints(popsize)
        """Points that were told without having been asked."""

    def __bool__(self) -> bool:
        return bool(self.open or self.told or self.queue or self.foreign)

    @property
    def handed_out(self) -> int:
        """Number of points of the present generation that were handed out."""
        return self.drawn - len(self.queue)

    @property
    def open_points(self) -> Iterator[PendingPoint]:
        """Points that were handed out and not told."""
        return (point for points in self.open.values() for point in points)

    @property
    def info(self) -> Mapping[str, float]:
        """Further numbers to show of the last generation, by name."""
        return {}

    def know(self, y: np.ndarray, f: np.ndarray) -> None:
        """Take known values f of points y of R^d, best first, before the first generation; for models."""

    def tell_foreign(self, x: np.ndarray, y: np.ndarray, f: np.ndarray) -> None:
        """Take values f of points x, y in R^d, that were not drawn here."""
        self.foreign.add(y, f)

    def emptied(self) -> "PendingPoints":
        """Return the same without any points."""
        return PendingPoints(self.steps, self.popsize)

    def lacks(self, number: int) -> bool:
        """Return whether a generation must be drawn before this number of points can be handed out."""
        return len(self.queue) < number

    def batch(self, workers: int, left: float) -> int:
        """Return the number of points to hand out at once, given the number of workers and of evaluations that are left."""
        return int(min(len(self.queue), left))

    def add(self, asked: Asked, generation: int) -> None:
        """Put points that were just drawn into the queue."""
        x, e, y = asked.x, np.asarray(asked.drawn.e), np.asarray(asked.drawn.y)
        self.queue.extend(PendingPoint(x[i], y[i], e[i], generation, self.drawn + i) for i in range(len(x)))
        self.drawn += len(x)

    def hand_out(self, number: int, first: Iterable[int] = ()) -> list[PendingPoint]:
        """Take points out of the queue; from now on they are open. `first` is for models, which choose them by index."""
        points = [self.queue.popleft() for _ in range(number)]
        self._open(points)
        return points

    def missing(self, indices: Sequence[int]) -> int:
        """Return the number of points to hand out until all with these indices in the present generation are."""
        return max(indices, default=-1) + 1 - self.handed_out

    def is_new(self, index: int) -> bool:
        """Return whether the point with this index in the present generation was not handed out yet."""
        return index >= self.handed_out

    def find(self, X: Any, d: int) -> list[PendingPoint]:
        """Return the open points that equal these, each once; raise a ValueError if there is another among them."""
        points = as_array(X, "X")
        if points.ndim != 2 or points.shape[1] != d:
            raise ValueError(f"X must hold points of ask, shape (n, {d}), got shape {points.shape}")
        found: list[PendingPoint] = []
        taken: dict[bytes, int] = {}
        for i, x in enumerate(points):
            key = key_of(x)
            taken[key] = place = taken.get(key, -1) + 1
            if place >= len(self.open.get(key, ())):
                raise ValueError(
                    f"X[{i}] = {shortened(x.tolist())} is not a point that ask has returned and that is still open, or it "
                    "is rounded too much to tell which one; tell the points of ask as they are, each once, or offer others "
                    "with inject"
                )
            found.append(self.open[key][place])
        return found

    def adopt(self, point: PendingPoint) -> None:
        """Open a point that another replica of the search has drawn."""
        self._open([point])

    def holds(self, x: np.ndarray) -> bool:
        """Return whether an open point equals this one."""
        return key_of(x) in self.open

    def forget(self, x: np.ndarray) -> None:
        """Close an open point that equals this one, without a value."""
        self._close(self.open[key_of(x)][0])

    def tell(self, values: Iterable[tuple[PendingPoint, float]]) -> None:
        """Record the values of open points."""
        for point, value in values:
            point.f = value
            self._close(point)
            self.told.append(point)

    def complete(self, state: State, generation: int) -> list[PendingPoint] | None:
        """Take a generation of told points, first told first, without those that have faded; None if there are too few.

        Foreign points that are good enough have the places that are missing in it.
        """
        if len(self.told) < self.popsize - self.foreign.ready:
            return None
        self.foreign.drop_worse([point.f for point in self.told])
        wanted = self.popsize - self.foreign.ready
        if len(self.told) < wanted:
            return None
        late = [point for point in self.told if point.generation < generation]
        faded: set[int] = set()
        if late:
            now = self._locate(state, late)[1]
            limit = FADED * len(late[0].e)
            faded = {id(point) for point, density in zip(late, now, strict=True) if point.log_density - density > limit}
        self.told = [point for point in self.told if id(point) not in faded]
        if len(self.told) < wanted:
            return None
        chosen, self.told = self.told[:wanted], self.told[wanted:]
        return sorted(chosen, key=lambda point: point.place)  # whatever the order of telling

    def draws(self, state: State, points: Sequence[PendingPoint], generation: int) -> np.ndarray:
        """Return the standard draws of the points in the present search distribution, (n, d)."""
        e = np.stack([point.e for point in points])
        late = [i for i, point in enumerate(points) if point.generation < generation]
        if late:
            now = self._locate(state, points)[0][late]
            e[late] = (1 - NOW) * e[late] + NOW * np.where(np.isfinite(now), now, e[late])
        return e

    def move_on(self, drawn: Drawn | Ahead) -> None:
        """Prepare for the search to leave a state: points drawn from it that are still pending become late."""
        present = [point for point in (*self.open_points, *self.told) if np.isnan(point.log_density)]
        if present:
            for point, density in zip(present, self._locate(drawn.state, present)[1], strict=True):
                point.log_density = float(density) if np.isfinite(density) else inf
        self.queue.clear()
        self.drawn = 0

    def pack(self) -> dict[str, Any]:
        """Return all of it as JSON's types."""
        return {
            "drawn": self.drawn,
            **({"foreign": self.foreign.pack()} if self.foreign else {}),
            **{
                name: [_packed(point) for point in points]
                for name, points in (("queue", self.queue), ("open", self.open_points), ("told", self.told))
            },
        }

    def unpack(self, packed: dict[str, Any], coordinates: int, d: int) -> None:
        """Restore what `pack` has returned, in dimension d, with this number of coordinates of the objective's argument."""
        made = {name: [_point(each, coordinates, d) for each in packed.get(name, [])] for name in ("queue", "open", "told")}
        self.queue, self.told, self.drawn = deque(made["queue"]), made["told"], int(packed.get("drawn", 0))
        self.foreign.unpack(packed.get("foreign", []), d)
        self.open = {}
        for point in made["open"]:
            self.open.setdefault(key_of(point.x), []).append(point)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what is to be stored besides `pack`, as arrays."""
        return {}

    def take_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `arrays` has returned, after `unpack`; raise a ValueError if it does not fit."""
        for name in arrays:
            raise ValueError(f"it has the array {name!r} of a model, and there is none here")

    def _locate(self, state: State, points: Sequence[PendingPoint]) -> tuple[np.ndarray, np.ndarray]:
        """Return draws and log-densities under a state, in portions of the population, for which there is one program."""
        y, n = np.stack([point.y for point in points]), self.popsize
        padded = np.concatenate([y, np.tile(y[:1], (-len(y) % n, 1))])
        parts = [self.steps.locate(state, padded[i : i + n]) for i in range(0, len(padded), n)]
        e, density = (np.concatenate(each)[: len(y)] for each in zip(*parts, strict=True))
        return e, density

    def _open(self, points: Sequence[PendingPoint]) -> None:
        for point in points:
            self.open.setdefault(key_of(point.x), []).append(point)
        if (excess := len(self.open) - MOST) > 0:
            for point in sorted(self.open_points, key=lambda point: point.place)[:excess]:
                self._close(point)

    def _close(self, point: PendingPoint) -> None:
        key = key_of(point.x)
        left = [other for other in self.open[key] if other is not point]
        if left:
            self.open[key] = left
        else:
            del self.open[key]


def key_of(x: np.ndarray) -> bytes:
    """Return what tells points apart."""
    return (x + 0.0).tobytes()  # + 0.0 makes -0.0 and 0.0 the same


def _packed(point: PendingPoint) -> dict[str, Any]:
    values = {name: value for name, value in asdict(point).items() if value is not None}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def _point(packed: dict[str, Any], coordinates: int, d: int) -> PendingPoint:
    x, y, e = (np.array(packed[name], float) for name in ("x", "y", "e"))
    if not (x.shape == (coordinates,) and y.shape == e.shape == (d,)):
        raise ValueError(f"a point has shape {x.shape}, {y.shape} and {e.shape}")
    numbers = int(packed["generation"]), int(packed["index"]), float(packed["log_density"]), float(packed["f"])
    rows = packed.get("rows")
    return PendingPoint(x, y, e, *numbers, None if rows is None else np.array(rows, float))

"""Points on their way through the user's hands: handed out one by one, told in any order, some of them late.

A point is late when the search has moved on since it was drawn. It still teaches, but where in the search distribution it lies
has changed. Its draw is taken between what it was then and what it is now, docs/math.md (31): the former alone makes the search
overshoot, the latter alone holds it back. A point whose density has fallen too far says nothing about the present.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import inf, nan
from typing import Any

import numpy as np

from thalweg._common.checks import as_array, shortened
from thalweg.compiled.steps import Drawn, Steps
from thalweg.strategies.strategy import State

NOW = 0.3
"""The share of the present draw in that of a late point, docs/math.md (31)."""
FADED = 1.0
"""A late point is left out when its log-density has fallen by more than this for each dimension, docs/math.md (32)."""
LONGEST = 10_000
"""How many points may be open; beyond that the oldest are forgotten, so that those nobody tells do not pile up."""


@dataclass(slots=True, eq=False)
class Point:
    """One point: as the objective sees it, in the unbounded search space, and as it was drawn."""

    x: np.ndarray
    y: np.ndarray
    e: np.ndarray
    generation: int
    """How many had been told when it was drawn,"""
    index: int
    """and which of that generation's points it is."""
    log_density: float = nan
    """Under the distribution that it was drawn from; known once the search has moved on."""
    f: float = nan

    @property
    def place(self) -> tuple[int, int]:
        """By which points are told apart and put in order."""
        return self.generation, self.index


class Flight:
    """The points between `ask` and what is learned from them.

    `queue` holds those that are drawn but not handed out, `open` those handed out by what they look like, `waiting` those told.
    """

    def __init__(self, steps: Steps, n: int) -> None:
        self.steps, self.n = steps, n
        self.queue: deque[Point] = deque()
        self.open: dict[bytes, list[Point]] = {}
        self.waiting: list[Point] = []
        self.drawn = 0
        """How many points the present generation has drawn so far."""

    def __bool__(self) -> bool:
        return bool(self.open or self.waiting or self.queue)

    @property
    def handed(self) -> int:
        """How many points of the present generation were handed out."""
        return self.drawn - len(self.queue)

    def add(self, drawn: Drawn, x: np.ndarray, generation: int) -> None:
        """Points that were drawn just now."""
        e, y = np.asarray(drawn.e), np.asarray(drawn.x)
        self.queue.extend(Point(x[i], y[i], e[i], generation, self.drawn + i) for i in range(len(x)))
        self.drawn += len(x)

    def hand_out(self, number: int) -> list[Point]:
        """Points out of the queue, now open."""
        points = [self.queue.popleft() for _ in range(number)]
        for point in points:
            self.open.setdefault(_key(point.x), []).append(point)
        if (excess := len(self.open) - LONGEST) > 0:
            for point in sorted(self.still_open(), key=lambda point: point.place)[:excess]:
                self._close(point)
        return points

    def still_open(self) -> Iterator[Point]:
        """Points that were handed out and not told."""
        return (point for points in self.open.values() for point in points)

    def find(self, told: Any, d: int) -> list[Point]:
        """The open points that look like these, each once; a ValueError if there is another among them."""
        points = as_array(told, "X")
        if points.ndim != 2 or points.shape[1] != d:
            raise ValueError(f"X must hold points of ask, shape (n, {d}), got shape {points.shape}")
        found: list[Point] = []
        taken: dict[bytes, int] = {}
        for i, x in enumerate(points):
            key = _key(x)
            taken[key] = place = taken.get(key, -1) + 1
            if place >= len(self.open.get(key, ())):
                raise ValueError(
                    f"X[{i}] = {shortened(x.tolist())} is no point that ask has returned and nobody has told yet; tell the "
                    "points of ask as they are, each once, or offer others with inject"
                )
            found.append(self.open[key][place])
        return found

    def holds(self, x: np.ndarray) -> bool:
        """Whether a point that looks like this is open."""
        return _key(x) in self.open

    def forget(self, x: np.ndarray) -> None:
        """An open point that looks like this need not be told any more."""
        self._close(self.open[_key(x)][0])

    def told(self, values: Iterable[tuple[Point, float]]) -> None:
        """Values of open points."""
        for point, value in values:
            point.f = value
            self._close(point)
            self.waiting.append(point)

    def ready(self, state: State, generation: int) -> list[Point] | None:
        """As many told points as a generation has, if there are: those that can still teach, first told first."""
        if len(self.waiting) < self.n:
            return None
        late = [point for point in self.waiting if point.generation < generation]
        faded: set[int] = set()
        if late:
            now = self._look(state, late)[1]
            limit = FADED * len(late[0].e)
            faded = {id(point) for point, density in zip(late, now, strict=True) if point.log_density - density > limit}
        self.waiting = [point for point in self.waiting if id(point) not in faded]
        if len(self.waiting) < self.n:
            return None
        chosen, self.waiting = self.waiting[: self.n], self.waiting[self.n :]
        return sorted(chosen, key=lambda point: point.place)  # whoever told first

    def draws(self, state: State, points: Sequence[Point], generation: int) -> np.ndarray:
        """What the points are in the present search distribution, (n, d)."""
        e = np.stack([point.e for point in points])
        late = [i for i, point in enumerate(points) if point.generation < generation]
        if late:
            now = self._look(state, points)[0][late]
            e[late] = (1 - NOW) * e[late] + NOW * np.where(np.isfinite(now), now, e[late])
        return e

    def move_on(self, state: State) -> None:
        """The search is about to leave this state: what was drawn from it, and is still on its way, is late from now on."""
        present = [point for point in (*self.still_open(), *self.waiting) if np.isnan(point.log_density)]
        if present:
            for point, density in zip(present, self._look(state, present)[1], strict=True):
                point.log_density = float(density) if np.isfinite(density) else inf
        self.queue.clear()
        self.drawn = 0

    def _look(self, state: State, points: Sequence[Point]) -> tuple[np.ndarray, np.ndarray]:
        """Draws and log-densities of the points under a state; in portions of n, for which there is one program."""
        y = np.stack([point.y for point in points])
        padded = np.concatenate([y, np.tile(y[:1], (-len(y) % self.n, 1))])
        parts = [self.steps.look(state, padded[i : i + self.n]) for i in range(0, len(padded), self.n)]
        e, density = (np.concatenate(each)[: len(y)] for each in zip(*parts, strict=True))
        return e, density

    def _close(self, point: Point) -> None:
        key = _key(point.x)
        left = [other for other in self.open[key] if other is not point]
        if left:
            self.open[key] = left
        else:
            del self.open[key]

    def pack(self) -> dict[str, Any]:
        """All of it, of JSON's types."""
        return {
            "drawn": self.drawn,
            **{
                name: [{key: _plain(value) for key, value in asdict(point).items()} for point in points]
                for name, points in (("queue", self.queue), ("open", self.still_open()), ("waiting", self.waiting))
            },
        }

    def unpack(self, packed: dict[str, Any], d: int) -> None:
        """Take over what another one was, in dimension d."""
        made = {name: [_point(each, d) for each in packed.get(name, [])] for name in ("queue", "open", "waiting")}
        self.queue, self.waiting, self.drawn = deque(made["queue"]), made["waiting"], int(packed.get("drawn", 0))
        self.open = {}
        for point in made["open"]:
            self.open.setdefault(_key(point.x), []).append(point)


def _key(x: np.ndarray) -> bytes:
    return (x + 0.0).tobytes()  # + 0.0 makes -0.0 and 0.0 the same


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _point(packed: dict[str, Any], d: int) -> Point:
    x, y, e = (np.array(packed[name], float) for name in ("x", "y", "e"))
    if not x.shape == y.shape == e.shape == (d,):
        raise ValueError(f"a point has shape {x.shape}, {y.shape} and {e.shape}")
    return Point(x, y, e, int(packed["generation"]), int(packed["index"]), float(packed["log_density"]), float(packed["f"]))

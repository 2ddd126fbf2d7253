"""Generations with a model: candidates are evaluated in the model's order until it ranks the others well enough.

Points that the search has not waited for still enter the model, the best value and the counts when they are told. Points that
were asked beyond the candidates do so too, and stand in for candidates that nobody tells: as many true values as there are
candidates always end a generation.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import Any, cast

import numpy as np

from thalweg._common.checks import shortened
from thalweg.compiled.drawn import Ahead, Drawn
from thalweg.models import Quadratic, Surrogate
from thalweg.search.pending import PendingPoint, PendingPoints
from thalweg.search.run import Asked, Run
from thalweg.strategies.strategy import HasBow, HasPlace, State, Strategy

FOREIGN = 2**31
"""Stands for the generation of a point that was not asked."""


class ModelledPoints(PendingPoints):
    """The points of a run with a model. `queue`, `open` and `told` have candidates of the present generation.

    `open` has also late points and those beyond the candidates, whose indices are from `popsize` on. Values that come between
    two generations wait in `told`, so that it makes no difference when the next one begins.
    """

    def __init__(self, run: Run, model: Quadratic) -> None:
        super().__init__(run.steps, run.popsize)
        self.run, self.model = run, model
        self.surrogate = Surrogate(model, run.d, run.popsize)
        self.bends = run.strategy if isinstance(run.strategy, HasBow) else None
        """The strategy, if it has a bow that the model may set."""
        self.candidates: list[PendingPoint] = []
        """All candidates of the present generation, by index; empty until it begins."""
        self.injected = 0
        """Number of candidates, the first ones, that the user has injected."""
        self.offered = False
        """True if the candidate after these is the model's optimum."""
        self.goal = 0
        """Number of candidates that have values when the model is tested next."""

    @property
    def info(self) -> Mapping[str, float]:
        return self.surrogate.info

    def emptied(self) -> "ModelledPoints":
        fresh = ModelledPoints(self.run, self.model)
        fresh.surrogate = self.surrogate
        return fresh

    def know(self, y: np.ndarray, f: np.ndarray) -> None:
        self.surrogate.know(y, f)

    def tell_foreign(self, x: np.ndarray, y: np.ndarray, f: np.ndarray) -> None:
        for point, place, value in zip(x, y, f.tolist(), strict=True):
            foreign = PendingPoint(point, place, np.zeros_like(place), FOREIGN, 0, f=value)
            if self.candidates:
                self._teach(foreign)
            else:
                self.told.append(foreign)

    def lacks(self, number: int) -> bool:
        return not self.candidates

    def add(self, asked: Asked, generation: int) -> None:
        """Begin a generation; the model may bend it, and its optimum takes the first place that no injected point has."""
        waiting, self.told = self.told, []
        e, y, x = np.array(asked.drawn.e), np.array(asked.drawn.y), asked.x
        self._prepare()
        n = asked.injected
        self.offered = n < len(e) and self._place_offer(n, e)
        # always by the same program, so that a resumed search has the same bits
        y[n:] = self._checked(self.steps.place(self.run.packed, e)[n:])
        if n:
            e[:n] = self.to_standard(y[:n])
        x[n:] = self.run.space.to_objective(y[n:])
        self.candidates = [PendingPoint(x[i], y[i], e[i], generation, i) for i in range(len(x))]
        self.queue.extend(self.candidates)
        self.drawn, self.injected = len(x), n
        self.surrogate.begin(*self._as_seen(e, y))
        self.goal = max(self.surrogate.wanted(0), self.injected)
        for point in waiting:
            self._teach(point)

    def batch(self, workers: int, left: float) -> int:
        # all that the next test needs; if that is out already, all that the test after it would need
        out = self.handed_out
        goal = self.goal if out < self.goal else self.surrogate.wanted(out)
        open_points = sum(len(points) for points in self.open.values())
        return int(max(1, min(max(goal - out, workers), left - open_points)))

    def hand_out(self, number: int, first: Iterable[int] = ()) -> list[PendingPoint]:
        """Hand out injected candidates, then the others in the model's order, then further draws; before all, these indices."""
        waiting = {point.index: point for point in self.queue}
        known = {point.index for point in (*self.open_points, *self.told) if point.generation == self.run.nit}
        beyond = range(self.drawn, self.drawn + number)
        priority = dict.fromkeys((*first, *range(self.injected), *self.surrogate.order().tolist(), *beyond))
        chosen = [index for index in priority if index not in known][:number]
        points = [waiting.pop(index) if index in waiting else self._further(index) for index in chosen]
        self.drawn = max(self.drawn, *(index + 1 for index in chosen))
        self.queue.clear()
        self.queue.extend(waiting.values())
        self._open(points)
        return points

    def missing(self, indices: Sequence[int]) -> int:
        return sum(map(self.is_new, indices))

    def is_new(self, index: int) -> bool:
        known = (point for point in (*self.open_points, *self.told) if point.generation == self.run.nit)
        return all(point.index != index for point in known)

    def tell(self, values: Iterable[tuple[PendingPoint, float]]) -> None:
        for point, value in values:
            point.f = value
            self._close(point)
            if not self.candidates or point.generation == self.run.nit:
                self.told.append(point)
            if self.candidates:
                self._teach(point)

    def complete(self, state: State, generation: int) -> list[PendingPoint] | None:
        """Return the points of the generation, each with the value to learn from, if enough is known; else None."""
        number = min(len(self.told), self.popsize)
        if not self.candidates or number < self.goal:
            return None
        if not self.surrogate.enough(number) and number < self.popsize:
            self.goal = self.surrogate.wanted(number)
            return None
        self.surrogate.end()
        if number == self.popsize:
            return self._favoured(sorted(self.told, key=lambda point: point.place)[:number])
        f, evaluated = np.full(self.popsize, np.nan), np.zeros(self.popsize, bool)
        for point in self.told:
            if point.index < self.popsize:
                f[point.index], evaluated[point.index] = point.f, True
        values = self.surrogate.values(f, evaluated).tolist()
        return self._favoured([replace(point, f=value) for point, value in zip(self.candidates, values, strict=True)])

    def _favoured(self, points: list[PendingPoint]) -> list[PendingPoint]:
        """Let the model's optimum count as no worse than the median: it is no sample, and must not shrink the distribution."""
        i = self.injected
        if self.offered and points[i].index == i and np.isfinite(points[i].f):
            median = float(np.nanmedian([point.f for point in points]))
            points[i] = replace(points[i], f=min(points[i].f, median))
        return points

    def draws(self, state: State, points: Sequence[PendingPoint], generation: int) -> np.ndarray:
        return np.stack([point.e for point in points])

    def move_on(self, drawn: Drawn | Ahead) -> None:
        """Close the generation: open points become late."""
        self.queue.clear()
        self.told, self.candidates, self.drawn = [], [], 0

    def unpack(self, packed: dict[str, Any], coordinates: int, d: int) -> None:
        super().unpack(packed, coordinates, d)
        present = {p.index: p for p in (*self.queue, *self.open_points, *self.told) if p.generation == self.run.nit}
        self.candidates = [present[i] for i in range(self.popsize) if i in present] if self.drawn else []
        if self.drawn and len(self.candidates) != self.popsize:
            raise ValueError(f"the model has {len(self.candidates)} candidates, not {self.popsize}")

    def arrays(self) -> dict[str, np.ndarray]:
        return {**self.surrogate.pack(), "generation": np.array([self.goal, self.injected, int(self.offered)])}

    def take_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        own, rest = self.arrays(), dict(arrays)
        numbers = rest.pop("generation", np.empty(0))
        if numbers.shape != (3,) or numbers.dtype != own["generation"].dtype:
            raise ValueError(f"the model's generation is {shortened(numbers.tolist())}")
        self.surrogate.unpack(rest)
        if self.candidates and len(self.surrogate.candidates) != self.popsize:
            raise ValueError(f"the model has {len(self.surrogate.candidates)} candidates, not {self.popsize}")
        goal, injected, offered = numbers.tolist()
        if not (0 <= goal <= self.popsize and 0 <= injected <= self.popsize - offered and offered in (0, 1)):
            raise ValueError(f"the model's generation is {numbers.tolist()}")
        self.goal, self.injected, self.offered = goal, injected, bool(offered)

    def to_standard(self, y: np.ndarray) -> np.ndarray:
        """Return the standard coordinates of at most `capacity` points of R^d; always of that number, for one program."""
        padded = np.concatenate([y, np.tile(self.run.mean, (self.surrogate.capacity - len(y), 1))])
        return self.steps.invert(self.run.packed, padded)[: len(y)]

    def predict(self, y: np.ndarray) -> np.ndarray | None:
        """Return the model's values at points of R^d, (n, d); None between two generations and before there is a model."""
        return self.surrogate.predict(self.steps.invert(self.run.packed, y), y) if self.candidates else None

    def _prepare(self) -> None:
        """Fit the model in the present search distribution, and bend that as the values say."""
        run, strategy = self.run, self.bends
        bow = None if strategy is None else strategy.bow(run.packed)
        axis_and_bow = None if bow is None else (np.asarray(bow[0]), np.asarray(bow[1]))
        moved = self.surrogate.prepare(self.to_standard, axis_and_bow)
        if moved is not None and strategy is not None:
            run.move_to(strategy.bent(run.packed, cast("Any", moved.bow), cast("Any", np.float64(moved.precision))))

    def _place_offer(self, i: int, e: np.ndarray) -> bool:
        """Replace draw i of a generation by the model's optimum; where that is too far out, by its direction.

        A direction gets the length of the draw that it replaces, so that no further random number is needed.
        """
        offer = self.surrogate.offer()
        if offer is None:
            return False
        point, in_search_space = offer
        draw = self.to_standard(point[None])[0] if in_search_space else point
        length = float(np.linalg.norm(draw))
        if not 0 < length < np.inf:
            return False
        e[i] = draw * (float(np.linalg.norm(e[i])) / length) if length > sqrt(len(draw)) else draw
        return True

    def _checked(self, y: np.ndarray) -> np.ndarray:
        if not np.all(np.isfinite(y)):
            raise RuntimeError(f"the search distribution is no longer finite (after {self.run.nit} generations); see stop()")
        return y

    def _further(self, index: int) -> PendingPoint:
        """Draw a point beyond the candidates; it depends on nothing but seed, generation and index."""
        rng = np.random.default_rng([self.run.start.seed, self.run.nit, index])
        e = rng.standard_normal((self.popsize, self.run.d))  # the program takes a whole generation
        y = self._checked(self.steps.place(self.run.packed, e))[0]
        return PendingPoint(np.array(self.run.space.to_objective(y)), y, e[0], self.run.nit, index)

    def _teach(self, point: PendingPoint) -> None:
        """Tell the model a value."""
        e, y = point.e, point.y
        present = point.generation == self.run.nit
        if point.generation == FOREIGN:
            self.surrogate.add_foreign(self.to_standard(y[None])[0], y, point.f)
            return
        if present and point.index < self.injected:  # it may lie closer to the mean than the point that was evaluated
            y, present = self.run.space.to_search(point.x), False
        e, y = self._as_seen(e[None], y[None])
        self.surrogate.add(e[0] if present else self.to_standard(y)[0], y[0], point.f)

    def _as_seen(self, e: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return draws and points as the model sees them: whole numbers as what they are, as the values belong to these."""
        cells = self.run.space.cells(y)
        if cells is None:
            return e, y
        y = np.where(cells.whole, cells.centre, y)
        return self.to_standard(y), y


def make_points(run: Run, model: Quadratic | None) -> PendingPoints:
    """Return the collaborator of a run that holds its points, with a model or without."""
    return PendingPoints(run.steps, run.popsize) if model is None else ModelledPoints(run, model)


def strategy_for(model: Quadratic | None, strategy: Strategy) -> Strategy:
    """Return the strategy of a run with this model or without one; raise a ValueError if it cannot have a model."""
    if model is not None and not isinstance(strategy, HasPlace):
        raise ValueError(
            f"model needs a method that maps its standard draws to points, which {shortened(strategy)} cannot; "
            "leave model out, or give the strategy a method `place(state, e)`"
        )
    return strategy.for_model() if model is not None and isinstance(strategy, HasBow) else strategy

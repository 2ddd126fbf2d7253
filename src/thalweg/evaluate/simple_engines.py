"""Simple engines: one point after the other in this process, or whole generations, by a vectorized objective or a map."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from thalweg._common.interrupts import interruptible
from thalweg._common.outcome import Objective, Outcome, checked, evaluate_here, raised, to_value
from thalweg.evaluate.base import Engine, PointId
from thalweg.evaluate.pickling import PortableObjective, as_outcome

MapLike = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
GenerationEngine = Callable[[np.ndarray], Iterable[Outcome] | np.ndarray]
"""A function from the points of a generation to their outcomes in order, or to an array of values if all are numbers."""

END = object()


@dataclass
class Serial(Engine):
    """Evaluates a point when its outcome is asked for. An evaluation that hangs cannot be cancelled."""

    waiting: list[tuple[PointId, np.ndarray]] = field(default_factory=list[tuple[PointId, np.ndarray]])

    @property
    def capacity(self) -> int:
        return 1

    def room(self, wanted: int) -> int:
        return 0 if self.waiting else 1

    def start(self, point_id: PointId, x: np.ndarray) -> None:
        self.waiting.append((point_id, x))

    def finished(self, timeout: float | None) -> list[tuple[PointId, Outcome]]:
        if not self.waiting:
            return []
        point_id, x = self.waiting.pop()
        with interruptible():
            return [(point_id, evaluate_here(self.fun, self.args, x))]

    def cancel(self, point_id: PointId) -> None:
        self.waiting = [(waiting, x) for waiting, x in self.waiting if waiting != point_id]


def evaluate_vectorized(fun: Objective, args: tuple[Any, ...], points: np.ndarray) -> list[Outcome] | np.ndarray:
    """Pass the whole generation to the objective."""
    started, returned, failure = time.perf_counter(), None, None
    try:
        with interruptible():
            returned = fun(points, *args)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        failure = raised(error)
    seconds = time.perf_counter() - started
    if returned is None:
        return [Outcome(failure or to_value(None), None, seconds)] * len(points)
    if isinstance(returned, tuple) and len(parts := cast("tuple[Any, ...]", returned)) in (2, 3) and np.ndim(parts[1]) == 2:
        return _with_rows(values_of(parts[0], points, seconds), parts[1:], points, seconds)
    return values_of(returned, points, seconds)


def values_of(returned: Any, points: np.ndarray, seconds: float) -> list[Outcome] | np.ndarray:
    """Return the values that a vectorized objective has returned."""
    try:
        masked = isinstance(returned, np.ma.MaskedArray) and np.ma.is_masked(returned)
        values = np.asarray(list(cast("Any", returned)) if masked else returned, object if masked else None)
    except Exception:  # a ragged list, or foreign objects, which may raise anything here
        values = np.fromiter(returned, dtype=object)
    if values.shape not in ((len(points),), (len(points), 1)):
        raise ValueError(
            f"with vectorized=True fun must return one value per point: got shape {values.shape} for points of shape "
            f"{points.shape}, wanted ({len(points)},)"
        )
    values = values.reshape(len(points))
    if values.dtype.kind in "biuf":  # numbers already: no loop over large generations
        return values.astype(float)
    return [Outcome(to_value(value), None, seconds) for value in values.tolist()]


def _with_rows(values: list[Outcome] | np.ndarray, parts: tuple[Any, ...], points: np.ndarray, seconds: float) -> list[Outcome]:
    """Return outcomes with constraint values, G (n, m) and H (n, k) or none."""
    found = [Outcome(value, None, seconds) for value in values.tolist()] if isinstance(values, np.ndarray) else values
    G, H = (np.asarray(part, float) for part in (parts[0], parts[1] if len(parts) > 1 else np.empty((len(points), 0))))
    if not (G.ndim == H.ndim == 2 and len(G) == len(H) == len(points)):
        raise ValueError(
            f"with vectorized=True fun must return one row of constraint values per point: got shapes {G.shape} and {H.shape} "
            f"for {len(points)} points, wanted ({len(points)}, m)"
        )
    rows = [(tuple(g), tuple(h)) for g, h in zip(G.tolist(), H.tolist(), strict=True)]
    return [each._replace(value=checked(each.value, row), rows=row) for each, row in zip(found, rows, strict=True)]


def evaluate_by_map(fun: Objective, args: tuple[Any, ...], mapper: MapLike, points: np.ndarray) -> Iterator[Outcome]:
    """Call a function like the built-in `map`, for instance that of a `multiprocessing.Pool`."""
    number = 0
    with interruptible():
        answers = iter(mapper(PortableObjective(fun, args), list(points)))
    while True:
        with interruptible():
            answer = next(answers, END)
        if answer is END:
            break
        number += 1
        if number <= len(points):
            yield as_outcome(answer)
    if number != len(points):
        raise ValueError(f"workers must return one value per point, as map does: got {number} for {len(points)} points")

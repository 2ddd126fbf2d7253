"""Tables of a run: its evaluations, and the search after its generations. They grow by new rows of a log."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan

import numpy as np

from thalweg.search.constraints import Kinds
from thalweg.search.history import History
from thalweg.storage.log import Evaluation

ARRAYS = ("run", "nit", "nfev", "failures", "fun", "sigma", "axes", "mean", "std")
"""Arrays of the search that both a history and a log have."""


def _none(*shape: int, kind: type = float) -> np.ndarray:
    return np.empty(shape or (0,), kind)


@dataclass(frozen=True, eq=False)
class Evaluations:
    """The evaluations of a run, in the order in which they ended; each array has one entry (or row) for each of them.

    >>> rows = [Evaluation(0, 0, i, np.array([1.0, i]), f, None, "host:7", 0.1, 1) for i, f in enumerate([3.0, 2.0, 5.0])]
    >>> table = Evaluations().with_rows(rows)
    >>> table.x.shape, table.best_so_far().tolist(), table.workers
    ((3, 2), [3.0, 2.0, 2.0], ('host:7',))
    """

    x: np.ndarray = field(default_factory=lambda: _none(0, 0))
    """The points as the objective takes them, (n, d)."""
    f: np.ndarray = field(default_factory=_none)
    """The values, NaN after a failure."""
    run: np.ndarray = field(default_factory=lambda: _none(kind=int))
    generation: np.ndarray = field(default_factory=lambda: _none(kind=int))
    index: np.ndarray = field(default_factory=lambda: _none(kind=int))
    seconds: np.ndarray = field(default_factory=_none)
    """Durations, NaN where they are unknown."""
    attempts: np.ndarray = field(default_factory=lambda: _none(kind=int))
    worker: np.ndarray = field(default_factory=lambda: _none(kind=int))
    """The place of the worker's name in `workers`, -1 without one."""
    error: np.ndarray = field(default_factory=lambda: _none(kind=int))
    """The place of the failure's reason in `errors`, -1 where there is a value."""
    g: np.ndarray = field(default_factory=lambda: _none(0, 0))
    """Constraints g <= 0, (n, number of them); NaN in points without."""
    h: np.ndarray = field(default_factory=lambda: _none(0, 0))
    """Constraints h = 0, as those of g."""
    workers: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    tracebacks: Mapping[int, str] = field(default_factory=dict[int, str])
    """Tracebacks by the number of the evaluation: one for each way in which evaluations failed."""

    def __len__(self) -> int:
        return len(self.f)

    @property
    def failed(self) -> np.ndarray:
        """True for each evaluation without a value."""
        return (self.error >= 0) | np.isnan(self.f)

    def violation(self, kinds: Kinds | None = None) -> np.ndarray:
        """Return the largest violation of a constraint of each point: 0 without constraints, inf where they are unknown."""
        kinds = kinds or Kinds(self.g.shape[1], self.h.shape[1])
        return kinds.violation(np.concatenate([self.g, self.h], axis=1))

    def best_so_far(self, kinds: Kinds | None = None) -> np.ndarray:
        """Return the lowest value of a feasible point up to each evaluation, inf before the first."""
        f = np.where(self.failed | (self.violation(kinds) > 0), np.inf, self.f)
        return np.minimum.accumulate(f)

    def best(self, kinds: Kinds | None = None) -> int | None:
        """Return the number of the best evaluation: the least violated, of these the lowest; None if all failed."""
        order = np.lexsort((self.f, self.violation(kinds), self.failed))
        return None if not len(order) or self.failed[order[0]] else int(order[0])

    def traceback(self, i: int) -> str | None:
        """Return the traceback of an evaluation, or the first one of another with the same reason."""
        alike = (text for j, text in self.tracebacks.items() if self.error[j] == self.error[i] >= 0)
        return self.tracebacks.get(i) or next(alike, None)

    def with_rows(self, rows: Sequence[Evaluation]) -> "Evaluations":
        """Return the table with further rows. Those of another dimension than the first are left out."""
        d = self.x.shape[1] if len(self) else len(rows[0].x) if rows else 0
        rows = [row for row in rows if len(row.x) == d]
        if not rows:
            return self
        workers, errors = ({text: i for i, text in enumerate(texts)} for texts in (self.workers, self.errors))
        add = {
            "x": np.stack([row.x for row in rows]),
            "f": np.array([row.f for row in rows], float),
            "run": np.array([row.run for row in rows], int),
            "generation": np.array([row.generation for row in rows], int),
            "index": np.array([row.index for row in rows], int),
            "seconds": np.array([nan if row.seconds is None else row.seconds for row in rows], float),
            "attempts": np.array([row.attempts for row in rows], int),
            "worker": _codes((row.worker for row in rows), workers),
            "error": _codes((row.error for row in rows), errors),
        }
        g, h = ([row.extra.get(name) for row in rows] for name in ("g", "h"))
        tracebacks = {len(self) + i: row.extra["traceback"] for i, row in enumerate(rows) if "traceback" in row.extra}
        joined = {name: np.concatenate([getattr(self, name), more]) if len(self) else more for name, more in add.items()}
        return Evaluations(
            **joined,
            g=_widened(self.g, g),
            h=_widened(self.h, h),
            workers=tuple(workers),
            errors=tuple(errors),
            tracebacks={**self.tracebacks, **tracebacks},
        )


@dataclass(frozen=True, eq=False)
class Generations:
    """The search after its generations, over all runs; each array has one entry (or row) for each of them."""

    run: np.ndarray = field(default_factory=lambda: _none(kind=int))
    nit: np.ndarray = field(default_factory=lambda: _none(kind=int))
    """Number of generations of the run; 0 at its start."""
    nfev: np.ndarray = field(default_factory=lambda: _none(kind=int))
    """Evaluations of all runs."""
    failures: np.ndarray = field(default_factory=lambda: _none(kind=int))
    """Failed evaluations of all runs."""
    fun: np.ndarray = field(default_factory=_none)
    """The best value so far over all runs, inf without any."""
    sigma: np.ndarray = field(default_factory=_none)
    axes: np.ndarray = field(default_factory=lambda: _none(0, 2))
    """Standard deviations along the longest and the shortest axis; NaN where they are unknown."""
    mean: np.ndarray = field(default_factory=lambda: _none(0, 0))
    """Mean of the search distribution as the objective takes points, (n, d); NaN where it is unknown."""
    std: np.ndarray = field(default_factory=lambda: _none(0, 0))
    """Standard deviation of each coordinate, (n, d)."""
    info: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    """Numbers of the strategy and of the model by name; NaN in generations without."""

    def __len__(self) -> int:
        return len(self.nfev)

    @property
    def bend(self) -> np.ndarray | None:
        """The bend of the search distribution, in its standard deviations; None for strategies without."""
        return self.info.get("nonlinearity")

    @property
    def tau(self) -> np.ndarray | None:
        """The rank correlation of the model with the values; None without a model."""
        return self.info.get("model_tau")

    @property
    def evaluated(self) -> np.ndarray | None:
        """The part of a generation that was evaluated; None without a model."""
        return self.info.get("model_evaluated")

    @classmethod
    def of_history(cls, history: History) -> "Generations":
        """Return the table of a history that a result or a checkpoint holds."""
        scalars = {name: getattr(history, name) for name in ARRAYS}
        info = {name: values for name, values in history.info.items() if name != "sigma"}
        return cls(**scalars, info=info)

    def with_rows(self, rows: Sequence[Evaluation], before: int, table: Evaluations, best: np.ndarray) -> "Generations":
        """Return the table with the numbers that rows of a log have, given the rows before, all rows, and the best values."""
        places = [i for i, row in enumerate(rows) if "search" in row.extra]
        if not places:
            return self
        d, found = len(rows[0].x), [rows[i] for i in places]
        search = [row.extra["search"] for row in found]
        nfev = before + np.array(places, int)
        new = Generations(
            run=np.array([row.run for row in found], int),
            nit=np.array([row.generation for row in found], int),
            nfev=nfev,
            failures=np.r_[0, np.cumsum(table.failed)][nfev],
            fun=np.where(nfev > 0, best[nfev - 1], np.inf),
            sigma=_named(search, "sigma"),
            axes=np.stack([_named(search, "longest"), _named(search, "shortest")], 1),
            mean=_points((row.extra.get("mean") for row in found), d),
            std=_points((row.extra.get("std") for row in found), d),
            info={
                name: _named(search, name)
                for name in dict.fromkeys(name for each in search for name in each)
                if name not in ("sigma", "longest", "shortest")
            },
        )
        return self.joined(new)

    def joined(self, other: "Generations") -> "Generations":
        """Return this table followed by another one."""
        if not len(self) or not len(other):
            return self if len(self) else other
        arrays = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in ARRAYS}
        tables = [(table, np.full(len(table), nan)) for table in (self, other)]
        names = dict.fromkeys([*self.info, *other.info])
        info = {name: np.concatenate([table.info.get(name, gap) for table, gap in tables]) for name in names}
        return Generations(**arrays, info=info)

    def after(self, nfev: int) -> "Generations":
        """Return the part of the table after this number of evaluations."""
        keep = self.nfev > nfev
        arrays = {name: getattr(self, name)[keep] for name in ARRAYS}
        return replace(self, **arrays, info={name: values[keep] for name, values in self.info.items()})


def _codes(texts: Iterable[str | None], known: dict[str, int]) -> np.ndarray:
    """Return the places of texts among the known ones, to which new ones are added."""
    return np.array([-1 if text is None else known.setdefault(text, len(known)) for text in texts], int)


def _widened(old: np.ndarray, values: list[np.ndarray | None]) -> np.ndarray:
    """Return a table with further rows, NaN where there are none; the first row with any decides on the width."""
    width = old.shape[1] or next((len(each) for each in values if each is not None), 0)
    if not old.shape[1]:
        old = np.full((len(old), width), nan)
    return np.concatenate([old, _points(values, width)])


def _points(values: Iterable[np.ndarray | None], width: int) -> np.ndarray:
    gap = np.full(width, nan)
    rows = [gap if each is None or len(each) != width else each for each in values]
    return np.stack(rows) if rows else np.empty((0, width))


def _named(found: Sequence[Mapping[str, float]], name: str) -> np.ndarray:
    return np.array([each.get(name, nan) for each in found], float)

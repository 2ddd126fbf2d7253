"""Known evaluations: points with values from an earlier run, from measurements, or of a similar function."""

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeGuard, cast

import numpy as np

from thalweg._common.checks import as_array, as_flag, as_number, as_positive, shortened
from thalweg._common.types import Points, Values
from thalweg.search.told import numbers
from thalweg.search.warm_start import NEAR, SHARE, SIMILAR, WarmStart, warm_start
from thalweg.space import Space, SpaceMap
from thalweg.storage.log import Evaluation, read_log

logger = logging.getLogger("thalweg")

FORMS = "pass known=(X, F), the name of a log, rows of thalweg.read_log, or thalweg.Known(...)"


class KnownPoints(NamedTuple):
    """Known points with finite values inside the bounds, best first."""

    x: np.ndarray
    """The points as the objective takes them, (n, d)."""
    y: np.ndarray
    """The same in R^d."""
    f: np.ndarray


@dataclass(frozen=True, eq=False)
class Known:
    """Known evaluations, from which a search starts: `minimize(..., known=thalweg.Known("run.jsonl", similar=True))`.

    `known=(X, F)` is short for `Known(X, F)`, and `known="run.jsonl"` for `Known("run.jsonl")`.

    >>> Known([[0.0, 1.0], [2.0, 3.0]], [5.0, None]).table()[1].tolist()
    [5.0, nan]
    """

    X: "Points | str | os.PathLike[str] | Sequence[Evaluation]"
    """Points (n, d), or mappings of the names of a `Space`; or the name of a log, or rows of `thalweg.read_log`."""
    F: Values | None = None
    """Values, one for each point; NaN or None marks a failure, which is left out."""
    similar: bool = False
    """True if the values are of another function, whose minimum is thought to be near: they say where to start, and nothing
    else. Otherwise they are values of the objective: the best of them may be the result, and a model learns from them."""
    share: float = SHARE
    """Share of the points, the best ones, that gives mean and spread of the start, docs/math.md (49)."""
    smoothing: float | None = None
    """Standard deviation around each of these points, in units of sigma0; by default 1/3 if `similar`, else 0.001."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "similar", as_flag(self.similar, "similar"))
        share = as_number(self.share, "share")
        if not 0 < share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, got {share:g}")
        object.__setattr__(self, "share", share)
        if self.smoothing is not None:
            smoothing = as_positive(self.smoothing, "smoothing", "it is a share of sigma0, such as 0.1")
            object.__setattr__(self, "smoothing", min(smoothing, 1.0))

    @classmethod
    def read(cls, given: Any) -> "Known | None":
        """Return the known evaluations of a user's argument `known`, None for None."""
        if given is None or isinstance(given, Known):
            return given
        if isinstance(given, str | os.PathLike) or _are_rows(given):
            return cls(given)
        if not isinstance(given, tuple | list) or len(cast("Sequence[Any]", given)) != 2:
            raise TypeError(f"known must be points and values, got {shortened(given)}; {FORMS}")
        return cls(*cast("Sequence[Any]", given))

    @property
    def width(self) -> float:
        """The smoothing, in units of sigma0."""
        return (SIMILAR if self.similar else NEAR) if self.smoothing is None else self.smoothing

    def table(self, variables: Space | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return points (n, d) and values (n,), NaN for failures; `variables` reads points that are mappings."""
        given, values = self.X, self.F
        if isinstance(given, str | os.PathLike):
            name = os.fspath(cast("str", given))
            if not os.path.exists(name):
                raise ValueError(f"known names a log {name!r} that does not exist; {FORMS}")
            given = read_log(name)
            if not given:
                raise ValueError(f"known names a log {name!r} without evaluations; leave it out")
        if _are_rows(given):
            if values is not None:
                raise ValueError("known has rows of a log, which have their values, and values beside them; leave those out")
            given, values = [row.x for row in given], [row.f for row in given]
            if len(lengths := {len(x) for x in given}) > 1:
                raise ValueError(
                    f"known has rows of {' and '.join(map(str, sorted(lengths)[:2]))} coordinates; pass those of one search"
                )
        if values is None:
            raise TypeError(f"known has points without values; {FORMS}")
        points = as_points(given, "X of known", variables)
        values, _ = numbers(values, "F of known")
        if len(points) != len(values):
            raise ValueError(f"known has {len(points)} points and {len(values)} values; pass one value for each point")
        return points, values

    def points(self, table: tuple[np.ndarray, np.ndarray], space: SpaceMap, d: int) -> KnownPoints:
        """Return the points that a search in this space can start from."""
        X, F = table
        if X.shape[1] != d:
            raise ValueError(f"known has points of {X.shape[1]} coordinates, but the search has {d}; pass those of the same")
        finite = np.isfinite(X).all(1) & ~np.isnan(F) & ~np.isposinf(F)
        inside = space.contains(X).all(1)
        kept = np.flatnonzero(finite & inside)
        if not len(kept):
            raise ValueError(f"known has no finite value of a point inside the bounds, got {len(X)} points; leave it out")
        outside = int(np.sum(finite & ~inside))
        if outside:
            logger.warning("%d of %d known points lie outside the bounds and are left out", outside, len(X))
        order = kept[np.argsort(F[kept], kind="stable")]
        return KnownPoints(X[order], np.asarray(space.to_search(X[order]), float), F[order])

    def start(self, points: KnownPoints, sigma0: float) -> WarmStart:
        """Return mean and spread of the start from these points, in place of a ball of standard deviation sigma0."""
        return warm_start(points.y, sigma0, self.share, self.width)


KnownLike: TypeAlias = Known | tuple[Points, Values] | str | os.PathLike[str] | Sequence[Evaluation] | None
"""Type of the argument `known`."""


def as_points(X: Any, name: str, variables: Space | None = None) -> np.ndarray:
    """Return a user's points as an array (n, d); mappings by the names of the variables are points too."""
    points = as_array(as_vectors(X, name, variables), name)
    if points.ndim != 2 or points.shape[1] == 0:
        raise ValueError(f"{name} must be points of shape (n, d), got shape {points.shape}")
    return points


def as_vectors(X: Any, name: str, variables: Space | None) -> Any:
    """Return a user's point or points with vectors in place of mappings by the names of the variables."""
    one = isinstance(X, Mapping)
    if not one and not (isinstance(X, Sequence) and any(isinstance(each, Mapping) for each in cast("Sequence[Any]", X))):
        return X
    if variables is None:
        raise TypeError(f"{name} has mappings, which need a Space as x0; pass vectors")
    points = [variables.vector_of(each) if isinstance(each, Mapping) else each for each in ([X] if one else X)]
    return points[0] if one else points


def _are_rows(given: Any) -> TypeGuard[Sequence[Evaluation]]:
    """Return whether these are rows of a log."""
    return isinstance(given, list | tuple) and len(cast("Any", given)) > 0 and isinstance(given[0], Evaluation)

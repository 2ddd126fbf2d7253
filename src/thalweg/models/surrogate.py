"""A quadratic model at work: it orders candidates, tells when it ranks well enough, and gives values (Hansen 2019)."""

from collections.abc import Callable, Mapping
from math import ceil

import numpy as np

from thalweg.models.archive import Archive
from thalweg.models.features import DIAGONAL, FULL, LINEAR, number_of_features
from thalweg.models.fit import Fitted, fit
from thalweg.models.quadratic import Quadratic
from thalweg.models.rank_correlation import kendall_tau

AVAILABLE = 1.1
"""Points that must enter the fit, for each coefficient, before a kind of model is used."""
LEAST_SHARE = 0.02
"""Share of the candidates that every generation evaluates, besides one."""
WINDOW = 15
"""Least number of the newest points over which the ranking is tested."""


class Surrogate:
    """The model of one run. A generation goes as follows.

    `begin` takes the candidates; `order` sorts them; `add` takes true values, of candidates and of other points; as soon as
    `wanted` candidates have been evaluated, `enough` tests the model, and if it ranks well, `values` gives what the strategy
    learns from, and `offer` a point for the next generation. All of it is a function of what was given, without randomness.
    """

    def __init__(self, settings: Quadratic, d: int, popsize: int) -> None:
        self.settings, self.d, self.popsize = settings, d, popsize
        self.archive = Archive(d, max(int(settings.size * number_of_features(d, FULL)), popsize))
        self.kind = LINEAR
        self.candidates = np.empty((0, d))
        """Standard draws of the present generation."""
        self.info: dict[str, float] = {}
        """Numbers for people: the last tested rank correlation, the share of evaluated candidates, the kind of model."""
        self._fitted: Fitted | None = None
        self._stale = True

    @property
    def capacity(self) -> int:
        """Maximal number of points that `begin` maps at once."""
        return self.archive.capacity

    def begin(self, e: np.ndarray, y: np.ndarray, to_standard: Callable[[np.ndarray], np.ndarray]) -> None:
        """Begin a generation with the candidates y (n, d) of R^d, whose standard draws are e (n, d).

        `to_standard` maps at most `capacity` points of R^d to standard coordinates in the present search distribution.
        """
        self.candidates = np.array(e)
        self.archive.begin(to_standard)
        self._stale = True

    def order(self) -> np.ndarray:
        """Return the indices of all candidates, most promising first."""
        fitted = self._fit() if len(self.archive) > 1 else None
        return np.argsort(np.zeros(len(self.candidates)) if fitted is None else fitted(self.candidates), kind="stable")

    def add(self, e: np.ndarray, y: np.ndarray, f: float) -> None:
        """Learn the true value of a point y of R^d with the standard coordinates e; values that are not finite are left out."""
        if self.archive.add(e, y, f):
            self._stale = True
            for kind in (DIAGONAL, FULL):
                if self.settings.used * len(self.archive) >= AVAILABLE * number_of_features(self.d, kind):
                    self.kind = max(self.kind, kind)

    def wanted(self, evaluated: int) -> int:
        """Return the number of candidates to evaluate before the next test, after one with `evaluated` of them."""
        if evaluated:
            return min(self.popsize, evaluated + ceil(evaluated / 2))
        return min(self.popsize, int(1 + max(LEAST_SHARE * self.popsize, 3 / self.settings.used - len(self.archive))))

    def enough(self, evaluated: int) -> bool:
        """Return whether the model ranks the newest points well enough, after `evaluated` candidates."""
        archive = self.archive
        archive.sort_fresh()
        self._stale = True
        n = min(len(archive), int(max(WINDOW, min(1.2 * evaluated, 0.75 * self.popsize))))
        fitted = self._fit() if n >= 3 else None
        tau = 0.0 if fitted is None else kendall_tau(archive.f[:n], fitted(archive.e[:n]))
        self.info = {"model_tau": tau, "model_evaluated": evaluated / self.popsize, "model_kind": float(self.kind)}
        return tau >= self.settings.tau

    def values(self, f: np.ndarray, evaluated: np.ndarray) -> np.ndarray:
        """Return the values (n,) from which the strategy learns.

        `f` has the true values where `evaluated` is true. If it is true everywhere, these are returned. Otherwise values of
        the model for all, shifted so that the lowest equals the lowest true one; NaN and infinite values remain.
        """
        fitted = self._fit()
        if np.all(evaluated) or fitted is None:
            return f.copy()
        values, known = fitted(self.candidates), evaluated & np.isfinite(f)
        if np.any(known):
            values += np.min(f[known]) - np.min(values)
        return np.where(evaluated & ~np.isfinite(f), f, values)

    def offer(self) -> np.ndarray | None:
        """Return the model's optimum in standard coordinates, (d,); None if there is none."""
        fitted = self._fit() if self.settings.offer and len(self.archive) else None
        point = None if fitted is None else fitted.optimum(self.archive.e[0])
        return point if point is not None and np.all(np.isfinite(point)) else None

    def pack(self) -> dict[str, np.ndarray]:
        """Return all that `unpack` needs to go on to the same bits, as arrays."""
        archive = self.archive
        state = np.array([self.kind, archive.fresh])
        return {"e": archive.e, "y": archive.y, "f": archive.f, "candidates": self.candidates, "state": state}

    def unpack(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `pack` has returned; raise a ValueError if the arrays are not of that kind."""
        ours = self.pack()
        for name in ours.keys() ^ arrays.keys():
            raise ValueError(f"the model's array {name!r} is only {'here' if name in ours else 'in the file'}")
        n, (kind, fresh) = len(arrays["f"]), arrays["state"].tolist() if arrays["state"].shape == (2,) else (-1, -1)
        shapes = {
            "e": (n, self.d),
            "y": (n, self.d),
            "f": (n,),
            "candidates": (len(arrays["candidates"]), self.d),
            "state": (2,),
        }
        for name, array in arrays.items():
            if array.dtype != ours[name].dtype or array.shape != shapes[name]:
                raise ValueError(f"the model's array {name!r} is {array.dtype} of shape {array.shape}")
        if kind not in (LINEAR, DIAGONAL, FULL) or not 0 <= fresh <= n <= self.capacity:
            raise ValueError(f"the model has {n} points, of which {fresh} are new, and kind {kind}")
        self.kind, self.archive.fresh, self.candidates = kind, fresh, arrays["candidates"]
        self.archive.e, self.archive.y, self.archive.f = arrays["e"], arrays["y"], arrays["f"]
        self._stale = True

    def _fit(self) -> Fitted | None:
        """Return the fit to the archive as it is now; None without points."""
        if self._stale and len(self.archive):
            n = len(self.archive)
            number = min(n, int(max(number_of_features(self.d, self.kind) + 2, self.settings.used * (n + 1))))
            self._fitted = fit(*self.archive.best(number), self.kind, self.settings.weight)
            self._stale = False
        return self._fitted if len(self.archive) else None

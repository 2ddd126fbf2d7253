"""A quadratic model at work: it orders candidates, tells when it ranks well enough, and gives values (after Hansen 2019)."""

from collections.abc import Callable, Mapping
from math import ceil

import numpy as np

from thalweg.models.archive import Archive
from thalweg.models.bend import Bend, Moved, square_along
from thalweg.models.fit import LARGEST_FULL, Data, Fitted, Form, choose, choose_targets, fit, number_of_coefficients
from thalweg.models.quadratic import Quadratic
from thalweg.models.rank_correlation import kendall_tau

LEAST_SHARE = 0.02
"""Share of the candidates that every generation evaluates, besides one."""
WINDOW = 15
"""Least number of the newest points over which the ranking is tested."""
SMALL = 10
"""The largest dimension in which the bow is estimated in every generation; beyond it in every second, to save time."""
FORM_EVERY = 5
"""Generations from one choice of the form to the next, once the archive is large."""
RANKS_EVERY = 10
"""Generations from one comparison of ranks and values to the next."""
NO_FORM = Form(True, np.inf)
"""Stands for the missing form in a checkpoint."""
LEFT_OUT = 0.5
"""Rank correlation from which the model is trusted and its optimum offered, each value predicted without its own point."""
PATIENCE = 10
"""After twice as many generations without a better point each evaluates at least 2 candidates, and another after every so many
more."""


class Surrogate:
    """The model of one run. A generation goes as follows.

    `prepare` fits it in the coordinates of the present search distribution, which it may bend; `begin` takes the candidates;
    `order` sorts them; `add` takes true values, of candidates and of other points; as soon as `wanted` candidates have been
    evaluated, `enough` tests the model, and if it ranks well, `values` gives what the strategy learns from. All of it is a
    function of what was given, without randomness.
    """

    def __init__(self, settings: Quadratic, d: int, popsize: int) -> None:
        self.settings, self.d, self.popsize = settings, d, popsize
        self.coefficients = number_of_coefficients(d)
        self.archive = Archive(d, max(int(settings.size * self.coefficients), self.coefficients + d + 6, popsize))
        self.bend = Bend()
        self.candidates, self.places = np.empty((0, d)), np.empty((0, d))
        """Standard draws of the present generation, and its points of R^d."""
        self.generation = 0
        self.ranks = settings.targets == "ranks"
        self.best = np.inf
        self.left_out = 1.0
        """The last tested rank correlation with values that were left out of the fit."""
        self.waiting = 0
        """Number of generations since the best value fell."""
        self.info: dict[str, float] = {}
        """Numbers for people: the last tested rank correlation, the share of evaluated candidates, the form of the model, and
        the ratio of squared residuals with the bow over without, smoothed."""
        self.form: Form | None = None
        """The form of the last fit; None before there was one."""
        self._fitted: Fitted | None = None
        self._stale = True

    @property
    def capacity(self) -> int:
        """Maximal number of points that `prepare` maps at once."""
        return self.archive.capacity

    @np.errstate(all="ignore")  # values up to 1e308 may overflow
    def prepare(
        self, to_standard: Callable[[np.ndarray], np.ndarray], bend: tuple[np.ndarray, np.ndarray] | None
    ) -> Moved | None:
        """Fit the model in the present search distribution; return a bow with which the values are more nearly quadratic.

        `to_standard` maps at most `capacity` points of R^d to standard coordinates. `bend` is axis and bow of the search
        distribution. Without it, and in generations without a new estimate, the result is None.
        """
        self.archive.begin(to_standard)
        self.generation += 1
        data = self._data()
        # while points are few each may change the form; later it is chosen anew from time to time
        full = len(self.archive) >= 1.5 * self.coefficients
        anew = not full or self.generation % FORM_EVERY == 0
        form, self._stale, self._fitted = None if anew else self.form, False, None
        if data is not None and full and anew and self.settings.targets == "auto" and self.generation % RANKS_EVERY == 0:
            self.ranks, self._fitted = choose_targets(data, present=self.ranks)
        elif data is not None and form is not None:
            self._fitted = fit(data, form)
        if data is not None and self._fitted is None:
            self._fitted = choose(data, ranks=self.ranks)
        self.form = None if self._fitted is None else self._fitted.form
        if self._fitted is None or bend is None or not 2 <= self.d <= LARGEST_FULL or (self.d > SMALL and self.generation % 2):
            return None
        axis, bow = bend
        moved = self.bend.move(self._fitted, axis, bow)
        if moved is not None:
            self.archive.e -= square_along(self.archive.e, axis)[:, None] * (moved.bow - bow)
            if not self._fitted.form.separable:
                self._fitted = moved.fitted
        return moved

    def begin(self, e: np.ndarray, y: np.ndarray) -> None:
        """Begin a generation with the candidates y (n, d) of R^d, whose standard draws are e (n, d)."""
        self.candidates, self.places = np.array(e), np.array(y)

    @np.errstate(all="ignore")
    def order(self) -> np.ndarray:
        """Return the indices of all candidates, most promising first."""
        values = self.predict(self.candidates, self.places)
        return np.argsort(np.zeros(len(self.candidates)) if values is None else values, kind="stable")

    def predict(self, e: np.ndarray, y: np.ndarray) -> np.ndarray | None:
        """Return the model's values at the points y of R^d with the standard coordinates e; None before there is a model."""
        fitted = self._fit()
        return None if fitted is None else fitted(e, y)

    def add(self, e: np.ndarray, y: np.ndarray, f: float) -> None:
        """Learn the true value of a point y of R^d with the standard coordinates e; values that are not finite are left out."""
        self._stale |= self.archive.add(e, y, f)

    def add_foreign(self, e: np.ndarray, y: np.ndarray, f: float) -> None:
        """Learn the true value of a point that the search has not asked for: it is no newest one, and displaces none better."""
        self._stale |= self.archive.add_behind(e, y, f)

    def know(self, y: np.ndarray, f: np.ndarray) -> None:
        """Learn the true values of points y (n, d) of R^d, best first, before the first generation."""
        for point, value in zip(y[self.capacity - 1 :: -1], f[self.capacity - 1 :: -1].tolist(), strict=True):
            self.archive.add(np.zeros(self.d), point, value)  # `prepare` gives it its standard coordinates

    def wanted(self, evaluated: int) -> int:
        """Return the number of candidates to evaluate before the next test, after one with `evaluated` of them."""
        if evaluated:
            return min(self.popsize, evaluated + ceil(evaluated / 2))
        first = 1 + max(LEAST_SHARE * self.popsize, 4 - len(self.archive), self.waiting // PATIENCE - 1)
        return min(self.popsize, int(first))

    @np.errstate(all="ignore")
    def enough(self, evaluated: int) -> bool:
        """Return whether the model ranks the newest points well enough, after `evaluated` candidates."""
        archive = self.archive
        archive.sort_fresh()
        self._stale = True
        n = min(len(archive), int(max(WINDOW, min(1.2 * evaluated, 0.75 * self.popsize))))
        fitted = self._fit() if n >= 3 else None
        tau, self.left_out = (0.0, 0.0) if fitted is None else self._correlations(fitted, n)
        form = self.form or NO_FORM
        self.info = {
            "model_tau": tau,
            "model_left_out": self.left_out,
            "model_evaluated": evaluated / self.popsize,
            "model_separable": float(form.separable and form != NO_FORM),
            "model_penalty": form.penalty,
            "model_ranks": float(form.ranks),
            "model_bend": float(np.exp(self.bend.evidence)),
        }
        return tau >= self.settings.tau and self.left_out >= min(self.settings.tau, LEFT_OUT)

    @np.errstate(all="ignore")
    def values(self, f: np.ndarray, evaluated: np.ndarray) -> np.ndarray:
        """Return the values (n,) from which the strategy learns, at the end of a generation.

        `f` has the true values where `evaluated` is true. If it is true everywhere, these are returned. Otherwise values of
        the model for all, shifted so that the lowest equals the lowest true one; NaN and infinite values remain.
        """
        fitted = self._fit()
        if np.all(evaluated) or fitted is None:
            return f.copy()
        values, known = fitted(self.candidates, self.places), evaluated & np.isfinite(f)
        if np.any(known):
            values += np.min(f[known]) - np.min(values)
        return np.where(evaluated & ~np.isfinite(f), f, values)

    def end(self) -> None:
        """End a generation."""
        best = float(np.min(self.archive.f[: self.archive.fresh], initial=np.inf))
        self.waiting = 0 if best < self.best else self.waiting + 1
        self.best = min(best, self.best)

    @np.errstate(all="ignore")
    def offer(self) -> tuple[np.ndarray, bool] | None:
        """Return the model's optimum after `prepare`, and whether that is a point of R^d instead of standard coordinates."""
        # the optimum of a model that ranks badly is a random point near the mean, and would shrink the step size
        fitted = self._fit() if self.settings.offer and self.left_out >= LEFT_OUT else None
        point = None if fitted is None else fitted.stationary()
        return None if fitted is None or point is None or not np.all(np.isfinite(point)) else (point, fitted.form.separable)

    def pack(self) -> dict[str, np.ndarray]:
        """Return all that `unpack` needs to go on to the same bits, as arrays."""
        archive, form = self.archive, self.form or NO_FORM
        numbers = [self.generation, self.ranks, self.waiting, archive.fresh, form.separable, form.ranks]
        return {
            "e": archive.e,
            "y": archive.y,
            "f": archive.f,
            "candidates": self.candidates,
            "places": self.places,
            "numbers": np.array([*map(float, numbers), form.penalty, self.best, self.bend.evidence, self.left_out]),
        }

    def unpack(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore what `pack` has returned; raise a ValueError if the arrays are not of that kind."""
        ours = self.pack()
        for name in ours.keys() ^ arrays.keys():
            raise ValueError(f"the model's array {name!r} is only {'here' if name in ours else 'in the file'}")
        n, k = len(np.atleast_1d(arrays["f"])), len(np.atleast_1d(arrays["candidates"]))
        shapes = {"e": (n, self.d), "y": (n, self.d), "f": (n,), "candidates": (k, self.d), "places": (k, self.d)}
        for name, array in arrays.items():
            if array.dtype != ours[name].dtype or array.shape != shapes.get(name, ours[name].shape):
                raise ValueError(f"the model's array {name!r} is {array.dtype} of shape {array.shape}")
        *numbers, penalty, best, evidence, left_out = arrays["numbers"].tolist()
        if not np.all(np.isfinite(numbers)) or np.isnan(penalty) or np.isnan(best) or not np.isfinite(evidence + left_out):
            raise ValueError(f"the model's numbers are {arrays['numbers'].tolist()}")
        generation, ranks, waiting, fresh, separable, form_ranks = (int(number) for number in numbers)
        if not all(np.all(np.isfinite(arrays[name])) for name in shapes) or not penalty > 0:
            raise ValueError("the model has numbers that are not finite, or a penalty that is not above 0")
        if min(generation, waiting) < 0 or not 0 <= fresh <= n <= self.capacity:
            raise ValueError(f"the model has {n} points, of which {fresh} are new, in generation {generation}")
        archive = self.archive
        archive.e, archive.y, archive.f, archive.fresh = arrays["e"], arrays["y"], arrays["f"], fresh
        self.candidates, self.places = arrays["candidates"], arrays["places"]
        self.generation, self.ranks, self.waiting, self.best = generation, bool(ranks), waiting, best
        self.left_out = left_out
        form = Form(bool(separable), penalty, bool(form_ranks))
        self.form, self.bend = None if form == NO_FORM else form, Bend(evidence)
        self._stale = True

    def _data(self) -> Data | None:
        """Return the best points of the archive; None where there are too few."""
        n = len(self.archive)
        if n < 2:
            return None
        number = min(n, max(self.coefficients + self.d + 2, int(self.settings.used * (n + 1))))
        return Data.weighted(*self.archive.best(number), self.settings.weight)

    def _correlations(self, fitted: Fitted, n: int) -> tuple[float, float]:
        """Return the rank correlations of the newest n values with the fitted ones, and with those that leave each out."""
        archive = self.archive
        predicted = fitted(archive.e[:n], archive.y[:n])
        tau = kendall_tau(archive.f[:n], predicted)
        # a function of many coefficients ranks the points that it is fitted to, whatever their values
        used = np.argsort(archive.f, kind="stable")[: len(fitted.data.f)]
        rows = np.flatnonzero(used < n)
        predicted[used[rows]] = fitted.left_out(rows)
        return tau, kendall_tau(archive.f[:n], predicted)

    def _fit(self) -> Fitted | None:
        """Return the fit to the archive as it is now, of the generation's form; None where there is none."""
        if self._stale:
            data = self._data()
            self._fitted = None if data is None or self.form is None else fit(data, self.form)
            if data is not None and self._fitted is None:
                self._fitted = choose(data, ranks=self.ranks)
                self.form = None if self._fitted is None else self._fitted.form
            self._stale = False
        return self._fitted

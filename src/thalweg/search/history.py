"""The history of a search: its numbers after each generation, thinned so that a long search keeps no more than a short one."""

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any, NamedTuple

import numpy as np

from thalweg._common.checks import counted
from thalweg.space import SpaceMap

MOST, LEAST = 300, 64
"""Largest and smallest number of entries; in between as many as make `NUMBERS` numbers."""
NUMBERS = 32_000
SCALARS = ("run", "nit", "nfev", "failures", "fun", "sigma", "longest", "shortest")
"""Numbers of an entry, in the order of a checkpoint. The last two, the axes in R^d, are NaN where they are unknown."""


class Entry(NamedTuple):
    """The search after a generation."""

    scalars: tuple[float, ...]
    info: Mapping[str, float]
    """Numbers that the strategy and the model show of the generation."""
    mean: np.ndarray
    """Mean of the search distribution, in R^d."""
    std: np.ndarray
    """Standard deviation per coordinate, in R^d."""


class History:
    """Numbers of a search after its generations, over all runs; each attribute is an array with one entry for each.

    All generations of a short search are there. Of a long one there is every second, every fourth and so on, and the last.

    >>> import thalweg
    >>> result = thalweg.minimize(lambda x: x @ x, [1.0, 2.0], method="cma", seed=1, max_iter=40)
    >>> history = result.history
    >>> history, int(history.nfev[-1]), history.std.shape
    (<History of 40 generations, 40 kept>, 240, (40, 2))
    """

    def __init__(self, space: SpaceMap, d: int) -> None:
        self.space, self._d = space, d
        self._capacity = max(LEAST, min(MOST, NUMBERS // (2 * d + len(SCALARS)) // 2 * 2))  # even: thinning keeps the newest
        self._entries: list[Entry] = []
        self._every = 1
        self._count = 0

    def add(self, scalars: tuple[float, ...], info: Mapping[str, float], mean: np.ndarray, std: np.ndarray) -> None:
        """Add a generation: the values of `SCALARS`, the strategy's numbers, and the distribution in R^d."""
        entry = Entry(scalars, info, mean, std)
        if (self._count - 1) % self._every == 0 or not self._entries:
            self._entries.append(entry)
        else:
            self._entries[-1] = entry
        if len(self._entries) > self._capacity and self._count % self._every == 0:
            self._entries, self._every = self._entries[::2], 2 * self._every
        self._count += 1

    def copy(self) -> "History":
        """Return a history that no longer changes."""
        other = History(self.space, self._d)
        other._entries, other._every, other._count = self._entries.copy(), self._every, self._count
        return other

    @property
    def run(self) -> np.ndarray:
        """Number of runs that had ended before."""
        return self._scalar("run").astype(int)

    @property
    def nit(self) -> np.ndarray:
        """Number of generations of the run."""
        return self._scalar("nit").astype(int)

    @property
    def nfev(self) -> np.ndarray:
        """Evaluations of all runs."""
        return self._scalar("nfev").astype(int)

    @property
    def failures(self) -> np.ndarray:
        """Failed evaluations of all runs."""
        return self._scalar("failures").astype(int)

    @property
    def fun(self) -> np.ndarray:
        """The best value so far over all runs; with constraints that of the best feasible point."""
        return self._scalar("fun")

    @property
    def sigma(self) -> np.ndarray:
        """The step-size, in units of the objective's argument."""
        return self._scalar("sigma")

    @property
    def axes(self) -> np.ndarray:
        """Standard deviations along the longest and the shortest axis of the search distribution, (entries, 2).

        They are those of the last tenth generation, as to find them takes time; NaN where the strategy does not tell them.
        """
        return np.stack([self._scalar("longest"), self._scalar("shortest")], 1) * self.space.unit

    def last_axes(self, run: int) -> tuple[float, float]:
        """Return the axes in R^d after the last generation of the run that follows `run` others; NaN before its first."""
        last = dict(zip(SCALARS, self._entries[-1].scalars, strict=True)) if self._entries else {"run": -1.0}
        return (last["longest"], last["shortest"]) if last["run"] == run else (nan, nan)

    @property
    def mean(self) -> np.ndarray:
        """The mean of the search distribution, as a point that the objective takes, (entries, d)."""
        return np.array(self.space.to_objective(self._stacked("mean")))

    @property
    def std(self) -> np.ndarray:
        """The standard deviation of each coordinate, in units of the objective's argument, (entries, d)."""
        places = zip(self._stacked("mean"), self._stacked("std"), strict=True)
        spreads = [self.space.spread(mean, std) for mean, std in places]
        return np.array(spreads) if spreads else np.empty((0, self._d))

    @property
    def info(self) -> dict[str, np.ndarray]:
        """Numbers that the strategy and the model show, by name; NaN in generations without."""
        names = dict.fromkeys(name for entry in self._entries for name in entry.info)
        return {name: np.array([entry.info.get(name, nan) for entry in self._entries], float) for name in names}

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<History of {counted(self._count, 'generation')}, {len(self)} kept>"

    def pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the history as plain numbers and arrays, for `unpack`."""
        numbers = np.array([entry.scalars for entry in self._entries], float).reshape(-1, len(SCALARS))
        info = self.info
        arrays = {"scalars": numbers, "mean": self._stacked("mean"), "std": self._stacked("std")}
        arrays["info"] = np.stack([*info.values()], 1) if info else np.empty((len(self), 0))
        return {"count": self._count, "every": self._every, "names": list(info)}, arrays

    def unpack(self, numbers: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
        """Take what `pack` has returned; raise a ValueError if it was damaged since."""
        names: Sequence[str] = numbers["names"]
        n = len(arrays["scalars"]) if "scalars" in arrays and arrays["scalars"].ndim else 0
        shapes = {"scalars": (n, len(SCALARS)), "mean": (n, self._d), "std": (n, self._d), "info": (n, len(names))}
        if {name: array.shape for name, array in arrays.items()} != shapes or numbers["every"] < 1:
            raise ValueError("its history has arrays of other shapes")
        if any(array.dtype != float for array in arrays.values()) or n > self._capacity + 1:
            raise ValueError("its history has arrays of another type or length")
        rows = zip(*(arrays[name] for name in shapes), strict=True)
        self._entries = [
            Entry(
                tuple(scalars.tolist()),
                {name: value for name, value in zip(names, info.tolist(), strict=True) if value == value},  # not NaN
                mean,
                std,
            )
            for scalars, mean, std, info in rows
        ]
        self._count, self._every = numbers["count"], numbers["every"]

    def _scalar(self, name: str) -> np.ndarray:
        place = SCALARS.index(name)
        return np.array([entry.scalars[place] for entry in self._entries], float)

    def _stacked(self, name: str) -> np.ndarray:
        arrays = [getattr(entry, name) for entry in self._entries]
        return np.stack(arrays) if arrays else np.empty((0, self._d))

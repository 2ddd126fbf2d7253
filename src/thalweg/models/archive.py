"""The archive of a model: the latest points with true values."""

from collections.abc import Callable
from math import isfinite

import numpy as np


class Archive:
    """Points with finite values, newest first, at most `capacity` of them.

    Each has its place in R^d and its standard coordinates in the present search distribution.
    """

    def __init__(self, d: int, capacity: int) -> None:
        self.capacity = capacity
        self.e, self.y, self.f = np.empty((0, d)), np.empty((0, d)), np.empty(0)
        self.fresh = 0
        """Number of points, the first ones, that came in the present generation."""

    def __len__(self) -> int:
        return len(self.f)

    def begin(self, to_standard: Callable[[np.ndarray], np.ndarray]) -> None:
        """Begin a generation: map all points to standard coordinates; those without any are left out."""
        self.fresh = 0
        if len(self):
            e = to_standard(self.y)
            finite = np.isfinite(e)
            kept = slice(None) if finite.all() else finite.all(axis=1)
            self.e, self.y, self.f = e[kept], self.y[kept], self.f[kept]

    def add(self, e: np.ndarray, y: np.ndarray, f: float) -> bool:
        """Add a point in front, unless it is there already or not finite; return whether it was added."""
        if not (isfinite(f) and np.isfinite(e).all()) or (self.y == y).all(axis=1).any():
            return False
        self.e, self.y = (np.concatenate([each[None], old])[: self.capacity] for each, old in ((e, self.e), (y, self.y)))
        self.f = np.concatenate([[f], self.f])[: self.capacity]
        self.fresh = min(self.fresh + 1, self.capacity)
        return True

    def add_behind(self, e: np.ndarray, y: np.ndarray, f: float) -> bool:
        """Add a point as the oldest one; where there is no room, in place of the worst of those before this generation."""
        if not (np.isfinite(f) and np.all(np.isfinite(e))) or np.any(np.all(self.y == y, axis=1)):
            return False
        kept = np.ones(len(self), bool)
        if len(self) >= self.capacity:
            old = self.f[self.fresh :]
            if not len(old) or f >= old.max():
                return False
            kept[self.fresh + int(np.argmax(old))] = False
        self.e, self.y = (np.concatenate([own[kept], new[None]]) for own, new in ((self.e, e), (self.y, y)))
        self.f = np.concatenate([self.f[kept], [f]])
        return True

    def sort_fresh(self) -> None:
        """Sort the points of the present generation by their values, best first, in whatever order they came."""
        n = self.fresh
        # equal values by their coordinates
        order = np.lexsort((*self.y[:n].T[::-1], self.f[:n]))
        self.e[:n], self.y[:n], self.f[:n] = self.e[:n][order], self.y[:n][order], self.f[:n][order]

    def best(self, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return standard coordinates, places in R^d and values of the best points, best first."""
        order = np.argsort(self.f, kind="stable")[:number]
        return self.e[order], self.y[order], self.f[order]
